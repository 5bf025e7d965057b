// Memory: what an encoder hands over to the decoder.
#pragma once

#include "regard/autograd/tape.h"

namespace regard {

// Sentences are numbered as the lanes of the source batch (longest first).
struct Memory {
  Var rows;                      // [sum of lengths, M] sentence after sentence: h_1 .. h_S
  const Index* start = nullptr;  // [count] first row of each sentence
  const Index* length = nullptr;
  Index count = 0;
  // [count, M]: a sentence in one vector, only when the decoder needs it. Recurrent encoders: the
  // last forward state and the backward state at position 1, which is the backward direction's
  // last. Self-attention has no last state: the mean of h_1 .. h_S.
  Var summary;
};

}  // namespace regard

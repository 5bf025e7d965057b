// Trains the table of a subword tokenizer. The seam around SentencePiece, which this module needs
// to train and nothing needs to run.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regard/text/cleanup.h"
#include "regard/text/subword.h"

namespace regard {

// Learns byte-pair merges from raw lines (of one side, or of both for a joint table).
//
// Source   SentencePiece's `bpe` trainer with identity normalisation and every character covered;
//          then merges that the lines' own words make fewer than twice are dropped.
// Values   `size` is how many characters and merges there may be, at least the characters of the
//          lines. All of these are in the table. Merges never cross a blank. Lines with U+2581 or
//          U+2585, which mean something to SentencePiece, and lines with a word of more than 60,000
//          characters teach no merges, but their characters count.
// Errors   ConfigError if regard was built without SentencePiece, or size < 1; FormatError (data)
//          if a line is not UTF-8; Error if SentencePiece fails.
// Threads  one at a time (SentencePiece's log level is global). Same table for the same lines, size
//          and SentencePiece version.
SubwordTable train_subwords(std::span<const std::string_view> lines, int size, CleanupRule rule);

// The version that regard was built with, for the training record; "" if there is none.
std::string sentencepiece_version();

// What SentencePiece itself makes of the lines, before any merge is dropped: for tests.
struct SentencePieceModel {
  std::string bytes;   // its model file
  SubwordTable table;  // what of it our segmenter runs
};
// Errors: as train_subwords, and ConfigError if no line can be given to SentencePiece.
SentencePieceModel train_sentencepiece(std::span<const std::string_view> lines, int size,
                                       CleanupRule rule);

// The pieces that SentencePiece cuts each cleaned line into, blanks for U+2581.
// Errors: ConfigError without SentencePiece; Error if it fails.
std::vector<std::vector<std::string>> sentencepiece_segment(const std::string& model_bytes,
                                                            std::span<const std::string> lines);

}  // namespace regard

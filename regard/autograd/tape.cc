#include "regard/autograd/tape.h"

#include "regard/kernels/rows.h"

namespace regard {

Var Tape::make(Index rows, Index cols) {
  Var v;
  v.value = arena_.matrix(rows, cols);
  if (recording()) v.grad = arena_.zero_matrix(rows, cols);
  return v;
}

void Tape::backward() {
  for (Node* node = last_; node != nullptr; node = node->previous) node->run(node);
  last_ = nullptr;
}

void Tape::reset() {
  last_ = nullptr;
  loop_ = nullptr;
  arena_.reset();
  scratch_.reset();
}

Loop::Loop(Tape& tape, const Packing& packing) : tape_(tape), packing_(packing) {
  tape_.loop_ = this;
  if (!tape_.recording()) return;
  chain_ = tape_.arena_.array<Site*>(1);
  *chain_ = nullptr;
  // Recorded before the body, so it runs when backward has left the loop.
  tape_.record([chain = chain_, tape = &tape_] {
    for (Site* s = *chain; s != nullptr; s = s->next) {
      gemm_at_b(s->d_outputs, s->inputs, ChainStart::kContinue, tape->gradients().matrix(s->weight),
                tape->scratch());
      if (s->bias) column_sums(s->d_outputs, tape->gradients().vector(s->bias));
    }
  });
}

Loop::Site& Loop::next_site(ParameterId weight, ParameterId bias) {
  if (next_site_ == sites_.size()) {
    const ParameterInfo& w = tape_.parameters().info(weight);
    Site* site = new (tape_.arena_.allocate(sizeof(Site))) Site{};
    site->inputs = tape_.arena_.matrix(packing_.total(), w.cols);
    site->d_outputs = tape_.arena_.matrix(packing_.total(), w.rows);
    site->weight = weight;
    site->bias = bias;
    site->next = *chain_;
    *chain_ = site;
    sites_.push_back(site);
  }
  Site& site = *sites_[next_site_++];
  REGARD_ASSERT(site.weight.index == weight.index);
  return site;
}

}  // namespace regard

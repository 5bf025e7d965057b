#include "regard/nn/self_attention.h"

#include "regard/autograd/shape_check.h"
#include "regard/base/error.h"

namespace regard {
namespace {

void require_multiple(const char* what, Index width, Index heads) {
  if (heads >= 1 && width % heads == 0) return;
  throw ConfigError("self-attention in " + std::to_string(heads) + " heads splits " + what +
                    " of width " + std::to_string(width) +
                    ", which has to be a multiple of a number of heads that is at least 1");
}

}  // namespace

AttentionShape multi_head_shape(Index width, Index heads) {
  AttentionShape s;
  s.score = ScoreKind::kScaledDot;
  s.query = s.memory = s.width = width;
  s.heads = heads;
  s.projections = true;
  return s;
}

SequenceRows sequence_rows(Tape& tape, const Index* length, Index count, const Index* lane_sequence,
                           const DropoutPlan& dropout) {
  Index total = 0;
  for (Index s = 0; s < count; ++s) total += length[s];
  Arena& arena = tape.arena();
  Index* start = arena.array<Index>(count);
  Index* own_length = arena.array<Index>(count);
  Index* lane = arena.array<Index>(total);
  Index* position = arena.array<Index>(total);
  std::uint32_t* row_position = arena.array<std::uint32_t>(total);
  Index row = 0;
  for (Index s = 0; s < count; ++s) {
    start[s] = row;
    own_length[s] = length[s];
    for (Index j = 0; j < length[s]; ++j, ++row) {
      lane[row] = s;
      position[row] = j;
      row_position[row] = static_cast<std::uint32_t>(j);
    }
  }
  SequenceRows rows;
  rows.sequences = {start, own_length, count};
  rows.origin = {lane, lane_sequence, row_position, total};
  rows.position = position;
  rows.dropout = dropout;
  return rows;
}

SelfAttention SelfAttention::make(Parameters& p, const std::string& name, Index width,
                                  AttentionShape shape) {
  attention::Score score;
  score.kind = shape.score;
  if (score.stateful() || shape.normalizer.stateful()) {
    throw ConfigError(
        "self-attention looks from all positions at once: scores and normalisers that read where "
        "the step before looked (location-sensitive, coverage, monotonic, MoChA) have no meaning "
        "in it");
  }
  shape.query = shape.memory = width;
  require_multiple("rows", width, shape.heads);
  if (shape.projections || score.has_v()) {
    require_multiple("queries and keys", shape.width, shape.heads);
  }
  SelfAttention s;
  s.name_ = name;
  s.attention_ = AttentionLayer::make(p, name, shape);
  return s;
}

Var SelfAttention::operator()(Tape& tape, Var x, const SequenceRows& rows,
                              Matrix head_weights) const {
  require_shape("self-attention", "x", x.value, rows.count(), x.cols());
  const float rate = rows.dropout.rates.attention;
  AttentionLayer::Rows looking;
  looking.query = x;
  looking.key_row = rows.origin.row_lane;
  looking.position = rows.position;
  looking.query_length = rows.sequences.length;
  if (rate > 0.0f) {
    looking.dropout_key = attention_dropout_keys(tape, rows.dropout, rows.origin, name_);
  }
  AttentionLayer::Output out;
  out.context = tape.make(x.rows(), x.cols());
  out.head_weights = head_weights;
  attention_.attend(tape, attention_.prepare(tape, x, rows.sequences, rate), looking, out);
  return out.context;
}

SelfAttentionLayer SelfAttentionLayer::make(Parameters& p, const std::string& name,
                                            const SelfAttentionShape& shape) {
  SelfAttentionLayer l;
  l.name_ = name;
  l.attention_norm_ = LayerNorm::make(p, name + ".attention_norm", shape.width);
  l.attention_ = SelfAttention::make(p, name + ".attention", shape.width, shape.attention);
  l.feed_forward_norm_ = LayerNorm::make(p, name + ".feed_forward_norm", shape.width);
  l.feed_forward_ = FeedForward::make(p, name + ".feed_forward", shape.width, shape.feed_forward);
  return l;
}

Var SelfAttentionLayer::operator()(Tape& tape, Var x, const SequenceRows& rows,
                                   Matrix head_weights) const {
  const float rate = rows.dropout.rates.layer;
  const auto site = [&](const char* part) {
    return rate > 0.0f ? dropout_rows(tape, rows.dropout, rows.origin, name_ + part)
                       : DropoutRows{};
  };
  const Var seen = attention_(tape, attention_norm_(tape, x), rows, head_weights);
  x = add(tape, x, dropout(tape, seen, site(".seen"), rate));
  const Var fed = feed_forward_(tape, feed_forward_norm_(tape, x), site(".inner"), rate);
  return add(tape, x, dropout(tape, fed, site(".fed"), rate));
}

}  // namespace regard

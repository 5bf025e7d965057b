#include "regard/attention/axes.h"

#include <string>

#include "regard/base/error.h"

namespace regard::attention {
namespace {

[[noreturn]] void refuse(const char* function, const std::string& why) {
  throw ConfigError(std::string(function) + ": " + why);
}

void check_state(const char* function, const Attention& a) {
  if (!a.score.stateful() || !a.normalizer.stateful()) return;
  if (a.score.kind == ScoreKind::kCoverage) {
    refuse(function,
           "coverage keeps the sum of all weights and a monotonic normaliser the weights of the "
           "step before: one state can't be both; take location-sensitive, or softmax");
  }
  if (a.normalizer.kind == NormalizerKind::kMocha) {
    refuse(
        function,
        "location-sensitive keeps the weights of the step before and MoChA their monotonic part: "
        "one state can't be both; take the monotonic normaliser, or softmax");
  }
}

void check_score(const char* function, const Score& s) {
  if (!(s.soft_cap >= 0.0f && s.soft_cap <= 1e30f)) {
    refuse(function,
           "soft_cap: wanted 0 (none) or a positive number, got " + std::to_string(s.soft_cap));
  }
  if (!s.has_v() && (s.b || s.g)) {
    refuse(function, "b and g belong to v . tanh(...): this score has no v");
  }
  if (s.kind == ScoreKind::kCustom &&
      (s.custom.forward == nullptr || s.custom.backward == nullptr)) {
    refuse(function, "a custom score wants both of its functions");
  }
}

}  // namespace

void check_axes(const char* function, const Attention& a) {
  check_score(function, a.score);
  check_normalizer(function, a.normalizer);
  if (a.heads < 1) refuse(function, "heads: wanted 1 or more, got " + std::to_string(a.heads));
  if (!(a.dropout >= 0.0f && a.dropout <= 1.0f)) {
    refuse(function, "dropout: wanted 0 to 1, got " + std::to_string(a.dropout));
  }
  check_state(function, a);
}

void check_request(const char* function, const Attention& a, const QueryRows& queries,
                   const Request& request) {
  const NormalizerKind kind = a.normalizer.kind;
  if (request.log_sum_exp && kind != NormalizerKind::kSoftmax) {
    refuse(function, "log_sum_exp: softmax alone has one; ask for weights or raw_scores");
  }
  if (request.next_state && !a.stateful()) {
    refuse(function, "next_state: neither this score nor this normaliser keeps a state");
  }
  if (request.softmax_stats && !a.streams()) {
    refuse(function, "softmax_stats: products under softmax alone have them");
  }
  if (queries.state.data != nullptr && !a.stateful()) {
    refuse(function, "state: neither this score nor this normaliser reads one");
  }
  if (queries.chunk_scores.data != nullptr && kind != NormalizerKind::kMocha) {
    refuse(function, "chunk_scores: MoChA alone reads them");
  }
  const bool local = kind == NormalizerKind::kLocal;
  if (local && !queries.center && queries.query.rows > 0) {
    refuse(function, "center: local wants the position that each row looks around");
  }
  if (!local && queries.center) refuse(function, "center: the local normaliser alone reads it");
  if (a.dropout > 0.0f && queries.dropout_key == nullptr && queries.query.rows > 0) {
    refuse(function, "dropout_key: dropout wants a key for each row");
  }
}

}  // namespace regard::attention

// Record: everything that is known of one translated, aligned, shown or scored line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace regard {

// Why the output ended.
enum class StopReason { kEnd, kMaxLength };

// A token as listed in a record: what is shown, and where it stands in the raw line (empty range
// for the end marker).
struct RecordToken {
  std::string text;
  std::uint32_t begin = 0;  // byte offsets into the raw source or target line
  std::uint32_t end = 0;
};

// Rows are the listed target tokens, columns the listed source tokens, end markers included
// (word-level records of `align` have none); row i belongs to the step that produced token i.
// Row-major.
struct AttentionMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<float> weights;  // [rows, cols]

  float operator()(std::int64_t r, std::int64_t c) const {
    return weights[static_cast<std::size_t>(r * cols + c)];
  }
};

// One hypothesis of one line. A blank line has empty lists, an empty target and `blank` set: its
// scores are null.
struct Record {
  std::int64_t line = 0;  // from 1
  std::string source;     // the raw line
  std::string target;     // the text that `translate` prints
  bool blank = false;
  double score = 0.0;     // log_prob / lp(length) + coverage
  double log_prob = 0.0;  // sum of token_log_probs
  std::vector<RecordToken> source_tokens;
  std::vector<RecordToken> target_tokens;
  bool has_attention = false;  // false for the `fixed` decoder: null in JSON
  AttentionMatrix attention;
  std::vector<float> token_log_probs;
  StopReason stop = StopReason::kEnd;
  int rank = 1;                    // in an n-best list, from 1
  std::vector<std::string> flags;  // see flags.h
  // Not in the JSON form: ids of the model's target tokens; texts of source tokens that it has
  // never seen; how many tokens the source had, and how many of them it read.
  std::vector<std::int32_t> target_ids;
  std::vector<std::string> unseen;
  std::int64_t source_length = 0;
  std::int64_t source_read = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> links;  // align: source, target, both from 0
  std::vector<float> dropped;  // align: per target row, the mass that special tokens took
  bool has_links = false;
  // Self-attention of an encoder: whose weights these are, both from 1; the source stands in place
  // of the target, and there are no scores. 0: a translation.
  int layer = 0, head = 0;
  bool self_attention() const { return layer > 0; }
};

}  // namespace regard

// One row of `regard compare`: what is trained, what came out, and how it is written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "regard/cli/train_arguments.h"
#include "regard/train/compare.h"

namespace regard::cli {

inline constexpr std::string_view kNoAttention = "none";  // the fixed vector, as an entry

struct CompareEntry {
  std::string score;
  std::string normalizer = "softmax";  // empty for none
  Index width = 0;                     // of --widths; 0: --hidden
  // Results.
  std::string refusal;
  std::vector<TrialFigures> runs;  // one a seed; empty if refused or not run
  Index encoder_hidden = 0, parameters = 0, attention_parameters = 0;

  bool measured() const { return !runs.empty() || !refusal.empty(); }
};

// "additive sparsemax", "dot width 64", "none".
std::string entry_name(const CompareEntry& entry);

// Needs a memory as wide as the decoder, unless it is projected.
bool compares_states(const CompareEntry& entry);
// The --encoder-hidden that makes it so; 0: there is none.
Index fitting_encoder_width(const TrainArguments& a);

// `a` for this entry. Options that belong to some scores or normalisers apply to those alone.
TrainArguments entry_arguments(const TrainArguments& a, const CompareEntry& entry);

// With a point and that many decimals.
std::string figure(double value, int decimals);
bool terminal_output();

// `entries` have been run or refused. `mark` marks the best of each column.
std::string score_table(const std::vector<CompareEntry>& entries, const std::string& metric,
                        bool mark);
std::string width_table(const std::vector<CompareEntry>& entries, const std::string& metric,
                        bool mark);
// One line. Without `width` a row of the first table.
std::string entry_json(const CompareEntry& entry, const std::string& metric);

}  // namespace regard::cli

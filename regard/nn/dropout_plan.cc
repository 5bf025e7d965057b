#include "regard/nn/dropout_plan.h"

#include "regard/base/random.h"

namespace regard {

DropoutRows dropout_rows(Tape& tape, const DropoutPlan& plan, const RowOrigin& rows,
                         std::string_view site) {
  std::uint64_t* keys = tape.arena().array<std::uint64_t>(rows.count);
  for (Index r = 0; r < rows.count; ++r) {
    keys[r] = mix(plan.pair_key[rows.lane_sequence[rows.row_lane[r]]], site);
  }
  return {keys, rows.row_position};
}

const std::uint64_t* attention_dropout_keys(Tape& tape, const DropoutPlan& plan,
                                            const RowOrigin& rows, std::string_view site) {
  std::uint64_t* keys = tape.arena().array<std::uint64_t>(rows.count);
  for (Index r = 0; r < rows.count; ++r) {
    const std::uint64_t pair = plan.pair_key[rows.lane_sequence[rows.row_lane[r]]];
    keys[r] = mix(mix(pair, site), std::uint64_t{rows.row_position[r]});
  }
  return keys;
}

}  // namespace regard

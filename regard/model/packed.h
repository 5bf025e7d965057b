// Sequences of ids, packed step by step (kernels/packing.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regard/kernels/packing.h"

namespace regard {

// Lane r is the r-th longest sequence (equal lengths in the order given); step t holds the ids at
// position t of the lanes still alive. Empty sequences have no lane.
struct PackedIds {
  std::vector<Index> offsets;               // [steps + 1]
  std::vector<Index> sequence;              // [lanes] which of the given sequences a lane is
  std::vector<Index> lane;                  // [sequences] its lane, -1 if empty
  std::vector<Index> length;                // [lanes]
  std::vector<std::int32_t> ids;            // [rows]
  std::vector<Index> row_lane;              // [rows]
  std::vector<std::uint32_t> row_position;  // [rows]

  static PackedIds pack(std::span<const std::span<const std::int32_t>> sequences);

  Packing packing() const { return {offsets.data(), static_cast<Index>(offsets.size()) - 1}; }
  Index rows() const { return static_cast<Index>(ids.size()); }
  Index lanes() const { return static_cast<Index>(sequence.size()); }
};

}  // namespace regard

// Packings of ragged sequences for tests.
#pragma once

#include <vector>

#include "regard/kernels/packing.h"

namespace regard::test {

// The packing of sequences of the given lengths, longest first.
struct PackedLengths {
  explicit PackedLengths(std::vector<Index> sorted_lengths) : lengths(std::move(sorted_lengths)) {
    const Index steps = lengths.empty() ? 0 : lengths[0];
    for (Index t = 0; t < steps; ++t) {
      Index rows = 0;
      for (const Index length : lengths) rows += length > t ? 1 : 0;
      offsets.push_back(offsets.back() + rows);
    }
  }
  Packing packing() const { return {offsets.data(), static_cast<Index>(offsets.size()) - 1}; }

  // The rows of sequence b out of `all` [total, width], as a matrix of its own.
  std::vector<float> sequence(const std::vector<float>& all, Index width, Index b) const {
    std::vector<float> out;
    for (Index t = 0; t < lengths[static_cast<std::size_t>(b)]; ++t) {
      const float* row = all.data() + (offsets[static_cast<std::size_t>(t)] + b) * width;
      out.insert(out.end(), row, row + width);
    }
    return out;
  }

  std::vector<Index> lengths;
  std::vector<Index> offsets = {0};
};

}  // namespace regard::test

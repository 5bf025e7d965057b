#include "regard/model/packed.h"

#include <algorithm>

namespace regard {

PackedIds PackedIds::pack(std::span<const std::span<const std::int32_t>> sequences) {
  PackedIds p;
  p.lane.assign(sequences.size(), -1);
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (!sequences[i].empty()) p.sequence.push_back(static_cast<Index>(i));
  }
  const auto size_of = [&](Index i) { return sequences[static_cast<size_t>(i)].size(); };
  std::stable_sort(p.sequence.begin(), p.sequence.end(),
                   [&](Index a, Index b) { return size_of(a) > size_of(b); });
  for (size_t r = 0; r < p.sequence.size(); ++r) {
    p.lane[static_cast<size_t>(p.sequence[r])] = static_cast<Index>(r);
    p.length.push_back(static_cast<Index>(size_of(p.sequence[r])));
  }
  p.offsets.push_back(0);
  const Index steps = p.length.empty() ? 0 : p.length.front();
  Index live = p.lanes();
  for (Index t = 0; t < steps; ++t) {
    while (p.length[static_cast<size_t>(live - 1)] <= t) --live;
    for (Index r = 0; r < live; ++r) {
      const Index i = p.sequence[static_cast<size_t>(r)];
      p.ids.push_back(sequences[static_cast<size_t>(i)][static_cast<size_t>(t)]);
      p.row_lane.push_back(r);
      p.row_position.push_back(static_cast<std::uint32_t>(t));
    }
    p.offsets.push_back(p.rows());
  }
  return p;
}

}  // namespace regard

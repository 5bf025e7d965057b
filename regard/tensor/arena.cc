#include "regard/tensor/arena.h"

#include <algorithm>

namespace regard {

void* Arena::allocate(std::size_t bytes) {
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  while (block_ < blocks_.size() &&
         used_ + bytes > static_cast<std::size_t>(blocks_[block_].size())) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    const std::size_t size = std::max(next_block_bytes_, bytes);
    blocks_.emplace_back(static_cast<Index>(size));
    next_block_bytes_ = size * 2;
    used_ = 0;
  }
  std::byte* p = blocks_[block_].data() + used_;
  used_ += bytes;
  std::size_t total = used_;
  for (std::size_t i = 0; i < block_; ++i) total += static_cast<std::size_t>(blocks_[i].size());
  high_water_ = std::max(high_water_, total);
  return p;
}

}  // namespace regard

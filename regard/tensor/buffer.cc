#include "regard/tensor/buffer.h"

#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace regard {
namespace {

constexpr std::size_t kLargePage = std::size_t{1} << 21;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  const bool large = bytes >= 2 * kLargePage;
  const std::size_t alignment = large ? kLargePage : kAlignment;
  const std::size_t size = round_up(bytes == 0 ? 1 : bytes, alignment);
  void* p = size >= bytes ? std::aligned_alloc(alignment, size) : nullptr;
  if (p == nullptr) throw std::bad_alloc();
#if defined(__linux__)
  // Advice only: without it the memory is as good, if slower.
  if (large) madvise(p, size, MADV_HUGEPAGE);
#endif
  return p;
}

}  // namespace regard

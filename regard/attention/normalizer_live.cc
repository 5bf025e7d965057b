#include "regard/attention/normalizer_live.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace regard::attention {
namespace {

std::size_t bytes(Index floats) { return static_cast<std::size_t>(floats) * sizeof(float); }

// The live keys of word w, without those below first or from end on.
KeyBits bits_of(const LiveRow& live, Index w) {
  KeyBits bits = live.words[w];
  if (live.first > w * 64) bits &= ~KeyBits{0} << (live.first - w * 64);
  if (live.end < w * 64 + 64) bits &= (KeyBits{1} << (live.end - w * 64)) - 1;
  return bits;
}

// fn(n, j) for the n-th live key j, in order.
template <class Fn>
void for_live(const LiveRow& live, Fn fn) {
  Index n = 0;
  if (live.count == live.end - live.first) {
    for (Index j = live.first; j < live.end; ++j) fn(n++, j);
    return;
  }
  for (Index w = live.first / 64; w < key_words(live.end); ++w) {
    for (KeyBits bits = bits_of(live, w); bits != 0; bits &= bits - 1) {
      fn(n++, w * 64 + std::countr_zero(bits));
    }
  }
}

}  // namespace

LiveRow live_row(const LiveBlock& block, Index row, Index from, Index to) noexcept {
  LiveRow live;
  live.keys = block.keys;
  live.first = std::max<Index>(from, 0);
  live.end = std::max(live.first, std::min(to, block.keys));
  if (block.words == nullptr) {
    live.count = live.end - live.first;
    return live;
  }
  live.words = block.words + row * block.words_per_row;
  Index first = live.end, end = live.first;
  for (Index w = live.first / 64; w < key_words(live.end); ++w) {
    const KeyBits bits = bits_of(live, w);
    if (bits == 0) continue;
    first = std::min(first, w * 64 + std::countr_zero(bits));
    end = w * 64 + std::bit_width(bits);
    live.count += std::popcount(bits);
  }
  live.first = live.count == 0 ? 0 : first;
  live.end = live.count == 0 ? 0 : end;
  return live;
}

void gather_live(const float* row, const LiveRow& live, float* out) noexcept {
  if (live.count == live.end - live.first) {
    std::memcpy(out, row + live.first, bytes(live.count));
  } else {
    for_live(live, [&](Index n, Index j) { out[n] = row[j]; });
  }
  std::fill(out + live.count, out + padded(live.count), 0.0f);
}

void scatter_live(const float* compact, const LiveRow& live, float* row) noexcept {
  std::fill(row, row + live.first, 0.0f);
  if (compact == row + live.first) {
    std::fill(row + live.end, row + padded(live.keys), 0.0f);
    return;
  }
  std::fill(row + live.first, row + padded(live.keys), 0.0f);
  for_live(live, [&](Index n, Index j) { row[j] = compact[n]; });
}

void fill_dead(float* row, const LiveRow& live, float value) noexcept {
  Index next = 0;
  const auto fill_to = [&](Index j) {
    std::fill(row + next, row + j, value);
    next = j + 1;
  };
  if (live.count == live.end - live.first) {
    fill_to(live.first);
    next = live.end;
  } else {
    for_live(live, [&](Index, Index j) { fill_to(j); });
  }
  fill_to(padded(live.keys));
}

void live_offsets(const LiveRow& live, float center, float* out) noexcept {
  for_live(live, [&](Index n, Index j) { out[n] = static_cast<float>(j) - center; });
  std::fill(out + live.count, out + padded(live.count), 0.0f);
}

}  // namespace regard::attention

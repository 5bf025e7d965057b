#include "regard/text/batching.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>

#include "regard/base/error.h"
#include "regard/base/random.h"

namespace regard {
namespace {

// A window holds about so many batches: enough that few are cut short at its end, few enough that
// an epoch of a small corpus is not the same batches as the last one.
constexpr std::uint64_t kWindowBatches = 100;

std::uint64_t longest(const PairLength& length) {
  return std::max<std::uint64_t>({length.source, length.target, 1});
}

void check(std::size_t count, std::uint64_t max_tokens, const char* function) {
  if (max_tokens == 0)
    throw ConfigError(std::string(function) + ": a batch of 0 tokens is no batch");
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    throw ConfigError(std::string(function) + ": more than 2^32 - 1 pairs");
  }
}

// Sorts by a random key; the index decides between equal keys.
template <typename T>
void shuffle(std::vector<T>& items, std::uint64_t key) {
  std::vector<std::pair<std::uint64_t, std::size_t>> order(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) order[i] = {random_bits(key, i), i};
  std::sort(order.begin(), order.end());
  std::vector<T> shuffled;
  shuffled.reserve(items.size());
  for (const auto& entry : order) shuffled.push_back(std::move(items[entry.second]));
  items = std::move(shuffled);
}

// Cuts indices, in their order, into batches within the budget. `length(i)` is never above it but
// for the first of a batch.
template <typename Length>
void cut(std::span<const std::uint32_t> indices, std::uint64_t max_tokens, Length length,
         std::vector<Batch>& batches) {
  std::uint64_t longest_so_far = 0;
  Batch batch;
  for (const std::uint32_t index : indices) {
    const std::uint64_t widest = std::max<std::uint64_t>(longest_so_far, length(index));
    if (!batch.empty() && widest * (batch.size() + 1) > max_tokens) {
      batches.push_back(std::move(batch));
      batch = {};
      longest_so_far = length(index);
    } else {
      longest_so_far = widest;
    }
    batch.push_back(index);
  }
  if (!batch.empty()) batches.push_back(std::move(batch));
}

}  // namespace

BatchPlan plan_epoch(std::span<const PairLength> lengths, const BatchOptions& options) {
  check(lengths.size(), options.max_tokens, "plan_epoch");
  BatchPlan plan;
  std::vector<std::uint32_t> order;
  order.reserve(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (longest(lengths[i]) <= options.max_tokens) order.push_back(static_cast<std::uint32_t>(i));
  }
  plan.left_out = lengths.size() - order.size();
  const std::uint64_t key = mix(mix(options.seed, "batches"), options.epoch);
  shuffle(order, mix(key, "pairs"));

  // By the length that counts against the budget, so that batches fill up; then by target and
  // source, so that both sides have little padding. A stable sort keeps the shuffled order of ties.
  const auto by_length = [&](std::uint32_t a, std::uint32_t b) {
    const PairLength& x = lengths[a];
    const PairLength& y = lengths[b];
    return std::tuple(longest(x), x.target, x.source) < std::tuple(longest(y), y.target, y.source);
  };
  const auto length = [&](std::uint32_t i) { return longest(lengths[i]); };
  for (std::size_t begin = 0; begin < order.size();) {
    std::uint64_t tokens = 0;
    std::size_t end = begin;
    while (end < order.size() && tokens < kWindowBatches * options.max_tokens) {
      tokens += length(order[end++]);
    }
    const std::span<std::uint32_t> window(order.data() + begin, end - begin);
    std::stable_sort(window.begin(), window.end(), by_length);
    cut(window, options.max_tokens, length, plan.batches);
    begin = end;
  }
  shuffle(plan.batches, mix(key, "order"));
  return plan;
}

std::vector<Batch> plan_decoding(std::span<const std::uint32_t> lengths, std::uint64_t max_tokens) {
  check(lengths.size(), max_tokens, "plan_decoding");
  std::vector<std::uint32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return lengths[a] > lengths[b]; });
  std::vector<Batch> batches;
  cut(
      order, max_tokens, [&](std::uint32_t i) { return std::uint64_t{lengths[i]}; }, batches);
  return batches;
}

}  // namespace regard

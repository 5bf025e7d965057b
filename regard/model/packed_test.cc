// Packing of id sequences, alone and as pairs.
#include "regard/model/packed.h"

#include <gtest/gtest.h>

#include "regard/base/random.h"
#include "regard/model/seq2seq.h"
#include "regard/text/vocabulary.h"

namespace regard {
namespace {

using Ids = std::vector<std::int32_t>;

std::vector<std::span<const std::int32_t>> spans(const std::vector<Ids>& sequences) {
  return {sequences.begin(), sequences.end()};
}

TEST(PackedIds, LongestFirstStepByStep) {
  const std::vector<Ids> sequences = {{3}, {4, 5, 6}, {}, {7, 8, 9}, {10, 11}};
  const PackedIds p = PackedIds::pack(spans(sequences));
  EXPECT_EQ(p.sequence, (std::vector<Index>{1, 3, 4, 0}));  // equal lengths as given
  EXPECT_EQ(p.lane, (std::vector<Index>{3, 0, -1, 1, 2}));
  EXPECT_EQ(p.length, (std::vector<Index>{3, 3, 2, 1}));
  EXPECT_EQ(p.offsets, (std::vector<Index>{0, 4, 7, 9}));
  EXPECT_EQ(p.ids, (Ids{4, 7, 10, 3, 5, 8, 11, 6, 9}));
  EXPECT_EQ(p.row_lane, (std::vector<Index>{0, 1, 2, 3, 0, 1, 2, 0, 1}));
  EXPECT_EQ(p.row_position, (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 2, 2}));
  EXPECT_EQ(p.packing().steps, 3);
  EXPECT_EQ(p.packing().rows(1), 3);
  EXPECT_EQ(p.rows(), 9);
  EXPECT_EQ(p.lanes(), 4);
}

TEST(PackedIds, NothingIsNoRows) {
  for (const std::vector<Ids>& sequences : {std::vector<Ids>{}, {{}}, {{}, {}}}) {
    const PackedIds p = PackedIds::pack(spans(sequences));
    EXPECT_EQ(p.rows(), 0);
    EXPECT_EQ(p.lanes(), 0);
    EXPECT_EQ(p.packing().steps, 0);
    EXPECT_EQ(p.packing().total(), 0);
  }
}

TEST(PackedIds, EveryTokenIsWhereItsLaneAndPositionSay) {
  std::vector<Ids> sequences;
  for (std::uint64_t s = 0; s < 40; ++s) {
    Ids ids;
    for (std::uint64_t k = 0; k < random_below(1, s, 9); ++k) {
      ids.push_back(static_cast<std::int32_t>(random_below(s, k, 1000)));
    }
    sequences.push_back(ids);
  }
  const PackedIds p = PackedIds::pack(spans(sequences));
  size_t tokens = 0;
  for (size_t s = 0; s < sequences.size(); ++s) {
    tokens += sequences[s].size();
    for (size_t t = 0; t < sequences[s].size(); ++t) {
      const auto row = static_cast<size_t>(p.offsets[t] + p.lane[s]);
      EXPECT_EQ(p.ids[row], sequences[s][t]);
      EXPECT_EQ(p.row_lane[row], p.lane[s]);
      EXPECT_EQ(p.row_position[row], t);
    }
  }
  EXPECT_EQ(p.ids.size(), tokens);
}

TEST(PairBatch, EndsSourcesBeginsTargetsAndSaysWhatComesNext) {
  const std::vector<Ids> sources = {{3}, {4, 5}}, targets = {{6, 7}, {}};
  const PairBatch batch = PairBatch::pack(spans(sources), spans(targets));
  EXPECT_EQ(batch.source.sequence, (std::vector<Index>{1, 0}));
  EXPECT_EQ(batch.source.ids, (Ids{4, 3, 5, kEndId, kEndId}));
  EXPECT_EQ(batch.target.sequence, (std::vector<Index>{0, 1}));
  EXPECT_EQ(batch.target.ids, (Ids{kBeginId, kBeginId, 6, 7}));
  EXPECT_EQ(batch.next, (Ids{6, kEndId, 7, kEndId}));
  EXPECT_EQ(batch.key_row, (std::vector<Index>{1, 0, 1, 1}));  // lanes of the source
}

TEST(PairBatch, ExtraStepsFeedEnd) {
  const std::vector<Ids> sources = {{3}}, targets = {{6}};
  const PairBatch batch = PairBatch::pack(spans(sources), spans(targets), 2);
  EXPECT_EQ(batch.target.ids, (Ids{kBeginId, 6, kEndId, kEndId}));
  EXPECT_EQ(batch.next, (Ids{6, kEndId, kEndId, kEndId}));
}

}  // namespace
}  // namespace regard

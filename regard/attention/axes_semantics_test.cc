// What attention does in the cases that users are hurt by: one test for each promise, for every
// score, and in it for every normaliser with every mask and with biases, caps, dropout, heads and
// states in turn.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "regard/attention/axes_check_test_util.h"
#include "regard/base/error.h"

namespace regard::attention {
namespace {

using test::AxesCase;
using test::Choice;
using test::Layout;
using test::Numbers;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kStart = 0.25f;  // what gradients are added to

class AxesSemantics : public testing::TestWithParam<int> {
 protected:
  // fn(case) for every choice with this score that has a meaning; it stops at the first failure.
  template <class Fn>
  static void for_each_case(Fn fn, const Layout& layout = {}) {
    for (int normalizer = 0; normalizer < test::members_of(test::kNormalizer); ++normalizer) {
      for (int mask = 0; mask < test::members_of(test::kMask); ++mask) {
        if (mask == 4 && !layout.square) continue;
        Choice c;
        c.member[test::kScore] = GetParam();
        c.member[test::kNormalizer] = normalizer;
        c.member[test::kMask] = mask;
        c.member[test::kBias] = (normalizer + 3 * mask) % test::members_of(test::kBias);
        c.member[test::kCap] = mask / 2 % 2;
        c.member[test::kDropout] = (normalizer + mask) % 3 == 2;
        c.member[test::kHeads] = (normalizer + mask) % 2;
        c.member[test::kState] = mask % 2;
        if (refused(c)) continue;
        SCOPED_TRACE(test::name_of(c));
        fn(AxesCase(c, 1, layout));
        if (HasFailure()) return;
      }
    }
  }
  static bool refused(const Choice& c) {
    const int normalizer = c[test::kNormalizer];
    if (c[test::kScore] == 8) return normalizer == 8;
    return c[test::kScore] == 9 && (normalizer == 7 || normalizer == 8);
  }

  // Gradients of all outputs that are numbers.
  static Numbers<float> d_out(const AxesCase& c, const Numbers<float>& out) {
    Numbers<float> d = test::random_output_gradients(c, 5);
    test::forget_rows_without_keys(c, out, d);
    return d;
  }
  // Neither outputs nor gradients of `in` differ from those of the case itself.
  static void expect_no_difference(const AxesCase& c, const Numbers<float>& in) {
    const Numbers<float> out = c.forward(c.floats()), d = d_out(c, out);
    EXPECT_EQ(test::other_outputs(out, c.forward(in)), "");
    EXPECT_EQ(test::other_gradients(test::gradients(c, c.floats(), d, kStart),
                                    test::gradients(c, in, d, kStart)),
              "");
  }
  // The part of row `row` of a matrix of `rows` rows.
  static std::vector<float> part(const std::vector<float>& x, Index rows, Index row) {
    const Index n = rows == 0 ? 0 : static_cast<Index>(x.size()) / rows;
    return {x.begin() + row * n, x.begin() + (row + 1) * n};
  }
  static void fill(std::vector<float>& x, Index rows, Index row, float value) {
    const Index n = rows == 0 ? 0 : static_cast<Index>(x.size()) / rows;
    std::fill_n(x.begin() + row * n, n, value);
  }
  // Every output and every gradient that belongs to row r.
  static void expect_same_row(const AxesCase& c, Index r, const Numbers<float>& wanted,
                              const Numbers<float>& got, const Numbers<float>& d_wanted,
                              const Numbers<float>& d_got) {
    for (std::size_t o = 0; o < test::kSums; ++o) {
      EXPECT_EQ(test::other_bits(part(wanted[o], c.rows(), r), part(got[o], c.rows(), r),
                                 test::output_name(static_cast<int>(o))),
                "")
          << "row " << r;
    }
    for (const std::size_t i : {test::kQuery, test::kPast, test::kChunks, test::kCenter}) {
      EXPECT_EQ(test::other_bits(part(d_wanted[i], c.rows(), r), part(d_got[i], c.rows(), r),
                                 test::input_name(static_cast<int>(i))),
                "")
          << "gradient of row " << r;
    }
  }
  static bool any_nan(const std::vector<float>& x) {
    return std::any_of(x.begin(), x.end(), [](float y) { return std::isnan(y); });
  }
  // Which key row the j-th key of row r is.
  static Index key_row(const AxesCase& c, Index r, Index j) { return c.start(c.sentence(r)) + j; }
  static bool seen_by_any(const AxesCase& c, Index key) {
    for (Index r = 0; r < c.rows(); ++r) {
      const Index j = key - key_row(c, r, 0);
      if (j >= 0 && c.live(r, j)) return true;
    }
    return false;
  }
};
INSTANTIATE_TEST_SUITE_P(Scores, AxesSemantics, testing::Range(0, test::members_of(test::kScore)),
                         [](const auto& info) {
                           std::string name = test::member_name(test::kScore, info.param);
                           for (char& x : name) x = x == ' ' || x == '-' ? '_' : x;
                           return name;
                         });

TEST_P(AxesSemantics, RowsBeyondALengthChangeNoBitAndGetNoGradient) {
  for_each_case([](const AxesCase& c) {
    Numbers<float> dirty = c.floats();
    for (const float bad : {kNaN, kInfinity}) {
      for (const Index row : {0, 6, 10}) {
        fill(dirty[test::kKeys], 11, row, bad);
        fill(dirty[test::kValues], 11, row, bad);
      }
      expect_no_difference(c, dirty);
    }
    const Numbers<float> d = test::gradients(c, dirty, d_out(c, c.forward(c.floats())), kStart);
    for (const Index row : {0, 6, 10}) {
      for (const float x : part(d[test::kKeys], 11, row)) EXPECT_EQ(x, kStart);
      for (const float x : part(d[test::kValues], 11, row)) EXPECT_EQ(x, kStart);
    }
  });
}

TEST_P(AxesSemantics, KeysThatNoRowMaySeeChangeNoBitAndGetNoGradient) {
  int hidden = 0;
  for_each_case([&](const AxesCase& c) {
    const Numbers<float> d_clean = d_out(c, c.forward(c.floats()));
    for (const float bad : {kNaN, -kInfinity}) {
      Numbers<float> dirty = c.floats();
      for (Index key = 0; key < 11; ++key) {
        if (seen_by_any(c, key)) continue;
        ++hidden;
        fill(dirty[test::kKeys], 11, key, bad);
        fill(dirty[test::kValues], 11, key, bad);
      }
      expect_no_difference(c, dirty);
      const Numbers<float> d = test::gradients(c, dirty, d_clean, kStart);
      for (Index key = 0; key < 11; ++key) {
        if (seen_by_any(c, key)) continue;
        for (const float x : part(d[test::kKeys], 11, key)) EXPECT_EQ(x, kStart) << key;
        for (const float x : part(d[test::kValues], 11, key)) EXPECT_EQ(x, kStart) << key;
      }
    }
  });
  EXPECT_GT(hidden, 300);
}

// What else belongs to a pair: a bias, the score of a place, an old weight, a gradient.
TEST_P(AxesSemantics, NumbersOfAMaskedPairChangeNoBit) {
  for_each_case([](const AxesCase& c) {
    Numbers<float> dirty = c.floats();
    const Numbers<float> out = c.forward(dirty);
    Numbers<float> d = d_out(c, out), d_dirty = d;
    const Index heads = c.heads(), columns = c.layout().columns;
    const bool neighbours = c.score() == ScoreKind::kLocationSensitive;  // they are convolved
    for (Index r = 0; r < c.rows(); ++r) {
      for (Index j = 0; j < columns; ++j) {
        if (c.live(r, j)) continue;
        for (Index h = 0; h < heads; ++h) {
          const auto n = static_cast<std::size_t>((r * heads + h) * columns + j);
          if (c.score() == ScoreKind::kLocation) dirty[test::kQuery][n] = kNaN;
          if (!neighbours && !dirty[test::kPast].empty()) {
            // The monotonic recurrence walks over masked keys; what lies beyond the length is no
            // part of it, and a coverage grows by 0.
            if (j >= c.keys(r)) dirty[test::kPast][n] = kNaN;
          }
          if (!dirty[test::kChunks].empty()) dirty[test::kChunks][n] = kNaN;
          d_dirty[test::kWeights][n] = kNaN;
        }
        if (c.choice()[test::kBias] == 1) {
          dirty[test::kDense][static_cast<std::size_t>(r * columns + j)] = kNaN;
        }
      }
    }
    EXPECT_EQ(test::other_outputs(out, c.forward(dirty)), "");
    EXPECT_EQ(test::other_gradients(test::gradients(c, c.floats(), d, kStart),
                                    test::gradients(c, dirty, d_dirty, kStart)),
              "");
  });
}

TEST_P(AxesSemantics, AKeyThatOneRowSeesAndAnotherMayNotPoisonsTheFirstAlone) {
  int pairs = 0;
  for_each_case([&](const AxesCase& c) {
    const Numbers<float> clean = c.floats(), out = c.forward(clean), d = d_out(c, out);
    const Numbers<float> gradients = test::gradients(c, clean, d, kStart);
    for (const Index key : {2, 3, 8}) {
      Numbers<float> dirty = clean;
      fill(dirty[test::kKeys], 11, key, kNaN);
      fill(dirty[test::kValues], 11, key, kNaN);
      const Numbers<float> got = c.forward(dirty);
      const Numbers<float> d_got = test::gradients(c, dirty, d, kStart);
      for (Index r = 0; r < c.rows(); ++r) {
        const Index j = key - key_row(c, r, 0);
        if (j >= 0 && c.live(r, j)) {
          const std::vector<float> context = part(got[test::kContext], c.rows(), r);
          pairs += std::isnan(context[0]);
        } else {
          expect_same_row(c, r, out, got, gradients, d_got);
        }
      }
    }
  });
  EXPECT_GT(pairs, 200);
}

TEST_P(AxesSemantics, ARowThatMaySeeNoKeyGivesZerosAndNoGradientWhateverItHolds) {
  int rows = 0;
  for_each_case([&](const AxesCase& c) {
    const Numbers<float> clean = c.floats(), out = c.forward(clean), d = d_out(c, out);
    Numbers<float> dirty = clean, d_dirty = d;
    std::vector<Index> blind;
    for (Index r = 0; r < c.rows(); ++r) {
      if (c.live_count(r) > 0) continue;
      blind.push_back(r);
      rows += c.keys(r) > 0;
      fill(dirty[test::kQuery], c.rows(), r, kNaN);
      for (const std::size_t o : {test::kContext, test::kWeights, test::kLse}) {
        fill(d_dirty[o], c.rows(), r, kNaN);
      }
    }
    const Numbers<float> got = c.forward(dirty);
    EXPECT_EQ(test::other_outputs(out, got), "");
    const Numbers<float> d_got = test::gradients(c, dirty, d_dirty, kStart);
    EXPECT_EQ(test::other_gradients(test::gradients(c, clean, d, kStart), d_got), "");
    for (const Index r : blind) {
      for (const std::size_t o : {test::kContext, test::kWeights, test::kRaw}) {
        for (const float x : part(got[o], c.rows(), r)) EXPECT_EQ(x, 0.0f);
      }
      for (const float x : part(got[test::kLse], c.rows(), r)) EXPECT_EQ(x, -kInfinity);
      for (const float x : part(d_got[test::kQuery], c.rows(), r)) EXPECT_EQ(x, kStart);
    }
  });
  EXPECT_GT(rows, 10);
}

// A NaN is found in the results of the rows that see it, and in no others.
TEST_P(AxesSemantics, NaNInLiveDataReachesTheRowsThatSeeItAndNoOther) {
  for_each_case([](const AxesCase& c) {
    const Numbers<float> clean = c.floats(), out = c.forward(clean), d = d_out(c, out);
    const Numbers<float> gradients = test::gradients(c, clean, d, kStart);
    for (const std::size_t where :
         {test::kQuery, test::kKeys, test::kValues, test::kDense, test::kCenter}) {
      if (clean[where].empty()) continue;
      if (where == test::kDense && c.choice()[test::kBias] != 1) continue;
      Numbers<float> dirty = clean;
      const bool by_row = where != test::kKeys && where != test::kValues;
      const Index bad = by_row ? 2 : 3;  // row 2, or the key of place 2 of sentence 0
      fill(dirty[where], by_row ? c.rows() : 11, bad, kNaN);
      const Numbers<float> got = c.forward(dirty);
      const Numbers<float> d_got = test::gradients(c, dirty, d, kStart);
      for (Index r = 0; r < c.rows(); ++r) {
        const Index j = bad - key_row(c, r, 0);
        const bool sees = by_row ? r == bad && c.live_count(r) > 0 : j >= 0 && c.live(r, j);
        if (!sees) {
          expect_same_row(c, r, out, got, gradients, d_got);
        } else if (where == test::kValues) {
          EXPECT_TRUE(any_nan(part(got[test::kContext], c.rows(), r))) << r;
        } else if (by_row || c.normalizer().kind != NormalizerKind::kLocal) {
          // (local may leave a key outside of its window)
          EXPECT_TRUE(any_nan(part(got[test::kWeights], c.rows(), r)))
              << test::input_name(static_cast<int>(where)) << " row " << r;
        }
      }
    }
  });
}

// Where the reference gives no number, the library gives none, and the other way round. (The
// reference of the sparse normalisers sorts, which NaN does not allow.)
TEST_P(AxesSemantics, NaNAndInfinityComeOutWherePlainArithmeticPutsThem) {
  Layout undropped;
  undropped.dropout = 0.0f;
  const auto check = [](const AxesCase& c) {
    const NormalizerKind kind = c.normalizer().kind;
    if (kind != NormalizerKind::kSoftmax && kind != NormalizerKind::kSigmoid) return;
    for (const float bad : {kNaN, kInfinity, -kInfinity}) {
      for (const std::size_t where : {test::kQuery, test::kKeys, test::kValues}) {
        if (c.extent(static_cast<int>(where)).size() == 0) continue;
        Numbers<float> in = c.floats();
        Numbers<double> plain = c.inputs();
        const bool by_row = where == test::kQuery;
        const Index rows = by_row ? c.rows() : 11, row = by_row ? 2 : 3;
        const auto n =
            static_cast<std::size_t>(row * static_cast<Index>(in[where].size()) / rows + 1);
        in[where][n] = bad;
        plain[where][n] = static_cast<double>(bad);
        const Numbers<float> got = c.forward(in);
        const Numbers<double> wanted = c.reference(plain);
        for (const std::size_t o : {test::kContext, test::kWeights, test::kRaw}) {
          for (std::size_t i = 0; i < got[o].size(); ++i) {
            EXPECT_EQ(std::isfinite(wanted[o][i]), std::isfinite(got[o][i]))
                << bad << " in " << test::input_name(static_cast<int>(where)) << ": "
                << test::output_name(static_cast<int>(o)) << " " << i << " wanted " << wanted[o][i]
                << " got " << got[o][i];
          }
        }
        if (HasFailure()) return;
      }
    }
  };
  for_each_case(check, undropped);
}

TEST_P(AxesSemantics, OneLiveKeyHasWeightOneAndItsScoreNoGradient) {
  int alone = 0;
  Layout one;
  one.length = {1, 0, 1};
  for (const Layout& layout : {Layout(), one}) {
    for_each_case(
        [&](const AxesCase& c) {
          if (!c.normalizer().sums_to_one()) return;
          const Numbers<float> in = c.floats(), out = c.forward(in);
          Numbers<float> d = d_out(c, out);
          std::fill(d[test::kLse].begin(), d[test::kLse].end(), 0.0f);
          const Numbers<float> got = test::gradients(c, in, d, kStart);
          for (Index r = 0; r < c.rows(); ++r) {
            if (c.live_count(r) != 1) continue;
            ++alone;
            for (Index j = 0; j < c.keys(r) * c.heads(); ++j) {
              const float w =
                  part(out[test::kWeights], c.rows() * c.heads(),
                       r * c.heads() + j / c.keys(r))[static_cast<std::size_t>(j % c.keys(r))];
              EXPECT_EQ(w, c.live(r, j % c.keys(r)) ? 1.0f : 0.0f);
            }
            for (const float x : part(got[test::kQuery], c.rows(), r)) EXPECT_EQ(x, kStart);
          }
          if (c.layout().length[0] > 1) return;
          for (const std::size_t i :
               {test::kKeys, test::kV, test::kB, test::kG, test::kW, test::kFilters, test::kU,
                test::kDense, test::kSlopes, test::kTable, test::kAlpha}) {
            for (const float x : got[i])
              EXPECT_EQ(x, kStart) << test::input_name(static_cast<int>(i));
          }
        },
        layout);
  }
  EXPECT_GT(alone, 100);
}

TEST_P(AxesSemantics, HugeScoresStayFinite) {
  for (const float scale : {1e30f, 3e37f}) {
    Layout huge;
    huge.scale = scale;
    for_each_case(
        [&](const AxesCase& c) {
          const Numbers<float> in = c.floats(), out = c.forward(in);
          const Numbers<float> d = d_out(c, out);
          for (std::size_t o = 0; o < out.size(); ++o) {
            for (const float x : out[o]) {
              EXPECT_TRUE(std::isfinite(x) ||
                          ((o == test::kLse || o == test::kStats) && x == -kInfinity))
                  << test::output_name(static_cast<int>(o)) << x;
            }
          }
          for (Index r = 0; r < c.rows() * c.heads(); ++r) {
            if (!c.normalizer().sums_to_one() || c.live_count(r / c.heads()) == 0) continue;
            float sum = 0.0f;
            for (const float w : part(out[test::kWeights], c.rows() * c.heads(), r)) sum += w;
            EXPECT_NEAR(sum, 1.0f, 1e-6f);
          }
          if (scale > 1e30f) return;  // a gradient is as large again
          const Numbers<float> got = test::gradients(c, in, d);
          for (std::size_t i = 0; i < got.size(); ++i) {
            for (const float x : got[i]) {
              EXPECT_TRUE(std::isfinite(x)) << test::input_name(static_cast<int>(i)) << x;
            }
          }
        },
        huge);
  }
}

TEST_P(AxesSemantics, NoRowsNoSentencesOrNoKeysAreNoOps) {
  Layout no_rows, no_sentences, no_keys;
  no_rows.key_row = {};
  no_sentences.key_row = no_sentences.start = no_sentences.length = no_sentences.query_length = {};
  no_keys.length = {0, 0, 0};
  for (Layout layout : {no_rows, no_sentences, no_keys}) {
    for_each_case(
        [](const AxesCase& c) {
          const Numbers<float> in = c.floats(), out = c.forward(in);
          for (const std::size_t o : {test::kContext, test::kWeights, test::kRaw}) {
            for (const float x : out[o]) EXPECT_EQ(x, 0.0f);
          }
          for (const float x : out[test::kLse]) EXPECT_EQ(x, -kInfinity);
          const Numbers<float> got = test::gradients(c, in, d_out(c, out), kStart);
          for (std::size_t i = 0; i < got.size(); ++i) {
            for (const float x : got[i]) {
              EXPECT_EQ(x, kStart) << test::input_name(static_cast<int>(i));
            }
          }
        },
        layout);
  }
}

// The square alignment says so where T is not S.
TEST_P(AxesSemantics, TheSquareCausalMaskWantsAsManyQueriesAsKeys) {
  Choice choice;
  choice.member[test::kScore] = GetParam();
  choice.member[test::kMask] = 4;
  EXPECT_THROW(AxesCase(choice).forward(AxesCase(choice).floats()), ShapeError);
  Layout square;
  square.square = true;
  square.query_length = square.length;
  const AxesCase c(choice, 1, square);
  EXPECT_EQ(test::wrong_outputs(c, c.forward(c.floats())), "");
}

}  // namespace
}  // namespace regard::attention

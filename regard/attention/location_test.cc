// Location-sensitive and coverage scores against plain loops in double, and what they do not read.
#include "regard/attention/location.h"

#include <gtest/gtest.h>

#include <limits>
#include <type_traits>
#include <vector>

#include "regard/attention/reference/location.h"
#include "regard/kernels/op_case_test_util.h"

namespace regard::attention {
namespace {

using regard::test::Buffers;
using regard::test::check_op;
using regard::test::convert;
using regard::test::Guarded;
using regard::test::random_values;

enum Input { kQuery, kKeys, kV, kFilters, kU, kState, kInputs };

struct LocationOp {
  Index width, keys, channels, taps;  // taps 0: coverage
  float scale = 0.75f;

  Buffers<double> inputs() const {
    return {random_values(width, 1),
            random_values(keys * width, 2),
            random_values(width, 3),
            random_values(channels * taps, 4),
            random_values(width * channels, 5),
            random_values(keys, 6, 0.0, 1.0)};
  }

  // Matrices whose rows lie apart.
  template <class T>
  struct Matrices {
    Matrices(const LocationOp& op, const Buffers<T>& b)
        : keys(op.keys, op.width, b[kKeys]),
          filters(op.channels, op.taps, b[kFilters]),
          u(op.width, op.channels, b[kU]) {}
    Guarded<T> keys, filters, u;
  };

  LocationScore score(const Matrices<float>& m, const Buffers<float>& in) const {
    LocationScore s;
    s.keys = m.keys.view().data;
    s.key_stride = m.keys.view().stride;
    s.count = keys;
    s.width = width;
    s.v = in[kV].data();
    s.scale = scale;
    if (taps > 0) s.filters = m.filters.view();
    s.u = m.u.view();
    return s;
  }
  reference::LocationCall<double> call(const Matrices<double>& m, const Buffers<double>& in) const {
    return {m.keys.view(),
            {in[kQuery].data(), width},
            {in[kV].data(), width},
            taps > 0 ? m.filters.view() : MatrixView<const double>(),
            m.u.view(),
            {in[kState].data(), keys},
            scale};
  }

  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    const Matrices<T> m(*this, in);
    Guarded<T> scores(1, keys);
    if constexpr (std::is_same_v<T, float>) {
      const LocationScore s = score(m, in);
      Guarded<float> scratch(1, location_scratch(s, keys));
      location_scores(s, in[kQuery].data(), in[kState].data(), scores.view().data,
                      scratch.view().data);
      scratch.values();
    } else {
      reference::location_scores<T>(call(m, in), {scores.view().data, keys});
    }
    return {scores.values()};
  }
  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    const Matrices<T> m(*this, in);
    Matrices<T> d(*this, d_in);
    if constexpr (std::is_same_v<T, float>) {
      const LocationScore s = score(m, in);
      Guarded<float> scratch(1, location_scratch(s, keys));
      const LocationGradients g = {d_in[kQuery].data(), d.keys.view().data, d.keys.view().stride,
                                   d_in[kV].data(),     d.filters.view(),   d.u.view(),
                                   d_in[kState].data()};
      location_backward(s, in[kQuery].data(), in[kState].data(), d_out[0].data(), g,
                        scratch.view().data);
      scratch.values();
    } else {
      reference::location_backward<T>(call(m, in), {d_out[0].data(), keys},
                                      {d.keys.view(),
                                       {d_in[kQuery].data(), width},
                                       {d_in[kV].data(), width},
                                       d.filters.view(),
                                       d.u.view(),
                                       {d_in[kState].data(), keys}});
    }
    d_in[kKeys] = d.keys.values();
    d_in[kFilters] = d.filters.values();
    d_in[kU] = d.u.values();
  }
};

class LocationOfWidth : public testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Widths, LocationOfWidth, testing::Values(1, 15, 16, 17, 53, 128));

// Sums over up to 128 dims and 40 keys, of which single terms are of order 1.
constexpr double kTolerance = 1e-5;

TEST_P(LocationOfWidth, LocationSensitiveScoresAgreeWithTheReferenceForwardAndBackward) {
  for (const Index keys : {1, 2, 17, 40}) {
    for (const Index channels : {1, 3}) {
      for (const Index taps : {1, 3, 7}) {
        const LocationOp op{GetParam(), keys, channels, taps};
        EXPECT_EQ(check_op(op, op.inputs(), kTolerance), "")
            << keys << " keys, " << channels << " channels, " << taps << " taps";
      }
    }
  }
}

TEST_P(LocationOfWidth, CoverageScoresAgreeWithTheReferenceForwardAndBackward) {
  for (const Index keys : {1, 2, 17, 40}) {
    const LocationOp op{GetParam(), keys, 1, 0};
    EXPECT_EQ(check_op(op, op.inputs(), kTolerance), "") << keys << " keys";
  }
}

TEST(LocationScore, FiltersMayBeWiderThanTheSentenceAndThanABlockOfSixteen) {
  for (const Index keys : {1, 5, 40}) {
    const LocationOp op{20, keys, 2, 37};
    EXPECT_EQ(check_op(op, op.inputs(), kTolerance), "") << keys << " keys";
  }
}

TEST(LocationScore, OfAStateOfZerosIsTheAdditiveScore) {
  const LocationOp op{53, 17, 3, 7, 1.0f};
  Buffers<float> in = convert<float>(op.inputs());
  in[kState].assign(17, 0.0f);
  const std::vector<float> got = op.forward(in)[0];
  for (std::size_t j = 0; j < 17; ++j) {
    double want = 0.0;
    for (std::size_t a = 0; a < 53; ++a) {
      const double z = static_cast<double>(in[kQuery][a]) + in[kKeys][j * 53 + a];
      want += in[kV][a] * std::tanh(z);
    }
    EXPECT_NEAR(got[j], want, 4e-6);
  }
}

TEST(LocationScore, CoverageIsOneFilterOfWidthOneThatIsOne) {
  const LocationOp coverage{53, 17, 1, 0}, convolved{53, 17, 1, 1};
  Buffers<float> in = convert<float>(convolved.inputs());
  in[kFilters] = {1.0f};
  const std::vector<float> want = convolved.forward(in)[0];
  in[kFilters].clear();
  EXPECT_TRUE(regard::test::same_bits(coverage.forward(in)[0], want));
}

TEST(LocationScore, ReadsNoKeyWhoseGradientIsZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Index taps : {0, 7}) {
    const LocationOp op{17, 20, 1, taps};
    const Buffers<float> clean = convert<float>(op.inputs());
    Buffers<float> dirty = clean;
    Buffers<float> d_out = {regard::test::random_floats(20, 9)};
    for (const std::size_t j : {0u, 7u, 19u}) {
      d_out[0][j] = j == 7 ? -0.0f : 0.0f;
      std::fill_n(dirty[kKeys].begin() + static_cast<std::ptrdiff_t>(17 * j), 17, nan);
    }
    regard::test::on_each_isa([&] {
      Buffers<float> want = clean, got = clean;  // as gradients to start from
      op.backward(clean, d_out, want);
      op.backward(dirty, d_out, got);
      for (std::size_t b = 0; b < kInputs; ++b) {
        EXPECT_TRUE(regard::test::same_bits(got[b], want[b])) << executed_isa() << " " << b;
      }
      for (const std::size_t at : {0u, 7u * 17u, 19u * 17u + 16u}) {
        EXPECT_EQ(got[kKeys][at], clean[kKeys][at]) << "a dead key got a gradient";
      }
    });
  }
}

// An infinite feature is live data where tanh takes it, and nothing at all beyond the width.
TEST(LocationScore, LanesBeyondTheWidthDoNotContribute) {
  const LocationOp op{17, 2, 1, 0, 1.0f};
  Buffers<float> in = convert<float>(op.inputs());
  in[kState][1] = std::numeric_limits<float>::infinity();
  regard::test::on_each_isa([&] {
    double want = 0.0;
    for (std::size_t a = 0; a < 17; ++a) want += in[kU][a] < 0.0f ? -in[kV][a] : in[kV][a];
    EXPECT_NEAR(op.forward(in)[0][1], want, 4e-6);
    Buffers<float> d = convert<float>(op.inputs());
    const std::vector<float> before = d[kState];
    op.backward(in, {{1.0f, 1.0f}}, d);
    EXPECT_EQ(d[kState][1], before[1]);  // saturated
    EXPECT_NE(d[kState][0], before[0]);
  });
}

TEST(LocationScore, NaNInLiveDataPropagates) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const LocationOp op{16, 9, 1, 3};
  for (const Input at : {kQuery, kKeys, kV, kFilters, kU, kState}) {
    Buffers<float> in = convert<float>(op.inputs());
    in[at][0] = nan;
    EXPECT_TRUE(std::isnan(op.forward(in)[0][0])) << at;
  }
  // The state of key 0 is seen by keys 0 and 1 alone.
  Buffers<float> in = convert<float>(op.inputs());
  in[kState][0] = nan;
  const std::vector<float> scores = op.forward(in)[0];
  EXPECT_TRUE(std::isnan(scores[1]));
  EXPECT_FALSE(std::isnan(scores[2]));
}

// The derivative keeps its relative accuracy where tanh is 1 to the last bit.
TEST(LocationScore, TheDerivativeKeepsItsAccuracyAtSaturation) {
  const LocationOp op{1, 1, 1, 0, 1.0f};
  for (const float z : {-20.0f, -9.0f, 9.0f, 20.0f}) {
    const Buffers<float> in = {{z}, {0.0f}, {1.0f}, {}, {1.0f}, {0.0f}};
    Buffers<float> d = {{0.0f}, {0.0f}, {0.0f}, {}, {0.0f}, {0.0f}};
    op.backward(in, {{1.0f}}, d);
    const double want = 1.0 / std::pow(std::cosh(static_cast<double>(z)), 2.0);
    EXPECT_NEAR(d[kQuery][0] / want, 1.0, 1e-5) << z;
    EXPECT_EQ(d[kQuery][0], d[kState][0]);
  }
}

TEST(LocationScore, GradientsThatNobodyWantsAreNotWrittenAndChangeNoOther) {
  const LocationOp op{17, 20, 3, 3};
  const Buffers<float> in = convert<float>(op.inputs());
  const Buffers<float> d_out = {regard::test::random_floats(20, 9)};
  Buffers<float> want = in;
  op.backward(in, d_out, want);
  const LocationOp::Matrices<float> m(op, in);
  const LocationScore s = op.score(m, in);
  std::vector<float> scratch(static_cast<std::size_t>(location_scratch(s, 20)));
  const auto run = [&](const LocationGradients& g) {
    location_backward(s, in[kQuery].data(), in[kState].data(), d_out[0].data(), g, scratch.data());
  };
  run({});
  Buffers<float> got = in;
  LocationGradients one;
  one.d_query = got[kQuery].data();
  run(one);
  one = {};
  one.d_keys = got[kKeys].data();
  one.d_key_stride = 17;
  run(one);
  one = {};
  one.d_v = got[kV].data();
  run(one);
  one = {};
  one.d_filters = {got[kFilters].data(), 3, 3};
  run(one);
  one = {};
  one.d_u = {got[kU].data(), 17, 3};
  run(one);
  one = {};
  one.d_state = got[kState].data();
  run(one);
  for (std::size_t b = 0; b < kInputs; ++b) {
    EXPECT_TRUE(regard::test::same_bits(got[b], want[b])) << b;
  }
}

TEST(LocationScore, OfNoKeysWritesNothing) {
  const LocationOp op{17, 0, 1, 3};
  const Buffers<float> in = convert<float>(op.inputs());
  EXPECT_TRUE(op.forward(in)[0].empty());
  Buffers<float> d = in;
  op.backward(in, {{}}, d);
  EXPECT_EQ(d, in);
}

// A check that cannot fail proves nothing: a filter that is read the wrong way round.
struct ReversedFilter : LocationOp {
  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    Buffers<T> turned = in;
    if (std::is_same_v<T, float>) std::reverse(turned[kFilters].begin(), turned[kFilters].end());
    return LocationOp::forward(turned);
  }
};

TEST(LocationScore, AReversedFilterIsFound) {
  const ReversedFilter op{{16, 17, 1, 3}};
  EXPECT_NE(check_op(op, op.inputs(), kTolerance).find("forward on"), std::string::npos);
}

}  // namespace
}  // namespace regard::attention

// What the normalisers cost beside softmax: each on the same [rows, S], in turns within one run.
// Scores are normal with the deviation that is named: flat rows have wide supports.
//
//   normalizer_bench [INSTRUCTION_SET [SECONDS_PER_CASE [NAME_SUBSTRING]]]
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "regard/attention/normalizer.h"
#include "regard/attention/reference/normalizers.h"
#include "regard/base/error.h"
#include "regard/base/random.h"
#include "regard/kernels/isa.h"

namespace regard::attention {
namespace {

constexpr Index kRows = 4096;
constexpr Index kBlock = 32;  // rows of a block, as attention works

struct Case {
  const char* name;
  NormalizerKind kind;
  float alpha;
  double goal;  // times softmax; 0: none
};

const Case kCases[] = {
    {"sparsemax", NormalizerKind::kSparsemax, 0.0f, 1.5},
    {"entmax-1.5", NormalizerKind::kEntmax15, 0.0f, 1.5},
    {"entmax 1.1", NormalizerKind::kEntmax, 1.1f, 4.0},
    {"entmax 1.3", NormalizerKind::kEntmax, 1.3f, 4.0},
    {"entmax 1.5", NormalizerKind::kEntmax, 1.5f, 4.0},
    {"entmax 1.8", NormalizerKind::kEntmax, 1.8f, 4.0},
    {"entmax 2.5", NormalizerKind::kEntmax, 2.5f, 4.0},
    {"hardmax", NormalizerKind::kHardmax, 0.0f, 0.0},
    {"sigmoid", NormalizerKind::kSigmoid, 0.0f, 0.0},
    {"monotonic", NormalizerKind::kMonotonic, 0.0f, 0.0},
    {"mocha of 4", NormalizerKind::kMocha, 0.0f, 0.0},
    {"local of 8", NormalizerKind::kLocal, 0.0f, 0.0},
};

double seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Sums of twelve uniform numbers: normal enough.
std::vector<float> scores_of(Index keys, double deviation) {
  std::vector<float> x(static_cast<std::size_t>(kRows * keys));
  for (std::size_t i = 0; i < x.size(); ++i) {
    double sum = -6.0;
    for (std::uint64_t n = 0; n < 12; ++n) {
      sum += static_cast<double>(random_bits(n, i) >> 11) * 0x1p-53;
    }
    x[i] = static_cast<float>(deviation * sum);
  }
  return x;
}

class Problem {
 public:
  Problem(const Case& c, Index keys, const std::vector<float>& scores)
      : keys_(keys), scores_(scores), data_(scores), d_(scores.size()) {
    normalizer_.kind = c.kind;
    if (c.kind == NormalizerKind::kEntmax) normalizer_.alpha = c.alpha;
    normalizer_.window = c.kind == NormalizerKind::kMocha ? 4 : 8;
    center_.assign(kBlock, static_cast<float>(keys) / 2.0f);
    scratch_.resize(static_cast<std::size_t>(normalizer_scratch(normalizer_, kBlock, keys)));
  }
  double forward() {
    std::memcpy(data_.data(), scores_.data(), data_.size() * sizeof(float));
    const double start = seconds();
    for (Index r = 0; r < kRows; r += kBlock) {
      normalize_forward(normalizer_, block(), data_.data() + r * keys_, nullptr, nullptr,
                        scratch_.data());
    }
    return seconds() - start;
  }
  // After forward.
  double backward() {
    std::memcpy(d_.data(), scores_.data(), d_.size() * sizeof(float));
    const double start = seconds();
    for (Index r = 0; r < kRows; r += kBlock) {
      NormalizerGradients g;
      g.d_scores = d_.data() + r * keys_;
      g.weights = data_.data() + r * keys_;
      g.scores = scores_.data() + r * keys_;
      normalize_backward(normalizer_, block(), g, scratch_.data());
    }
    return seconds() - start;
  }
  // Of the first rows' weights, from the reference in double.
  double largest_difference() {
    forward();
    double worst = 0.0;
    for (Index r = 0; r < 8; ++r) {
      reference::NormalizerRow<double> row;
      row.normalizer = normalizer_;
      row.alpha = static_cast<double>(normalizer_.alpha);
      row.live.assign(static_cast<std::size_t>(keys_), true);
      row.center = static_cast<double>(center_[0]);
      const std::vector<double> e(scores_.begin() + r * keys_, scores_.begin() + (r + 1) * keys_);
      std::vector<double> w(e.size());
      reference::normalizer_forward<double>(row, e.data(), {w.data(), nullptr, nullptr});
      for (std::size_t j = 0; j < w.size(); ++j) {
        const double got = data_[static_cast<std::size_t>(r * keys_) + j];
        worst = std::max(worst, std::fabs(got - w[j]));
      }
    }
    return worst;
  }

 private:
  NormalizerRows block() const {
    NormalizerRows rows;
    rows.live = {nullptr, 0, kBlock, keys_};
    rows.stride = keys_;
    rows.center = center_.data();
    return rows;
  }

  Normalizer normalizer_;
  Index keys_;
  const std::vector<float>& scores_;
  std::vector<float> data_, d_, center_, scratch_;
};

struct Times {
  double forward = 1e9, backward = 1e9;
};

void time_once(Problem& problem, Times& best) {
  best.forward = std::min(best.forward, problem.forward());
  best.backward = std::min(best.backward, problem.backward());
}

void run(const Case& c, Index keys, double deviation, double budget_s) {
  const std::vector<float> scores = scores_of(keys, deviation);
  Problem own(c, keys, scores),
      softmax({"softmax", NormalizerKind::kSoftmax, 0.0f, 0.0}, keys, scores);
  const double difference = own.largest_difference();
  Times best, soft;
  const double end = seconds() + budget_s;
  do {
    time_once(softmax, soft);
    time_once(own, best);
  } while (seconds() < end);
  const double ratio = best.forward / soft.forward;
  std::printf(
      "%-11s S %4d deviation %4.1f  forward %8.1f ns a row, softmax %7.1f: x %5.2f%s  "
      "backward x %5.2f  difference %.1e\n",
      c.name, static_cast<int>(keys), deviation, 1e9 / kRows * best.forward,
      1e9 / kRows * soft.forward, ratio,
      c.goal == 0.0 ? "       " : (ratio <= c.goal ? " (met) " : " (over)"),
      best.backward / soft.backward, difference);
}

}  // namespace
}  // namespace regard::attention

int main(int argc, char** argv) {
  using namespace regard;
  try {
    for (int i = 0; argc > 1 && i < kIsaCount; ++i) {
      if (isa_name(static_cast<Isa>(i)) == argv[1]) set_isa(static_cast<Isa>(i));
    }
    const double budget_s = argc > 2 ? std::atof(argv[2]) : 0.2;
    const std::string part = argc > 3 ? argv[3] : "";
    std::printf("%s, one thread, cpu time; goals: sparsemax and entmax-1.5 x 1.5, entmax x 4\n",
                std::string(executed_isa()).c_str());
    for (const attention::Case& c : attention::kCases) {
      if (std::string(c.name).find(part) == std::string::npos) continue;
      for (const double deviation : {0.1, 1.0, 4.0}) {
        for (const Index keys : {32, 256, 1024}) attention::run(c, keys, deviation, budget_s);
      }
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "normalizer_bench: %s\n", error.what());
    return 2;
  }
  return 0;
}

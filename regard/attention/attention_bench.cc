// What attention costs, in slots: time x the rate of fused multiply-add lanes measured in the same
// run / (rows x keys x width). One slot is one vector operation per sixteen elements at the full
// rate. Whole operators: forward with the keys' preparation, weights and context; backward with all
// gradients, from start to finish. One thread.
//
//   attention_bench [INSTRUCTION_SET [SECONDS_PER_SHAPE [NAME_SUBSTRING]]]
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "regard/attention/attention.h"
#include "regard/attention/reference/attention.h"
#include "regard/base/error.h"
#include "regard/base/random.h"
#include "regard/kernels/isa.h"
#include "regard/kernels/peak.h"

namespace regard::attention {
namespace {

struct Shape {
  const char* name;
  ScoreKind kind;
  Index batch, rows, keys, width;  // B, T, S, A = Dv
  bool decode;                     // keys prepared before, forward alone
};

const Shape kShapes[] = {
    // Inside the second cache and within one time slice: the kernels themselves.
    {"additive", ScoreKind::kAdditive, 1, 30, 30, 256, false},
    {"additive", ScoreKind::kAdditive, 1, 64, 400, 256, false},
    // Batches, which pass through memory.
    {"additive", ScoreKind::kAdditive, 32, 30, 30, 256, false},
    {"additive", ScoreKind::kAdditive, 32, 30, 30, 512, false},
    {"additive", ScoreKind::kAdditive, 4, 400, 400, 256, false},
    {"additive", ScoreKind::kAdditive, 4, 400, 400, 512, false},
    {"additive", ScoreKind::kAdditive, 64, 13, 13, 512, false},
    {"additive", ScoreKind::kAdditive, 64, 7, 8, 128, false},
    {"additive, one row a call", ScoreKind::kAdditive, 64, 1, 13, 512, false},
    {"additive decode", ScoreKind::kAdditive, 128, 1, 30, 512, true},
    {"additive decode", ScoreKind::kAdditive, 16, 1, 30, 512, true},
    {"additive decode", ScoreKind::kAdditive, 1, 1, 30, 512, true},
    {"additive decode, beam", ScoreKind::kAdditive, 16, 5, 30, 512, true},
    {"dot", ScoreKind::kDot, 32, 30, 30, 512, false},
    {"scaled dot", ScoreKind::kScaledDot, 4, 400, 400, 64, false},
    {"dot decode", ScoreKind::kDot, 128, 1, 30, 512, true},
};

double seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::vector<float> random(Index n, std::uint64_t key) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(static_cast<double>(random_bits(key, i) >> 11) * 0x1p-52 - 1.0);
  }
  return x;
}

// One problem in memory of its own; rows come in the order of decoder steps.
class Problem {
 public:
  explicit Problem(const Shape& s) : shape_(s) {
    const Index rows = s.batch * s.rows;
    for (Index i = 0; i < rows; ++i) key_row_.push_back(i % s.batch);
    length_.assign(static_cast<std::size_t>(s.batch), s.keys);
    query_ = random(rows * s.width, 1);
    keys_ = random(s.batch * s.keys * s.width, 2);
    values_ = random(s.batch * s.keys * s.width, 3);
    v_ = random(s.width, 4);
    d_context_ = random(rows * s.width, 5);
    context_.resize(query_.size());
    d_query_.resize(query_.size());
    weights_.resize(static_cast<std::size_t>(rows * s.keys));
    d_keys_.resize(keys_.size());
    d_values_.resize(keys_.size());
    d_v_.resize(v_.size());
    prepare();
  }

  void prepare() {
    arena_.reset();
    Score score;
    score.kind = shape_.kind;
    score.v = {v_.data(), static_cast<Index>(v_.size())};
    prepared_ = prepare_keys(score, by_key(keys_),
                             dense_rows(shape_.batch, shape_.keys, length_.data(), arena_), arena_);
  }
  void forward() {
    attend_forward(prepared_, by_key(values_), queries(), {by_row(context_), weights(), {}, {}},
                   workspace_);
  }
  void backward() {
    const ArenaScope scope(arena_);
    KeyGradients sums = begin_key_gradients(prepared_, shape_.width, arena_);
    attend_backward(prepared_, by_key(values_), {queries(), weights(), by_row(d_context_), {}},
                    sums, {by_row(d_query_), {d_v_.data(), shape_.width}, {}}, workspace_);
    finish_key_gradients(prepared_, sums, {by_key(d_keys_), by_key(d_values_), {}}, workspace_);
  }
  // Of the contexts of the first rows, against the reference in double.
  double largest_difference() {
    forward();
    const auto wide = [](const std::vector<float>& x) {
      return std::vector<double>(x.begin(), x.end());
    };
    const std::vector<double> query = wide(query_), keys = wide(keys_), values = wide(values_),
                              v = wide(v_);
    const Index rows = std::min<Index>(4, shape_.batch * shape_.rows), cols = shape_.width;
    std::vector<double> context(static_cast<std::size_t>(rows * cols));
    std::vector<double> weight(static_cast<std::size_t>(rows * shape_.keys)), raw(weight),
        lse(static_cast<std::size_t>(rows));
    const Index key_rows = shape_.batch * shape_.keys;
    reference::attend_forward<double>({shape_.kind,
                                       1.0,
                                       {v.data(), cols},
                                       {},
                                       {keys.data(), key_rows, cols},
                                       {values.data(), key_rows, cols},
                                       prepared_.rows,
                                       {query.data(), rows, cols},
                                       key_row_.data()},
                                      {{context.data(), rows, cols},
                                       {weight.data(), rows, shape_.keys},
                                       {raw.data(), rows, shape_.keys},
                                       {lse.data(), rows}});
    double worst = 0.0;
    for (std::size_t n = 0; n < context.size(); ++n) {
      worst = std::max(worst, std::fabs(static_cast<double>(context_[n]) - context[n]));
    }
    return worst;
  }

 private:
  Matrix by_row(std::vector<float>& x) {
    return {x.data(), shape_.batch * shape_.rows, shape_.width};
  }
  Matrix by_key(std::vector<float>& x) {
    return {x.data(), shape_.batch * shape_.keys, shape_.width};
  }
  Matrix weights() { return {weights_.data(), shape_.batch * shape_.rows, shape_.keys}; }
  QueryRows queries() { return {by_row(query_), key_row_.data()}; }

  Shape shape_;
  std::vector<Index> key_row_, length_;
  std::vector<float> query_, keys_, values_, v_, d_context_;
  std::vector<float> context_, weights_, d_query_, d_keys_, d_values_, d_v_;
  Arena arena_, workspace_;
  PreparedKeys prepared_;
};

// The best of as many runs as fit, in slots, against the peak measured around them.
template <class Fn>
double best_seconds(double budget_s, Fn fn) {
  double best = 1e9;
  const double end = seconds() + budget_s;
  do {
    const double start = seconds();
    fn();
    best = std::min(best, seconds() - start);
  } while (seconds() < end);
  return best;
}

void run(const Shape& s, double budget_s) {
  Problem problem(s);
  const double difference = problem.largest_difference();
  const double lanes = 0.5e9 * measure_fma_peak_gflops(0.1);
  const double elements = static_cast<double>(s.batch * s.rows * s.keys * s.width);
  const double forward = best_seconds(budget_s, [&] {
    if (!s.decode) problem.prepare();
    problem.forward();
  });
  const auto slots = [&](double time_s) { return time_s * lanes / elements; };
  const double ends = 14.0 / static_cast<double>(s.rows) + 14.0 / static_cast<double>(s.keys);
  std::printf("%-24s B %3d T %3d S %3d A %3d  forward %6.2f slots %9.1f us", s.name,
              static_cast<int>(s.batch), static_cast<int>(s.rows), static_cast<int>(s.keys),
              static_cast<int>(s.width), slots(forward), forward * 1e6);
  if (!s.decode) {
    const double backward = best_seconds(budget_s, [&] { problem.backward(); });
    std::printf("  backward %6.2f slots %9.1f us", slots(backward), backward * 1e6);
    if (s.kind == ScoreKind::kAdditive) {
      std::printf("  aim %5.2f %5.2f", 1.15 * (7.5 + ends), 1.15 * (14.0 + ends));
    }
  }
  std::printf("  difference %.1e\n", difference);
}

}  // namespace
}  // namespace regard::attention

int main(int argc, char** argv) {
  using namespace regard;
  try {
    for (int i = 0; argc > 1 && i < kIsaCount; ++i) {
      if (isa_name(static_cast<Isa>(i)) == argv[1]) set_isa(static_cast<Isa>(i));
    }
    const double budget_s = argc > 2 ? std::atof(argv[2]) : 0.5;
    const std::string part = argc > 3 ? argv[3] : "";
    std::printf("%s, peak %.1f GFLOP/s a core, cpu time\n", std::string(executed_isa()).c_str(),
                measure_fma_peak_gflops());
    for (const attention::Shape& s : attention::kShapes) {
      if (std::string(s.name).find(part) != std::string::npos) attention::run(s, budget_s);
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "attention_bench: %s\n", error.what());
    return 2;
  }
  return 0;
}

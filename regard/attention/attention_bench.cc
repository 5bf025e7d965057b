// What attention costs, beside what the machine can do.
//
// Additive scores in slots: time x the rate of fused multiply-add lanes measured in the same run /
// (rows x keys x width); one slot is one vector operation per sixteen elements at the full rate.
// Products as a share of the peak: 4 flops a (row, key, dim) forward, 10 backward, causal half of
// it. Whole operators: forward with the keys' preparation; backward from its start to the finished
// gradients, after a forward that kept what backward wants. bench/attention_pytorch.py puts PyTorch
// beside these lines.
//
//   attention_bench [--isa NAME] [--threads N] [--seconds S] [--json] [--list] [--only NUMBER]
//                   [NAME_PART]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
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
  Index batch, rows, keys, width;  // B, T, S, A = Dv of one head
  Index heads = 1;
  bool causal = false;
  bool decode = false;  // keys prepared before, forward alone
};

constexpr ScoreKind kAdditive = ScoreKind::kAdditive, kScaled = ScoreKind::kScaledDot;
const Shape kShapes[] = {
    // Inside the second cache: the kernels themselves.
    {"additive", kAdditive, 1, 30, 30, 256},
    {"additive", kAdditive, 1, 64, 400, 256},
    // Batches, which pass through memory.
    {"additive", kAdditive, 32, 30, 30, 256},
    {"additive", kAdditive, 32, 30, 30, 512},
    {"additive", kAdditive, 4, 400, 400, 256},
    {"additive", kAdditive, 4, 400, 400, 512},
    {"additive", kAdditive, 64, 13, 13, 512},
    {"additive step", kAdditive, 1, 1, 30, 512, 1, false, true},
    {"additive step", kAdditive, 16, 1, 30, 512, 1, false, true},
    {"additive step", kAdditive, 64, 1, 30, 512, 1, false, true},
    {"additive step", kAdditive, 128, 1, 30, 512, 1, false, true},
    {"additive step", kAdditive, 1, 1, 100, 512, 1, false, true},
    {"additive step", kAdditive, 16, 1, 100, 512, 1, false, true},
    {"additive step", kAdditive, 64, 1, 100, 512, 1, false, true},
    {"additive step", kAdditive, 128, 1, 100, 512, 1, false, true},
    {"additive step, beam of 5", kAdditive, 16, 5, 30, 512, 1, false, true},
    {"dot", ScoreKind::kDot, 32, 30, 30, 512},
    {"scaled dot", kScaled, 64, 32, 32, 64},
    {"scaled dot", kScaled, 8, 64, 64, 64, 8},
    {"scaled dot", kScaled, 1, 256, 256, 64, 8},
    {"scaled dot", kScaled, 1, 512, 512, 64, 8},
    {"scaled dot", kScaled, 1, 1024, 1024, 64, 8},
    {"scaled dot", kScaled, 1, 4096, 4096, 64, 8},
    {"scaled dot, causal", kScaled, 64, 32, 32, 64, 1, true},
    {"scaled dot, causal", kScaled, 1, 256, 256, 64, 8, true},
    {"scaled dot, causal", kScaled, 1, 512, 512, 64, 8, true},
    {"scaled dot, causal", kScaled, 1, 4096, 4096, 64, 8, true},
    {"dot step", ScoreKind::kDot, 128, 1, 30, 512, 1, false, true},
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
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
  Problem(const Shape& s, Threads& threads) : shape_(s), threads_(threads) {
    const Index rows = s.batch * s.rows, columns = s.heads * s.width;
    for (Index i = 0; i < rows; ++i) key_row_.push_back(i % s.batch);
    length_.assign(static_cast<std::size_t>(s.batch), s.keys);
    query_ = random(rows * columns, 1);
    keys_ = random(s.batch * s.keys * columns, 2);
    values_ = random(s.batch * s.keys * columns, 3);
    v_ = random(s.kind == kAdditive ? columns : 0, 4);
    d_context_ = random(rows * columns, 5);
    context_.resize(query_.size());
    d_query_.resize(query_.size());
    d_keys_.resize(keys_.size());
    d_values_.resize(keys_.size());
    d_v_.resize(v_.size());
    prepare();
    const std::size_t head_rows = static_cast<std::size_t>(rows * s.heads);
    stats_.resize(streams() ? head_rows * 2 : 0);
    weights_.resize(streams() ? 0 : head_rows * static_cast<std::size_t>(s.keys));
  }

  void prepare() {
    arena_.reset();
    Attention attention;
    attention.score.kind = shape_.kind;
    attention.score.v = {v_.data(), static_cast<Index>(v_.size())};
    attention.heads = shape_.heads;
    if (shape_.causal) attention.mask = Mask::causal(CausalAlignment::kSquare);
    prepared_ = prepare_keys(attention, by_key(keys_),
                             dense_rows(shape_.batch, shape_.keys, length_.data(), arena_), arena_);
  }
  void forward() {
    AttentionOutputs out;
    out.context = by_row(context_);
    if (streams()) {
      out.softmax_stats = stats();
    } else {
      out.weights = weights();
    }
    attend_forward(prepared_, by_key(values_), queries(), out, {workspace_, &threads_});
  }
  void backward() {
    const ArenaScope scope(arena_);
    const Workspace work(workspace_, &threads_);
    KeyGradients sums = begin_key_gradients(prepared_, shape_.heads * shape_.width, arena_);
    BackwardInputs in;
    in.queries = queries();
    in.d_context = by_row(d_context_);
    if (streams()) {
      in.context = by_row(context_);
      in.softmax_stats = stats();
    } else {
      in.weights = weights();
    }
    ScoreGradients out;
    out.d_query = by_row(d_query_);
    out.d_v = {d_v_.empty() ? nullptr : d_v_.data(), static_cast<Index>(d_v_.size())};
    attend_backward(prepared_, by_key(values_), in, sums, out, work);
    finish_key_gradients(prepared_, sums, {by_key(d_keys_), by_key(d_values_), {}}, work);
  }
  // Of the contexts of the first head of some rows, against plain loops in double.
  double largest_difference() {
    forward();
    const Index rows = std::min<Index>(4, shape_.batch * shape_.rows);
    double worst = 0.0;
    for (Index r = 0; r < rows; ++r) worst = std::max(worst, row_difference(r));
    return worst;
  }

 private:
  double row_difference(Index r) {
    const Index b = key_row_[static_cast<std::size_t>(r)], i = r / shape_.batch;
    const Index count = shape_.causal ? i + 1 : shape_.keys;
    std::vector<double> e(static_cast<std::size_t>(count));
    double sum = 0.0, worst = 0.0;
    for (Index j = 0; j < count; ++j) {
      double score = 0.0;
      for (Index a = 0; a < shape_.width; ++a) {
        const double q = static_cast<double>(by_row(query_)(r, a));
        const double k = static_cast<double>(by_key(keys_)(b * shape_.keys + j, a));
        score += shape_.kind == kAdditive
                     ? static_cast<double>(v_[static_cast<std::size_t>(a)]) * std::tanh(q + k)
                     : q * k;
      }
      if (shape_.kind == kScaled) score /= std::sqrt(static_cast<double>(shape_.width));
      sum += e[static_cast<std::size_t>(j)] = std::exp(score);
    }
    for (Index d = 0; d < shape_.width; ++d) {
      double c = 0.0;
      for (Index j = 0; j < count; ++j) {
        c += e[static_cast<std::size_t>(j)] / sum *
             static_cast<double>(by_key(values_)(b * shape_.keys + j, d));
      }
      worst = std::max(worst, std::fabs(c - static_cast<double>(by_row(context_)(r, d))));
    }
    return worst;
  }

  bool streams() const { return prepared_.attention.streams(); }
  Matrix by_row(std::vector<float>& x) {
    return {x.data(), shape_.batch * shape_.rows, shape_.heads * shape_.width};
  }
  Matrix by_key(std::vector<float>& x) {
    return {x.data(), shape_.batch * shape_.keys, shape_.heads * shape_.width};
  }
  Matrix weights() {
    return {weights_.data(), shape_.batch * shape_.rows * shape_.heads, shape_.keys};
  }
  Matrix stats() { return {stats_.data(), shape_.batch * shape_.rows * shape_.heads, 2}; }
  QueryRows queries() { return {by_row(query_), key_row_.data()}; }

  Shape shape_;
  Threads& threads_;
  std::vector<Index> key_row_, length_;
  std::vector<float> query_, keys_, values_, v_, d_context_;
  std::vector<float> context_, weights_, stats_, d_query_, d_keys_, d_values_, d_v_;
  Arena arena_, workspace_;
  PreparedKeys prepared_;
};

struct Time {
  double best = 1e9, median = 0.0;
};
template <class Fn>
Time measure(double budget_s, Fn fn) {
  std::vector<double> runs;
  const double end = seconds() + budget_s;
  fn();
  do {
    const double start = seconds();
    fn();
    runs.push_back(seconds() - start);
  } while (seconds() < end || runs.size() < 3);
  std::sort(runs.begin(), runs.end());
  return {runs.front(), runs[runs.size() / 2]};
}

struct Options {
  int threads = 1;
  double budget_s = 0.5;
  bool json = false;
  bool list = false;  // the numbers of the shapes, nothing else
  int only = -1;      // the shape of this number
  std::string part;
};

// Of all threads at once, 10^9 flops a second.
double peak_gflops(Threads& threads) {
  std::vector<double> each(static_cast<std::size_t>(threads.count()));
  threads.run(threads.count(), [&](Index i, int) {
    each[static_cast<std::size_t>(i)] = measure_fma_peak_gflops(0.1);
  });
  double sum = 0.0;
  for (const double x : each) sum += x;
  return sum;
}

struct Result {
  Time forward, backward;
  double peak = 0.0, difference = 0.0;
};

void print_json(const Shape& s, const Result& r, const Options& o) {
  std::printf(
      "{\"name\": \"%s\", \"additive\": %d, \"batch\": %d, \"rows\": %d, \"keys\": %d, "
      "\"width\": %d, \"heads\": %d, \"causal\": %d, \"step\": %d, \"threads\": %d, "
      "\"peak_gflops\": %.1f, \"forward_s\": %.9f, \"forward_median_s\": %.9f, "
      "\"backward_s\": %.9f, \"backward_median_s\": %.9f, \"difference\": %.2e}\n",
      s.name, s.kind == kAdditive, static_cast<int>(s.batch), static_cast<int>(s.rows),
      static_cast<int>(s.keys), static_cast<int>(s.width), static_cast<int>(s.heads), s.causal,
      s.decode, o.threads, r.peak, r.forward.best, r.forward.median,
      s.decode ? 0.0 : r.backward.best, r.backward.median, r.difference);
}

// Slots for the additive score, else the share of the peak.
void print_cost(const char* what, const Shape& s, const Time& t, const Result& r, double flops) {
  const double pairs = static_cast<double>(s.batch * s.rows * s.keys * s.heads * s.width);
  if (s.kind == kAdditive) {
    std::printf("  %s %6.2f slots", what, t.best * 0.5e9 * r.peak / pairs);
  } else {
    std::printf("  %s %5.1f %% peak", what,
                100.0 * flops * pairs * (s.causal ? 0.5 : 1.0) / t.best / (1e9 * r.peak));
  }
  std::printf(" %9.1f us (%.1f)", t.best * 1e6, t.median * 1e6);
}

void print_line(const Shape& s, const Result& r) {
  std::printf("%-24s B %3d N %d T %4d S %4d D %3d", s.name, static_cast<int>(s.batch),
              static_cast<int>(s.heads), static_cast<int>(s.rows), static_cast<int>(s.keys),
              static_cast<int>(s.width));
  print_cost("forward", s, r.forward, r, 4.0);
  if (!s.decode) print_cost("backward", s, r.backward, r, 10.0);
  if (!s.decode && s.kind == kAdditive) {
    const double ends = 14.0 / static_cast<double>(s.rows) + 14.0 / static_cast<double>(s.keys);
    std::printf("  aim %5.2f %5.2f", 1.15 * (7.5 + ends), 1.15 * (14.0 + ends));
  }
  std::printf("  difference %.1e\n", r.difference);
  std::fflush(stdout);
}

void run(const Shape& s, const Options& o, Threads& threads) {
  Problem problem(s, threads);
  Result r;
  r.difference = problem.largest_difference();
  r.peak = peak_gflops(threads);
  r.forward = measure(o.budget_s, [&] {
    if (!s.decode) problem.prepare();
    problem.forward();
  });
  if (!s.decode) r.backward = measure(o.budget_s, [&] { problem.backward(); });
  o.json ? print_json(s, r, o) : print_line(s, r);
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const char* next = i + 1 < argc ? argv[i + 1] : "";
    if (arg == "--json") {
      o.json = true;
    } else if (arg == "--list") {
      o.list = true;
    } else if (arg == "--only") {
      o.only = std::atoi(next), ++i;
    } else if (arg == "--threads") {
      o.threads = std::max(1, std::atoi(next)), ++i;
    } else if (arg == "--seconds") {
      o.budget_s = std::atof(next), ++i;
    } else if (arg == "--isa") {
      for (int n = 0; n < kIsaCount; ++n) {
        if (isa_name(static_cast<Isa>(n)) == next) set_isa(static_cast<Isa>(n));
      }
      ++i;
    } else {
      o.part = arg;
    }
  }
  return o;
}

}  // namespace
}  // namespace regard::attention

int main(int argc, char** argv) {
  using namespace regard;
  try {
    const attention::Options o = attention::parse(argc, argv);
    Threads threads(o.threads);
    if (!o.json && !o.list) {
      std::printf("%s, %d threads, best (median) times\n", std::string(executed_isa()).c_str(),
                  o.threads);
    }
    int number = -1;
    for (const attention::Shape& s : attention::kShapes) {
      ++number;
      if (std::string(s.name).find(o.part) == std::string::npos) continue;
      if (o.only >= 0 && o.only != number) continue;
      if (o.list) {
        std::printf("%d\n", number);
      } else {
        attention::run(s, o, threads);
      }
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "attention_bench: %s\n", error.what());
    return 2;
  }
  return 0;
}

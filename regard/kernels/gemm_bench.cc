// The matrix product at the shapes of training, against dnnl_sgemm (where it was found) and against
// the peak measured in the same run. One thread; ours and the peer take turns.
//
//   gemm_bench [INSTRUCTION_SET [SECONDS_PER_SHAPE [SHAPE_SUBSTRING]]]
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "regard/base/error.h"
#include "regard/kernels/gemm.h"
#include "regard/kernels/isa.h"
#include "regard/kernels/peak.h"

#ifdef REGARD_HAVE_DNNL
#include <dnnl.h>
#endif

namespace regard {
namespace {

enum class Kind {
  kPacked,  // gemm(), B packed before
  kAB,      // packing timed, as in the next two
  kABt,
  kAtB,
};

struct Shape {
  const char* name;
  Kind kind;
  Index m, n, k;
};

const Shape kShapes[] = {
    {"step 512", Kind::kPacked, 1, 1536, 512},
    {"step 512", Kind::kPacked, 2, 1536, 512},
    {"step 512", Kind::kPacked, 3, 1536, 512},
    {"step 512", Kind::kPacked, 4, 1536, 512},
    {"step 512", Kind::kPacked, 5, 1536, 512},
    {"step 512", Kind::kPacked, 6, 1536, 512},
    {"step 512", Kind::kPacked, 8, 1536, 512},
    {"step 512", Kind::kPacked, 11, 1536, 512},
    {"step 512", Kind::kPacked, 16, 1536, 512},
    {"step 512", Kind::kPacked, 17, 1536, 512},
    {"step 512", Kind::kPacked, 25, 1536, 512},
    {"step 512", Kind::kPacked, 35, 1536, 512},
    {"step 512", Kind::kPacked, 64, 1536, 512},
    {"step 512", Kind::kPacked, 130, 1536, 512},
    {"step 256", Kind::kPacked, 1, 768, 256},
    {"step 256", Kind::kPacked, 4, 768, 256},
    {"step 256", Kind::kPacked, 7, 768, 256},
    {"step 256", Kind::kPacked, 16, 768, 256},
    {"step 256", Kind::kPacked, 35, 768, 256},
    {"step 256", Kind::kPacked, 64, 768, 256},
    {"step 128", Kind::kPacked, 1, 384, 128},
    {"step 128", Kind::kPacked, 4, 384, 128},
    {"step 128", Kind::kPacked, 7, 384, 128},
    {"step 128", Kind::kPacked, 16, 384, 128},
    {"step 128", Kind::kPacked, 35, 384, 128},
    {"step 128", Kind::kPacked, 64, 384, 128},
    {"input products", Kind::kABt, 1800, 1536, 256},
    {"input products, packed", Kind::kPacked, 1800, 1536, 256},
    {"vocabulary", Kind::kABt, 1800, 5900, 256},
    {"vocabulary", Kind::kABt, 450, 5900, 512},
    {"vocabulary, packed", Kind::kPacked, 450, 5900, 512},
    {"weight gradient", Kind::kAtB, 512, 1536, 1800},
    {"weight gradient", Kind::kAtB, 1536, 512, 1800},
    {"weight gradient", Kind::kAtB, 1536, 256, 1800},
    {"weight gradient", Kind::kAtB, 512, 1536, 450},
    {"weight gradient", Kind::kAtB, 256, 1536, 450},
    {"weight gradient", Kind::kAtB, 5900, 512, 1800},
    {"weight gradient", Kind::kAtB, 5900, 512, 450},
    {"input gradient", Kind::kAB, 64, 512, 1536},
    {"input gradient, packed", Kind::kPacked, 64, 512, 1536},
    {"input gradient", Kind::kAB, 1800, 256, 1536},
    {"input gradient", Kind::kAB, 450, 512, 5900},
};

double clock_s(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Times {
  std::vector<double> all;
  double best() const { return *std::min_element(all.begin(), all.end()); }
  double median() {
    std::nth_element(all.begin(), all.begin() + static_cast<long>(all.size() / 2), all.end());
    return all[all.size() / 2];
  }
};

// Operands of one shape, in memory of their own.
struct Operands {
  explicit Operands(const Shape& s)
      : shape(s), a(s.m * s.k), b(s.k * s.n), c(s.m * s.n), packed_memory(packed_size(s.k, s.n)) {
    std::uint64_t state = 1;
    for (const Buffer<float>* x : {&a, &b}) {
      for (float& v : x->view()) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        v = static_cast<float>(static_cast<std::int32_t>(state >> 32)) * 0x1p-31f;
      }
    }
    packed = s.kind == Kind::kABt ? pack_transposed(b_view(), packed_memory.data())
                                  : pack(b_view(), packed_memory.data());
  }
  ConstMatrix a_view() const {
    return shape.kind == Kind::kAtB ? ConstMatrix(a.data(), shape.k, shape.m)
                                    : ConstMatrix(a.data(), shape.m, shape.k);
  }
  ConstMatrix b_view() const {
    return shape.kind == Kind::kABt ? ConstMatrix(b.data(), shape.n, shape.k)
                                    : ConstMatrix(b.data(), shape.k, shape.n);
  }
  Matrix c_view() { return {c.data(), shape.m, shape.n}; }

  Shape shape;
  Buffer<float> a, b, c;
  Buffer<float> packed_memory;
  PackedMatrix packed;
  Arena arena;
};

void run_ours(Operands& o) {
  switch (o.shape.kind) {
    case Kind::kPacked:
      return gemm(o.a_view(), o.packed, ChainStart::kZero, {}, o.c_view());
    case Kind::kAB:
      return gemm_a_b(o.a_view(), o.b_view(), ChainStart::kZero, o.c_view(), o.arena);
    case Kind::kABt:
      return gemm_a_bt(o.a_view(), o.b_view(), ChainStart::kZero, o.c_view(), o.arena);
    case Kind::kAtB:
      return gemm_at_b(o.a_view(), o.b_view(), ChainStart::kContinue, o.c_view(), o.arena);
  }
}

void run_peer(Operands& o) {
#ifdef REGARD_HAVE_DNNL
  const ConstMatrix a = o.a_view(), b = o.b_view();
  const Shape& s = o.shape;
  dnnl_sgemm(s.kind == Kind::kAtB ? 'T' : 'N', s.kind == Kind::kABt ? 'T' : 'N', s.m, s.n, s.k,
             1.0f, a.data, a.stride, b.data, b.stride, s.kind == Kind::kAtB ? 1.0f : 0.0f,
             o.c.data(), s.n);
#else
  static_cast<void>(o);
#endif
}

// Long work is timed by the processor time of this thread, because other programs take turns with
// us; short work by the clock on the wall, which is cheaper to ask.
double seconds_of(void (*product)(Operands&), Operands& o, int group, bool is_long) {
  const clockid_t id = is_long ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  const double from = clock_s(id);
  for (int i = 0; i < group; ++i) product(o);
  return (clock_s(id) - from) / group;
}

// The largest difference from plain loops, on a few rows spread over C.
double largest_difference(Operands& o) {
  const Shape& s = o.shape;
  o.c.fill_zero();
  run_ours(o);
  const ConstMatrix a = o.a_view(), b = o.b_view();
  double worst = 0.0;
  for (Index i = 0; i < s.m; i += std::max<Index>(1, s.m / 5)) {
    for (Index j = 0; j < s.n; ++j) {
      float sum = 0.0f;
      for (Index k = 0; k < s.k; ++k) {
        sum = std::fma(s.kind == Kind::kAtB ? a(k, i) : a(i, k),
                       s.kind == Kind::kABt ? b(j, k) : b(k, j), sum);
      }
      worst = std::max(worst, std::fabs(static_cast<double>(sum) - o.c_view()(i, j)));
    }
  }
  return worst;
}

void measure(const Shape& s, double seconds, double peak) {
  static const char* const kKinds[] = {"packed", "A B", "A B^T", "A^T B"};
  Operands o(s);
  const double difference = largest_difference(o);
  const double gflop = 2e-9 * static_cast<double>(s.m) * static_cast<double>(s.n * s.k);
  run_peer(o);
  run_ours(o);
  // Short products are timed in groups, so that the clock itself is not in the figure.
  const int group = std::max(1, static_cast<int>(1e-4 / (gflop / peak)));
  const bool is_long = gflop / peak > 5e-4;
  Times ours, peer;
  double spent = 0.0;
  while (spent < seconds || ours.all.size() < 5) {
    ours.all.push_back(seconds_of(run_ours, o, group, is_long));
    peer.all.push_back(seconds_of(run_peer, o, group, is_long));
    spent += (ours.all.back() + peer.all.back()) * group;
  }
  const double best = gflop / ours.best();
#ifdef REGARD_HAVE_DNNL
  const double peer_best = gflop / peer.best(), peer_median = gflop / peer.median();
#else
  const double peer_best = std::nan(""), peer_median = std::nan("");
#endif
  std::printf("%-23s %-6s %5d %5d %5d %8.1f %8.1f %8.1f %8.1f %6.2f %6.2f %9.2g\n", s.name,
              kKinds[static_cast<int>(s.kind)], static_cast<int>(s.m), static_cast<int>(s.n),
              static_cast<int>(s.k), best, gflop / ours.median(), peer_best, peer_median,
              best / peer_best, best / peak, difference);
  std::fflush(stdout);
}

// One thread, and no wider instructions than ours.
void hold_back_peer() {
#ifdef REGARD_HAVE_DNNL
  if (current_isa() == Isa::kAvx2) dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
  if (current_isa() == Isa::kSse4) dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41);
#endif
  // The peer's thread pool, if it has one, is asked by name: we do not link it ourselves.
  if (void* f = dlsym(RTLD_DEFAULT, "omp_set_num_threads")) reinterpret_cast<void (*)(int)>(f)(1);
}

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

int run(int argc, char** argv) {
  for (int i = 0; i < kIsaCount && argc > 1; ++i) {
    if (isa_name(static_cast<Isa>(i)) == argv[1]) set_isa(static_cast<Isa>(i));
  }
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.3;
  hold_back_peer();
  const double peak = measure_fma_peak_gflops(0.3);
  std::printf("%s, %s, 1 thread, peak %.1f GFLOP/s; peer dnnl_sgemm\n", processor().c_str(),
              std::string(executed_isa()).c_str(), peak);
  std::printf("%-23s %-6s %5s %5s %5s %8s %8s %8s %8s %6s %6s %9s\n", "product", "form", "M", "N",
              "K", "best", "median", "peer", "median", "ratio", "share", "max diff");
  for (const Shape& s : kShapes) {
    if (argc > 3 && std::string(s.name).find(argv[3]) == std::string::npos) continue;
    measure(s, seconds, peak);
  }
  std::printf("peak at the end %.1f GFLOP/s\n", measure_fma_peak_gflops(0.3));
  return 0;
}

}  // namespace
}  // namespace regard

int main(int argc, char** argv) {
  try {
    return regard::run(argc, argv);
  } catch (const regard::Error& e) {
    std::fprintf(stderr, "gemm_bench: %s\n", e.what());
    return 2;
  }
}

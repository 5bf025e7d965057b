// The kernels around the matrix product: the recurrent layers and the output layer as a share of
// the fused-multiply-add peak measured in the same run (flops of their products alone), and what an
// element of the others costs, in nanoseconds and in slots: time x the peak's lanes.
//
//   layers_bench [INSTRUCTION_SET [SECONDS_PER_LINE]]
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "regard/base/random.h"
#include "regard/kernels/activations.h"
#include "regard/kernels/adam.h"
#include "regard/kernels/cross_entropy.h"
#include "regard/kernels/dropout.h"
#include "regard/kernels/gru.h"
#include "regard/kernels/isa.h"
#include "regard/kernels/lstm.h"
#include "regard/kernels/peak.h"
#include "regard/kernels/rows.h"

namespace regard {
namespace {

double g_peak_gflops = 0.0;
double g_seconds = 0.5;

// The thread's own time, so that neighbours on the machine do not count.
double now_s() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::vector<double> times_of(const std::function<void()>& work) {
  work();
  std::vector<double> times;
  const double end = now_s() + g_seconds;
  while (now_s() < end || times.size() < 3) {
    const double start = now_s();
    work();
    times.push_back(now_s() - start);
  }
  std::sort(times.begin(), times.end());
  return times;
}

void product_line(const char* name, double flops, const std::function<void()>& work) {
  const std::vector<double> t = times_of(work);
  const double median = t[t.size() / 2];
  std::printf("%-34s %9.3f ms  best %9.3f ms  %6.1f GFLOP/s  %5.1f %% of the peak\n", name,
              median * 1e3, t[0] * 1e3, flops / t[0] * 1e-9,
              100.0 * flops / t[0] * 1e-9 / g_peak_gflops);
}

void element_line(const char* name, double elements, const std::function<void()>& work) {
  const std::vector<double> t = times_of(work);
  const double median = t[t.size() / 2];
  std::printf("%-34s %9.3f ms  best %9.3f ms  %6.3f ns  %5.1f slots an element\n", name,
              median * 1e3, t[0] * 1e3, t[0] / elements * 1e9,
              t[0] / elements * 0.5e9 * g_peak_gflops);
}

Buffer<float> values(Index n, float size = 1.0f) {
  Buffer<float> b(n);
  for (Index i = 0; i < n; ++i) {
    const auto word = static_cast<std::uint32_t>(random_bits(7, static_cast<std::uint64_t>(i)));
    b[i] = size * (2.0f * uniform_float(word) - 1.0f);
  }
  return b;
}

// 64 sequences of lengths 30 down to 9, about as a batch of 1,200 tokens.
std::vector<Index> ragged_offsets() {
  std::vector<Index> offsets = {0};
  for (Index t = 0; t < 30; ++t) {
    offsets.push_back(offsets.back() + std::min<Index>(64, 64 - 3 * (t - 9)));
  }
  return offsets;
}

void gru_lines(Index width) {
  const std::vector<Index> offsets = ragged_offsets();
  const GruSequence sequence{{offsets.data(), static_cast<Index>(offsets.size()) - 1}, false, {}};
  const Index rows = sequence.packing.total(), gates = 3 * width;
  const Buffer<float> weights = values(gates * width, 0.05f), bias = values(gates);
  const Buffer<float> gi = values(rows * gates), d_h = values(rows * width);
  Buffer<float> packed(packed_size(width, gates)), packed_back(packed_size(gates, width));
  const ConstMatrix u(weights.data(), gates, width);
  const PackedMatrix forward = pack_transposed(u, packed.data());
  const PackedMatrix back = pack(u, packed_back.data());
  Buffer<float> h(rows * width), h_prev(rows * width), kept(rows * 4 * width);
  Buffer<float> d_gi(rows * gates), d_gh(rows * gates);
  Arena arena;
  const double flops = 2.0 * static_cast<double>(rows * gates * width);
  const std::string name = "GRU " + std::to_string(width) + ", " + std::to_string(rows) + " rows";
  product_line((name + ", forward").c_str(), flops, [&] {
    gru_sequence_forward(sequence, gi.matrix(rows, gates), forward, bias.view(),
                         h.matrix(rows, width), h_prev.matrix(rows, width),
                         kept.matrix(rows, 4 * width), arena);
  });
  product_line((name + ", backward").c_str(), flops, [&] {
    gru_sequence_backward(sequence, back, h_prev.matrix(rows, width), kept.matrix(rows, 4 * width),
                          d_h.matrix(rows, width), d_gi.matrix(rows, gates),
                          d_gh.matrix(rows, gates), {}, arena);
  });
  element_line("  GRU cell, forward", static_cast<double>(rows * width), [&] {
    gru_cell_forward(gi.matrix(rows, gates), d_gh.matrix(rows, gates), h_prev.matrix(rows, width),
                     h.matrix(rows, width), kept.matrix(rows, 4 * width));
  });
  element_line("  GRU cell, backward", static_cast<double>(rows * width), [&] {
    gru_cell_backward(kept.matrix(rows, 4 * width), h_prev.matrix(rows, width),
                      d_h.matrix(rows, width), d_gi.matrix(rows, gates), d_gh.matrix(rows, gates),
                      h.matrix(rows, width));
  });
}

void lstm_lines(Index width) {
  const std::vector<Index> offsets = ragged_offsets();
  const LstmSequence sequence{
      {offsets.data(), static_cast<Index>(offsets.size()) - 1}, false, {}, {}};
  const Index rows = sequence.packing.total(), gates = 4 * width;
  const Buffer<float> weights = values(gates * width, 0.05f), bias = values(gates);
  const Buffer<float> gi = values(rows * gates), d_h = values(rows * width);
  Buffer<float> packed(packed_size(width, gates)), packed_back(packed_size(gates, width));
  const ConstMatrix u(weights.data(), gates, width);
  const PackedMatrix forward = pack_transposed(u, packed.data());
  const PackedMatrix back = pack(u, packed_back.data());
  Buffer<float> h(rows * width), h_prev(rows * width), c(rows * width), c_prev(rows * width);
  Buffer<float> kept(rows * gates), d_gates(rows * gates);
  Arena arena;
  const double flops = 2.0 * static_cast<double>(rows * gates * width);
  const std::string name = "LSTM " + std::to_string(width) + ", " + std::to_string(rows) + " rows";
  product_line((name + ", forward").c_str(), flops, [&] {
    lstm_sequence_forward(sequence, gi.matrix(rows, gates), forward, bias.view(),
                          h.matrix(rows, width), h_prev.matrix(rows, width), c.matrix(rows, width),
                          c_prev.matrix(rows, width), kept.matrix(rows, gates), arena);
  });
  product_line((name + ", backward").c_str(), flops, [&] {
    lstm_sequence_backward(sequence, back, c.matrix(rows, width), c_prev.matrix(rows, width),
                           kept.matrix(rows, gates), d_h.matrix(rows, width),
                           d_gates.matrix(rows, gates), {}, {}, arena);
  });
}

void cross_entropy_lines(Index rows, Index width, Index vocabulary) {
  const Buffer<float> weights = values(vocabulary * width, 0.05f), bias = values(vocabulary);
  const Buffer<float> t = values(rows * width);
  Buffer<float> packed(packed_size(width, vocabulary)), packed_back(packed_size(vocabulary, width));
  const ConstMatrix w(weights.data(), vocabulary, width);
  LinearCrossEntropy layer{pack_transposed(w, packed.data()), {}, bias.view(), 0.1f};
  const PackedMatrix back = pack(w, packed_back.data());
  std::vector<std::int32_t> target;
  for (Index r = 0; r < rows; ++r) target.push_back(static_cast<std::int32_t>(r % vocabulary));
  Buffer<float> log_prob(rows), loss(rows), d_t(rows * width), logits(rows * vocabulary);
  Buffer<float> d_w = Buffer<float>::zeros(vocabulary * width);
  Buffer<float> d_bias = Buffer<float>::zeros(vocabulary);
  Arena arena;
  const double flops = 2.0 * static_cast<double>(rows * width * vocabulary);
  const std::string name = "cross-entropy " + std::to_string(rows) + " x " + std::to_string(width) +
                           " x " + std::to_string(vocabulary);
  const auto run = [&] {
    linear_cross_entropy(layer, t.matrix(rows, width), target.data(), log_prob.view(), loss.view(),
                         d_t.matrix(rows, width), d_w.matrix(vocabulary, width), d_bias.view(),
                         arena);
  };
  product_line((name + ", loss").c_str(), flops, run);
  layer.w_back = back;
  product_line((name + ", all").c_str(), 3.0 * flops, run);
  element_line("  log-softmax rows", static_cast<double>(rows * vocabulary),
               [&] { log_softmax_rows(logits.matrix(rows, vocabulary)); });
}

void element_lines() {
  constexpr Index kRows = 400, kCols = 512, kParameters = 4'000'000;
  const Buffer<float> x = values(kRows * kCols);
  Buffer<float> y = values(kRows * kCols);
  const auto count = static_cast<double>(kRows * kCols);
  const std::vector<std::uint64_t> keys(kRows, 5);
  const std::vector<std::uint32_t> positions(kRows, 3);
  const DropoutRows rows{keys.data(), positions.data()};
  element_line("tanh, forward", count,
               [&] { tanh_forward(x.matrix(kRows, kCols), y.matrix(kRows, kCols)); });
  element_line("dropout, forward", count, [&] {
    dropout_forward(x.matrix(kRows, kCols), rows, 0.2f, y.matrix(kRows, kCols));
  });
  element_line("rows added", count,
               [&] { add_rows(x.matrix(kRows, kCols), y.matrix(kRows, kCols)); });
  Buffer<float> sum = Buffer<float>::zeros(kCols);
  element_line("column sums", count, [&] { column_sums(x.matrix(kRows, kCols), sum.view()); });
  const Buffer<float> gradient = values(kParameters);
  Buffer<float> p = values(kParameters), m = Buffer<float>::zeros(kParameters);
  Buffer<float> v = Buffer<float>::zeros(kParameters);
  element_line("Adam", kParameters, [&] {
    adam_update({}, gradient.data(), p.data(), m.data(), v.data(), kParameters);
  });
  element_line("sum of squares", kParameters,
               [&] { g_seconds += 0.0 * sum_of_squares(gradient.data(), kParameters); });
}

int run(int argc, char** argv) {
  if (argc > 1) {
    for (int i = 0; i < kIsaCount; ++i) {
      if (isa_name(static_cast<Isa>(i)) == argv[1]) set_isa(static_cast<Isa>(i));
    }
  }
  if (argc > 2) g_seconds = std::atof(argv[2]);
  g_peak_gflops = measure_fma_peak_gflops(0.3);
  std::printf("%s, one thread, peak %.1f GFLOP/s\n", std::string(executed_isa()).c_str(),
              g_peak_gflops);
  for (const Index width : {128, 256, 512}) gru_lines(width);
  for (const Index width : {128, 512}) lstm_lines(width);
  cross_entropy_lines(1200, 512, 5900);
  cross_entropy_lines(1200, 128, 45);
  element_lines();
  return 0;
}

}  // namespace
}  // namespace regard

int main(int argc, char** argv) { return regard::run(argc, argv); }

// One check for every differentiable kernel. An op is a struct with two templates,
//   Buffers<T> forward<T>(const Buffers<T>& inputs)
//   void backward<T>(const Buffers<T>& inputs, const Buffers<T>& d_outputs, Buffers<T>& d_inputs)
// where float runs the kernel and double the plain-loop reference; backward accumulates.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "regard/base/random.h"
#include "regard/kernels/isa.h"
#include "regard/tensor/view.h"

namespace regard::test {

template <class T>
using Buffers = std::vector<std::vector<T>>;

// Around one, below and above the sixteen floats of a block, and several blocks with a rest.
inline const std::vector<Index> kLengths = {1, 15, 16, 17, 53};

// Uniform in [low, high), rounded to float; a function of `key` alone.
inline std::vector<double> random_values(Index n, std::uint64_t key, double low = -1.0,
                                         double high = 1.0) {
  std::vector<double> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = static_cast<double>(random_bits(key, i) >> 11) * 0x1p-53;
    x[i] = static_cast<float>(low + (high - low) * u);
  }
  return x;
}
inline std::vector<float> random_floats(Index n, std::uint64_t key, double low = -1.0,
                                        double high = 1.0) {
  const std::vector<double> x = random_values(n, key, low, high);
  return {x.begin(), x.end()};
}

// A matrix with three guard columns after each row, so that every kernel runs on strided rows and a
// write beyond a row is seen.
template <class T>
class Guarded {
 public:
  Guarded(Index rows, Index cols, const std::vector<T>& values = {})
      : rows_(rows), cols_(cols), data_(static_cast<std::size_t>(rows * (cols + 3)), kGuard) {
    for (std::size_t i = 0; i < values.size(); ++i) data_[at(i)] = values[i];
  }
  MatrixView<T> view() { return {data_.data(), rows_, cols_, cols_ + 3}; }
  MatrixView<const T> view() const { return {data_.data(), rows_, cols_, cols_ + 3}; }
  // Without the guards, which must have kept their value.
  std::vector<T> values() const {
    std::vector<T> out(static_cast<std::size_t>(rows_ * cols_));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = data_[at(i)];
    const auto guards = std::count(data_.begin(), data_.end(), kGuard);
    EXPECT_GE(guards, 3 * rows_) << "a kernel wrote beyond a row";
    return out;
  }
  void add_to(std::vector<T>& sum) const {
    const std::vector<T> own = values();
    for (std::size_t i = 0; i < own.size(); ++i) sum[i] += own[i];
  }

 private:
  static constexpr T kGuard = T(-7.25e5);
  std::size_t at(std::size_t i) const {
    const auto cols = static_cast<std::size_t>(cols_);
    return i / cols * (cols + 3) + i % cols;
  }
  Index rows_, cols_;
  std::vector<T> data_;
};

// Calls fn() once with each instruction set that this processor has, then goes back.
template <class Fn>
void on_each_isa(Fn fn) {
  const Isa before = current_isa();
  for (int i = 0; i < kIsaCount; ++i) {
    if (!has_isa(static_cast<Isa>(i))) continue;
    set_isa(static_cast<Isa>(i));
    fn();
  }
  set_isa(before);
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

// Calls fn() -> std::vector<float> with each instruction set; those with a fused multiply-add must
// agree to the bit.
template <class Fn>
void expect_same_bits_on_each_isa(Fn fn) {
  std::vector<float> want;
  on_each_isa([&] {
    if (current_isa() == Isa::kSse4) return;
    const std::vector<float> got = fn();
    if (want.empty()) want = got;
    EXPECT_TRUE(same_bits(got, want)) << executed_isa();
  });
}

template <class To, class From>
Buffers<To> convert(const Buffers<From>& from) {
  Buffers<To> to;
  for (const auto& b : from) to.emplace_back(b.begin(), b.end());
  return to;
}

inline double weighted_sum(const Buffers<double>& outputs, const Buffers<double>& weights) {
  double sum = 0.0;
  for (std::size_t b = 0; b < outputs.size(); ++b) {
    for (std::size_t i = 0; i < outputs[b].size(); ++i) sum += outputs[b][i] * weights[b][i];
  }
  return sum;
}

// "" or the first difference beyond `tolerance`, relative with a floor of the same size: inputs and
// outputs are of order 1, and what cancels is known to an absolute error only.
template <class T>
std::string compare(const std::string& what, const Buffers<T>& got, const Buffers<double>& want,
                    double tolerance) {
  if (got.size() != want.size()) return what + ": number of buffers";
  for (std::size_t b = 0; b < got.size(); ++b) {
    if (got[b].size() != want[b].size()) return what + ": size of buffer " + std::to_string(b);
    for (std::size_t i = 0; i < got[b].size(); ++i) {
      const double error = std::fabs(static_cast<double>(got[b][i]) - want[b][i]);
      if (!(error <= tolerance * (1.0 + std::fabs(want[b][i])))) {
        return what + ": buffer " + std::to_string(b) + " element " + std::to_string(i) + " is " +
               std::to_string(got[b][i]) + ", wanted " + std::to_string(want[b][i]);
      }
    }
  }
  return "";
}

// Central differences of the weighted sum in double, at up to 40 elements of each input.
template <class Op>
std::string check_reference_gradient(const Op& op, const Buffers<double>& inputs,
                                     const Buffers<double>& weights,
                                     const Buffers<double>& gradient) {
  constexpr double kStep = 1e-5;
  for (std::size_t b = 0; b < inputs.size(); ++b) {
    const std::size_t stride = inputs[b].size() / 40 + 1;
    for (std::size_t i = 0; i < inputs[b].size(); i += stride) {
      Buffers<double> moved = inputs;
      moved[b][i] = inputs[b][i] + kStep;
      const double above = weighted_sum(op.template forward<double>(moved), weights);
      moved[b][i] = inputs[b][i] - kStep;
      const double below = weighted_sum(op.template forward<double>(moved), weights);
      const double numeric = (above - below) / (2.0 * kStep);
      if (!(std::fabs(numeric - gradient[b][i]) <= 1e-7 * (1.0 + std::fabs(numeric)))) {
        return "reference gradient of input " + std::to_string(b) + " element " +
               std::to_string(i) + " is " + std::to_string(gradient[b][i]) +
               ", central differences give " + std::to_string(numeric);
      }
    }
  }
  return "";
}

// The kernel against the reference on each instruction set, forward and through a random weighted
// sum onto gradients that are not zero; the reference's gradients against central differences; and
// the bits of instruction sets against each other. Returns "" or what is wrong.
template <class Op>
std::string check_op(const Op& op, const Buffers<double>& inputs, double tolerance = 4e-6) {
  const Buffers<double> outputs = op.template forward<double>(inputs);
  Buffers<double> weights, start, zero;
  for (const auto& b : outputs) {
    weights.push_back(random_values(static_cast<Index>(b.size()), 71 + weights.size()));
  }
  for (const auto& b : inputs) {
    start.push_back(random_values(static_cast<Index>(b.size()), 171 + start.size()));
    zero.emplace_back(b.size(), 0.0);
  }
  Buffers<double> gradient = zero, total = start;
  op.template backward<double>(inputs, weights, gradient);
  op.template backward<double>(inputs, weights, total);
  std::string wrong = check_reference_gradient(op, inputs, weights, gradient);
  Buffers<float> first;
  on_each_isa([&] {
    if (!wrong.empty()) return;
    const std::string name(executed_isa());
    Buffers<float> results = op.template forward<float>(convert<float>(inputs));
    wrong = compare("forward on " + name, results, outputs, tolerance);
    if (!wrong.empty()) return;
    Buffers<float> grown = convert<float>(start);
    op.template backward<float>(convert<float>(inputs), convert<float>(weights), grown);
    wrong = compare("gradient on " + name, grown, total, tolerance);
    if (current_isa() == Isa::kSse4) return;
    results.insert(results.end(), grown.begin(), grown.end());
    if (first.empty()) first = results;
    for (std::size_t b = 0; b < results.size() && wrong.empty(); ++b) {
      if (!same_bits(results[b], first[b])) wrong = "bits differ on " + name;
    }
  });
  return wrong;
}

}  // namespace regard::test

// What the tests of the axes compare: outputs with the reference, gradients with its central
// differences, bits with bits. Each answers "" or the first thing that is wrong.
#pragma once

#include <cmath>
#include <cstring>
#include <string>

#include "regard/attention/axes_case_test_util.h"

namespace regard::attention::test {

// Numbers in [-1, 1) for every element of every output.
inline Numbers<float> random_output_gradients(const AxesCase& c, std::uint64_t seed) {
  Numbers<float> d = c.outputs<float>();
  for (std::size_t o = 0; o < d.size(); ++o) {
    for (std::size_t n = 0; n < d[o].size(); ++n) {
      const std::uint64_t bits = random_bits(mix(seed, o), n);
      d[o][n] = uniform_float(static_cast<std::uint32_t>(bits)) * 2.0f - 1.0f;
    }
  }
  return d;
}

// Nothing comes back to what was never a number: the log of no key.
inline void forget_rows_without_keys(const AxesCase& c, const Numbers<float>& out,
                                     Numbers<float>& d) {
  if (!c.has(kLse)) return;
  for (std::size_t n = 0; n < d[kLse].size(); ++n) {
    if (std::isinf(out[kLse][n])) d[kLse][n] = 0.0f;
  }
}

inline Numbers<float> filled_like_inputs(const AxesCase& c, float value) {
  Numbers<float> d;
  for (const auto& x : c.inputs()) d.emplace_back(x.size(), value);
  return d;
}

// Gradients of all inputs, added to `start`.
inline Numbers<float> gradients(const AxesCase& c, const Numbers<float>& in,
                                const Numbers<float>& d_out, float start = 0.0f,
                                Threads* threads = nullptr) {
  Numbers<float> d = filled_like_inputs(c, start);
  c.backward(in, d_out, {}, d, threads);
  return d;
}

// Relative, with a floor of the same size; infinities exactly.
inline bool near(double wanted, float got, double tolerance) {
  if (std::isinf(wanted) || std::isinf(got)) return static_cast<float>(wanted) == got;
  return std::fabs(wanted - static_cast<double>(got)) <= tolerance * (1.0 + std::fabs(wanted));
}
inline std::string differs(const std::string& what, std::size_t n, double wanted, float got) {
  return what + ", element " + std::to_string(n) + ": wanted " + std::to_string(wanted) + ", got " +
         std::to_string(got);
}

inline std::string wrong_outputs(const AxesCase& c, const Numbers<float>& got,
                                 double tolerance = 2e-5) {
  const Numbers<double> wanted = c.reference(c.inputs());
  for (std::size_t o = 0; o < kOutputs; ++o) {
    for (std::size_t n = 0; n < wanted[o].size(); ++n) {
      if (!near(wanted[o][n], got[o][n], tolerance)) {
        return differs(output_name(static_cast<int>(o)), n, wanted[o][n], got[o][n]);
      }
    }
  }
  return "";
}

// A central difference; `smooth` false where two steps disagree: a kink lies between.
inline double slope(const AxesCase& c, const Numbers<float>& d_out, std::size_t input,
                    std::size_t n, bool& smooth) {
  Numbers<double> in = c.inputs();
  const double x = in[input][n];
  const auto difference = [&](double step) {
    in[input][n] = x + step;
    const double above = c.loss(in, d_out);
    in[input][n] = x - step;
    return (above - c.loss(in, d_out)) / (2.0 * step);
  };
  const double coarse = difference(1e-4), fine = difference(1e-5);
  smooth = std::fabs(coarse - fine) <= 1e-4 * (1.0 + std::fabs(fine));
  return fine;
}

// `most`: of each input about so many elements are looked at, evenly spread.
inline std::string wrong_gradients(const AxesCase& c, const Numbers<float>& d_out,
                                   const Numbers<float>& d, std::size_t most = 1000,
                                   double tolerance = 1e-3) {
  int kinks = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    for (std::size_t n = 0; n < d[i].size(); n += d[i].size() / most + 1) {
      bool smooth = true;
      const double wanted = slope(c, d_out, i, n, smooth);
      kinks += !smooth;
      if (smooth && !near(wanted, d[i][n], tolerance)) {
        const std::string name = input_name(static_cast<int>(i));
        return differs("gradient of " + name, n, wanted, d[i][n]);
      }
    }
  }
  return kinks <= 12 ? "" : std::to_string(kinks) + " kinks";
}

// NaN equals NaN; all else by its bits.
inline bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}
inline std::string other_bits(const std::vector<float>& wanted, const std::vector<float>& got,
                              const std::string& what) {
  if (wanted.size() != got.size()) return what + ": another size";
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    if (!same(wanted[n], got[n])) {
      return differs(what, n, static_cast<double>(wanted[n]), got[n]);
    }
  }
  return "";
}
inline std::string other_outputs(const Numbers<float>& wanted, const Numbers<float>& got) {
  std::string wrong;
  for (std::size_t o = 0; o < wanted.size() && wrong.empty(); ++o) {
    wrong = other_bits(wanted[o], got[o], output_name(static_cast<int>(o)));
  }
  return wrong;
}
inline std::string other_gradients(const Numbers<float>& wanted, const Numbers<float>& got) {
  std::string wrong;
  for (std::size_t i = 0; i < wanted.size() && wrong.empty(); ++i) {
    wrong = other_bits(wanted[i], got[i],
                       std::string("gradient of ") + input_name(static_cast<int>(i)));
  }
  return wrong;
}

}  // namespace regard::attention::test

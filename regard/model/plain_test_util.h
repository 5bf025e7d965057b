// For tests: the recurrent cells of docs/models.md in double, from parameters by name.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "regard/autograd/parameters.h"

namespace regard::test {

using Plain = std::vector<double>;

// sum + W x.
inline Plain plain_product(const Parameters& p, const std::string& weight, const Plain& x,
                           Plain sum) {
  const Matrix w = p.value(p.find(weight));
  for (Index i = 0; i < w.rows; ++i) {
    for (Index k = 0; k < w.cols; ++k) {
      sum[static_cast<size_t>(i)] += static_cast<double>(w(i, k)) * x[static_cast<size_t>(k)];
    }
  }
  return sum;
}
inline Plain plain_vector(const Parameters& p, const std::string& name) {
  const ConstVector v = p.vector(p.find(name));
  return {v.begin(), v.end()};
}
inline Plain plain_tanh(Plain x) {
  for (double& v : x) v = std::tanh(v);
  return x;
}

struct PlainState {
  Plain h, c;
};

class PlainCell {
 public:
  PlainCell(const Parameters& p, std::string name, bool gru)
      : p_(p), name_(std::move(name)), gru_(gru) {}

  PlainState zeros() const {
    const Plain none(static_cast<size_t>(p_.info(p_.find(name_ + ".state")).cols), 0.0);
    return {none, none};
  }
  // W x + b over blocks of input.
  Plain input(const std::vector<std::pair<std::string, Plain>>& blocks) const {
    Plain gi = plain_vector(p_, name_ + ".input_bias");
    for (const auto& [block, x] : blocks) {
      gi = plain_product(p_, name_ + ".input." + block, x, gi);
    }
    return gi;
  }
  PlainState step(const Plain& gi, const PlainState& before) const {
    const Plain gh =
        plain_product(p_, name_ + ".state", before.h, plain_vector(p_, name_ + ".state_bias"));
    const size_t n = before.h.size();
    const auto gate = [&](size_t g, size_t i) {
      return 1.0 / (1.0 + std::exp(-(gi[g * n + i] + gh[g * n + i])));
    };
    PlainState after = before;
    for (size_t i = 0; i < n; ++i) {
      if (gru_) {
        const double z = gate(1, i);
        const double candidate = std::tanh(gi[2 * n + i] + gate(0, i) * gh[2 * n + i]);
        after.h[i] = (1.0 - z) * candidate + z * before.h[i];
      } else {
        after.c[i] =
            gate(1, i) * before.c[i] + gate(0, i) * std::tanh(gi[2 * n + i] + gh[2 * n + i]);
        after.h[i] = gate(3, i) * std::tanh(after.c[i]);
      }
    }
    return after;
  }

 private:
  const Parameters& p_;
  std::string name_;
  bool gru_;
};

}  // namespace regard::test

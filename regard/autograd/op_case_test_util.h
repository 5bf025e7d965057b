// One description per op of the tape, and the check that runs on it.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "regard/autograd/tape.h"
#include "regard/kernels/op_case_test_util.h"

namespace regard::test {

// What an op reads and how it is put on a tape.
struct OpCase {
  struct Input {
    Index rows, cols;
    double low = -1.0, high = 1.0;
    bool overwritten = false;  // its gradient is written, not added to (ops.h says which)
  };
  // Outputs whose gradients the check sets, and sums whose gradient the op itself starts with.
  struct Built {
    std::vector<Var> outputs;
    Vector loss;
  };
  using Build =
      std::function<Built(Tape&, const std::vector<Var>&, const std::vector<ParameterId>&)>;

  std::string name;
  std::vector<Input> inputs;
  std::vector<ParameterInfo> parameters;
  Build build;
  // Of a gradient against central differences of a float forward pass, relative with a floor of the
  // same size. Five points at steps of 1/32 leave about 1e-7 of truncation, and rounding of the
  // outputs is divided by the step.
  double tolerance = 5e-5;
};

// Values and gradients of one run, as plain numbers.
struct OpRun {
  Buffers<float> outputs;       // and the loss, if any, as the last
  Buffers<float> d_inputs;      // what backward added (or wrote)
  Buffers<float> d_parameters;  // what backward added
};

class OpCheck {
 public:
  explicit OpCheck(const OpCase& op) : op_(op) {
    for (const ParameterInfo& p : op.parameters) ids_.push_back(parameters_.add(p));
    parameters_.allocate();
    for (size_t i = 0; i < ids_.size(); ++i) {
      const Matrix w = parameters_.value(ids_[i]);
      const std::vector<float> x = random_floats(w.rows * w.cols, 31 + i);
      std::copy(x.begin(), x.end(), w.data);
    }
    parameters_.pack(threads_, true);
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const OpCase::Input& in = op.inputs[i];
      inputs_.push_back(random_floats(in.rows * in.cols, 61 + i, in.low, in.high));
    }
  }

  const Parameters& parameters() const { return parameters_; }

  // Forward, and backward when the tape records: through a random weighted sum of the outputs, onto
  // gradients that are not zero.
  OpRun run(Tape& tape) const {
    OpRun r;
    const std::vector<Var> in = make_inputs(tape);
    if (tape.recording()) fill_start(tape, in);
    const OpCase::Built built = op_.build(tape, in, ids_);
    for (const Var& y : built.outputs) r.outputs.push_back(numbers(y.value));
    r.outputs.emplace_back(built.loss.begin(), built.loss.end());
    if (!tape.recording()) return r;
    for (size_t i = 0; i < built.outputs.size(); ++i) {
      const Matrix d = built.outputs[i].grad;
      const std::vector<float> w = weights(i, d.rows * d.cols);
      for (Index k = 0; k < d.rows * d.cols; ++k)
        d(k / d.cols, k % d.cols) += w[static_cast<size_t>(k)];
    }
    tape.backward();
    for (size_t i = 0; i < in.size(); ++i) {
      std::vector<float> d = numbers(in[i].grad);
      if (!op_.inputs[i].overwritten) take_start(d, i);
      r.d_inputs.push_back(d);
    }
    for (size_t i = 0; i < ids_.size(); ++i) {
      std::vector<float> d = numbers(tape.gradients().matrix(ids_[i]));
      take_start(d, 100 + i);
      r.d_parameters.push_back(d);
    }
    return r;
  }

  // "" or the first gradient that central differences don't confirm.
  std::string check_gradients(const OpRun& got) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const std::string wrong =
          check_buffer("input " + std::to_string(i), inputs_[i].data(), got.d_inputs[i]);
      if (!wrong.empty()) return wrong;
    }
    for (size_t i = 0; i < ids_.size(); ++i) {
      const std::string wrong = check_buffer(op_.parameters[i].name,
                                             parameters_.value(ids_[i]).data, got.d_parameters[i]);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  static std::vector<float> numbers(ConstMatrix m) {
    std::vector<float> out;
    for (Index r = 0; r < m.rows; ++r) out.insert(out.end(), m.row(r), m.row(r) + m.cols);
    return out;
  }
  static std::vector<float> weights(size_t output, Index n) {
    return random_floats(n, 500 + output);
  }
  // Multiples of 1/4, so that taking them away again costs no more than one rounding.
  static std::vector<float> start(size_t key, Index n) {
    std::vector<float> x = random_floats(n, 900 + key);
    for (float& v : x) v = std::round(4.0f * v) / 4.0f + 0.125f;
    return x;
  }
  static void take_start(std::vector<float>& d, size_t key) {
    const std::vector<float> s = start(key, static_cast<Index>(d.size()));
    for (size_t k = 0; k < d.size(); ++k) d[k] -= s[k];
  }
  std::vector<Var> make_inputs(Tape& tape) const {
    std::vector<Var> in;
    for (size_t i = 0; i < op_.inputs.size(); ++i) {
      in.push_back(tape.make(op_.inputs[i].rows, op_.inputs[i].cols));
      std::copy(inputs_[i].begin(), inputs_[i].end(), in.back().value.data);
    }
    return in;
  }
  void fill_start(Tape& tape, const std::vector<Var>& in) const {
    for (size_t i = 0; i < in.size(); ++i) {
      const std::vector<float> s = start(i, in[i].rows() * in[i].cols());
      std::copy(s.begin(), s.end(), in[i].grad.data);
    }
    for (size_t i = 0; i < ids_.size(); ++i) {
      const Matrix d = tape.gradients().matrix(ids_[i]);
      const std::vector<float> s = start(100 + i, d.rows * d.cols);
      std::copy(s.begin(), s.end(), d.data);
    }
  }
  double weighted_sum() {
    parameters_.pack(threads_, true);
    scratch_.reset();
    const OpRun r = run(scratch_);
    double sum = 0.0;
    for (size_t i = 0; i + 1 < r.outputs.size(); ++i) {
      const std::vector<float> w = weights(i, static_cast<Index>(r.outputs[i].size()));
      for (size_t k = 0; k < w.size(); ++k) sum += static_cast<double>(w[k]) * r.outputs[i][k];
    }
    for (float x : r.outputs.back()) sum += x;
    return sum;
  }
  // At up to 60 elements.
  std::string check_buffer(const std::string& what, float* x, const std::vector<float>& gradient) {
    constexpr float kStep = 0x1p-5f;
    const size_t stride = gradient.size() / 60 + 1;
    for (size_t k = 0; k < gradient.size(); k += stride) {
      const float saved = x[k];
      const auto at = [&](float steps) {
        x[k] = saved + steps * kStep;
        return weighted_sum();
      };
      const double near = at(1) - at(-1), far = at(2) - at(-2);
      x[k] = saved;
      const double numeric = (8.0 * near - far) / (12.0 * static_cast<double>(kStep));
      if (!(std::fabs(numeric - static_cast<double>(gradient[k])) <=
            op_.tolerance * (1.0 + std::fabs(numeric)))) {
        return "gradient of " + what + " element " + std::to_string(k) + " is " +
               std::to_string(gradient[k]) + ", central differences give " +
               std::to_string(numeric);
      }
    }
    parameters_.pack(threads_, true);
    return "";
  }

  const OpCase op_;
  Threads threads_;
  Parameters parameters_;
  std::vector<ParameterId> ids_;
  Buffers<float> inputs_;
  Tape scratch_{parameters_, nullptr};
};

inline bool same_bits(const OpRun& a, const OpRun& b) {
  const auto same = [](const Buffers<float>& x, const Buffers<float>& y) {
    return x.size() == y.size() &&
           std::equal(x.begin(), x.end(), y.begin(),
                      [](const auto& p, const auto& q) { return same_bits(p, q); });
  };
  return same(a.outputs, b.outputs) && same(a.d_inputs, b.d_inputs) &&
         same(a.d_parameters, b.d_parameters);
}

// "" or what is wrong: gradients against central differences; the same bits when the tape is used
// again, on a second tape, without recording, and on every instruction set.
inline std::string check_case(const OpCase& op) {
  OpCheck check(op);
  Gradients gradients(check.parameters()), others(check.parameters());
  Tape tape(check.parameters(), &gradients), second(check.parameters(), &others),
      plain(check.parameters(), nullptr);
  const OpRun first = check.run(tape);
  if (!same_bits(first, check.run(second))) return op.name + ": another tape gives other bits";
  tape.reset();
  if (!same_bits(first, check.run(tape))) return op.name + ": a tape used again gives other bits";
  OpRun values = check.run(plain);
  values.d_inputs = first.d_inputs;
  values.d_parameters = first.d_parameters;
  if (!same_bits(first, values)) return op.name + ": without recording the values differ";
  std::string wrong;
  on_each_isa([&] {
    if (current_isa() == Isa::kSse4 || !wrong.empty()) return;
    tape.reset();
    if (!same_bits(first, check.run(tape)))
      wrong = op.name + ": bits differ on " + std::string(executed_isa());
  });
  if (wrong.empty()) wrong = check.check_gradients(first);
  return wrong.empty() ? "" : op.name + ": " + wrong;
}

}  // namespace regard::test

// The tape: values forward, gradients backward.
//
// A flat list of coarse operations in an arena. An op checks shapes, asks the tape for its outputs,
// calls x_forward, and records one closure that calls x_backward for all its inputs. Gradients
// accumulate. Backward is one reverse loop. With recording off the same calls are inference and the
// tape is no more than an arena.
#pragma once

#include <new>
#include <type_traits>
#include <vector>

#include "regard/autograd/parameters.h"
#include "regard/kernels/packing.h"
#include "regard/tensor/arena.h"

namespace regard {

// A value and its gradient, both in the tape's arena (or in a model, for constants). `grad.data` is
// null when nothing is recorded or the value needs no gradient. A slice is another Var into the
// same memory.
struct Var {
  Matrix value;
  Matrix grad;

  Index rows() const { return value.rows; }
  Index cols() const { return value.cols; }
  bool empty() const { return value.data == nullptr; }
  Var rows_at(Index first, Index count) const {
    return {value.row_slice(first, count), grad.data ? grad.row_slice(first, count) : Matrix{}};
  }
  Var cols_at(Index first, Index count) const {
    return {value.col_slice(first, count), grad.data ? grad.col_slice(first, count) : Matrix{}};
  }
};

class Loop;

// One shard's forward and backward. Not thread-safe; several tapes at once are independent.
class Tape {
 public:
  // `gradients` null: recording off. Both outlive the tape.
  Tape(const Parameters& parameters, Gradients* gradients)
      : parameters_(&parameters), gradients_(gradients) {}
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  bool recording() const { return gradients_ != nullptr; }
  const Parameters& parameters() const { return *parameters_; }
  Gradients& gradients() const { return *gradients_; }
  // Values, gradients and what backward needs; valid until reset().
  Arena& arena() { return arena_; }
  // Scratch of one op; rewound by the op.
  Arena& scratch() { return scratch_; }
  // The loop that is being recorded or none.
  Loop* loop() const { return loop_; }

  // A new value [rows, cols], not initialised, with a zero gradient when recording.
  Var make(Index rows, Index cols);
  // A value without gradient.
  static Var constant(Matrix value) { return {value, {}}; }

  // Runs at backward(), in reverse order of recording. `fn` must be trivially destructible (views
  // and numbers).
  template <class Fn>
  void record(const Fn& fn) {
    static_assert(std::is_trivially_destructible_v<Fn>);
    if (!recording()) return;
    struct Holder {
      Node node;
      Fn fn;
    };
    void* place = arena_.allocate(sizeof(Holder));
    last_ = &(new (place) Holder{{last_, [](Node* n) { reinterpret_cast<Holder*>(n)->fn(); }}, fn})
                 ->node;
  }

  // Runs the closures. The gradients of the outputs have been set by the caller or by a loss op.
  void backward();
  // Forgets everything; the memory is kept for the next use.
  void reset();

 private:
  friend class Loop;
  struct Node {
    Node* previous;
    void (*run)(Node*);
  };
  const Parameters* parameters_;
  Gradients* gradients_;
  Arena arena_, scratch_;
  Node* last_ = nullptr;
  Loop* loop_ = nullptr;
};

// A loop over packed steps. While it is open, parameter products keep their input rows and
// output-gradient rows in step-major buffers, and each weight's gradient is one product over all
// rows when backward leaves the loop.
//
//   Loop loop(tape, packing);
//   for (Index t = 0; t < packing.steps; ++t) { loop.begin_step(t); ... linear(tape, x, w, b) ... }
//   loop.end();
class Loop {
 public:
  Loop(Tape& tape, const Packing& packing);
  ~Loop() { end(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void begin_step(Index t) {
    step_ = t;
    next_site_ = 0;
  }
  void end() {
    if (tape_.loop_ == this) tape_.loop_ = nullptr;
  }

  // One parameter product of the loop's body: all its rows.
  struct Site {
    Matrix inputs;     // [total rows, in]
    Matrix d_outputs;  // [total rows, out]
    ParameterId weight, bias;
    Site* next;
  };
  // The site of the next product in this step, made at its first step. Products come in the same
  // order in every step; which ones a step runs must not depend on the step (a later step may be
  // shorter in rows, not in products).
  Site& next_site(ParameterId weight, ParameterId bias);
  // First packed row and row count of the step.
  Index first_row() const { return packing_.offsets[step_]; }
  Index row_count() const { return packing_.rows(step_); }

 private:
  Tape& tape_;
  Packing packing_;
  Index step_ = 0;
  std::size_t next_site_ = 0;
  std::vector<Site*> sites_;
  Site** chain_ = nullptr;  // in the arena: the list that the closing closure walks
};

}  // namespace regard

// The trainable numbers of a model: one block of values, named matrices in it, and gradient blocks
// of the same layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "regard/base/threads.h"
#include "regard/kernels/gemm.h"
#include "regard/tensor/buffer.h"

namespace regard {

// Index of a parameter; -1 means none (a layer without it).
struct ParameterId {
  int index = -1;
  explicit operator bool() const { return index >= 0; }
};

// Start values, keyed by (seed, parameter name), so that they don't depend on the order of
// construction.
enum class Init {
  kZero,
  kOne,
  kGlorot,             // uniform in +-sqrt(6 / (rows + cols)), rows counted per gate
  kEmbedding,          // uniform in +-1; tied to the output layer, +-sqrt(3 / cols): unit logits
  kOrthogonalPerGate,  // each square block of rows an orthogonal matrix
  kForgetGateOne,      // LSTM bias i,f,g,o: the second quarter is 1
};

enum class Use {
  kVector,           // [1, n]: a bias, or the v of additive attention
  kProduct,          // [out, in]: y = x W^T; packed for both directions
  kTable,            // [V, E]: rows are looked up
  kTableAndProduct,  // an embedding that is tied to the output layer
};

struct ParameterInfo {
  std::string name;
  Index rows = 0;
  Index cols = 0;
  Use use = Use::kVector;
  Init init = Init::kZero;
  int gates = 1;     // how many equal row blocks the matrix stacks
  Index offset = 0;  // floats from the start of the block; a multiple of 16
};

// Owns the values. The layout is fixed by the add() calls; allocate() ends them.
class Parameters {
 public:
  // Throws ConfigError when the name is taken.
  ParameterId add(ParameterInfo info);
  // Values are zero afterwards.
  void allocate();
  // Start values of every parameter.
  void initialise(std::uint64_t seed);

  int count() const { return static_cast<int>(infos_.size()); }
  const ParameterInfo& info(ParameterId id) const { return infos_[static_cast<size_t>(id.index)]; }
  const std::vector<ParameterInfo>& infos() const { return infos_; }
  // -1 when no parameter has the name.
  ParameterId find(std::string_view name) const;
  // Floats of the whole block, padding between parameters included (the padding is always zero).
  Index size() const { return size_; }
  float* data() const { return values_.data(); }

  Matrix value(ParameterId id) const {
    const ParameterInfo& p = info(id);
    return {values_.data() + p.offset, p.rows, p.cols};
  }
  ConstVector vector(ParameterId id) const {
    if (!id) return {};
    const ParameterInfo& p = info(id);
    return {values_.data() + p.offset, p.rows * p.cols};
  }

  // Rebuilds the packed forms from the values; to be called after every change of them.
  // `for_training` also packs the form that input gradients need.
  void pack(Threads& threads, bool for_training);
  // y = x W^T.
  const PackedMatrix& packed(ParameterId id) const {
    return packed_[static_cast<size_t>(id.index)].forward;
  }
  // d_x = d_y W. Null data unless packed for training.
  const PackedMatrix& packed_back(ParameterId id) const {
    return packed_[static_cast<size_t>(id.index)].backward;
  }

 private:
  struct Packs {
    PackedMatrix forward, backward;
  };
  std::vector<ParameterInfo> infos_;
  Index size_ = 0;
  Buffer<float> values_;
  std::vector<Packs> packed_;
  Buffer<float> pack_memory_;
  bool packs_training_ = false;
};

// One block of gradients with the layout of `parameters`; one per shard. Table rows that no id
// touched stay zero and are skipped, so that work follows the words of the batch and not the
// vocabulary.
class Gradients {
 public:
  explicit Gradients(const Parameters& parameters);

  Matrix matrix(ParameterId id) const {
    const ParameterInfo& p = parameters_->info(id);
    return {block_.data() + p.offset, p.rows, p.cols};
  }
  Vector vector(ParameterId id) const {
    const ParameterInfo& p = parameters_->info(id);
    return {block_.data() + p.offset, p.rows * p.cols};
  }
  float* data() const { return block_.data(); }
  // Notes that rows `ids` of a table receive gradient.
  void touch(ParameterId table, const std::int32_t* ids, Index count);
  // Zero everywhere again.
  void clear();
  // Sums the blocks into the first one: a fixed pairwise tree over the shards for each element,
  // whatever the threads. Table rows that a shard did not touch are left out of its sum (adding
  // zero would change nothing).
  static void reduce(const std::vector<Gradients*>& shards, Threads& threads);

 private:
  struct Table {
    ParameterId id;
    std::vector<std::uint8_t> touched;  // per row
    std::vector<std::int32_t> rows;     // the touched ones, in order of first touch
  };
  void add_table(size_t table, const Gradients& other);

  const Parameters* parameters_;
  Buffer<float> block_;
  std::vector<Table> tables_;
};

}  // namespace regard

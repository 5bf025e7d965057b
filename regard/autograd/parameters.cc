#include "regard/autograd/parameters.h"

#include <algorithm>
#include <cmath>

#include "regard/base/error.h"
#include "regard/base/math.h"
#include "regard/base/random.h"

namespace regard {
namespace {

constexpr double kTwoPi = 6.283185307179586;

double uniform(std::uint64_t key, Index i) {
  return static_cast<double>(random_bits(key, static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53;
}

// Box-Muller; 1 - u is in (0, 1].
double normal(std::uint64_t key, Index i) {
  const double radius = std::sqrt(-2.0 * log_double(1.0 - uniform(key, 2 * i)));
  return radius * cos_double(kTwoPi * uniform(key, 2 * i + 1));
}

void fill_uniform(Matrix w, double limit, std::uint64_t key) {
  for (Index i = 0; i < w.rows * w.cols; ++i) {
    w.data[i] = static_cast<float>((2.0 * uniform(key, i) - 1.0) * limit);
  }
}

// Rows of random normals, made orthonormal one after the other (modified Gram-Schmidt in double).
void fill_orthogonal(Matrix w, std::uint64_t key) {
  std::vector<std::vector<double>> rows(static_cast<size_t>(w.rows));
  for (Index r = 0; r < w.rows; ++r) {
    std::vector<double>& row = rows[static_cast<size_t>(r)];
    row.resize(static_cast<size_t>(w.cols));
    for (Index c = 0; c < w.cols; ++c) row[static_cast<size_t>(c)] = normal(key, r * w.cols + c);
    for (Index q = 0; q < r; ++q) {
      const std::vector<double>& other = rows[static_cast<size_t>(q)];
      double dot = 0.0;
      for (size_t c = 0; c < row.size(); ++c) dot += row[c] * other[c];
      for (size_t c = 0; c < row.size(); ++c) row[c] -= dot * other[c];
    }
    double norm = 0.0;
    for (double x : row) norm += x * x;
    norm = std::sqrt(norm);
    for (Index c = 0; c < w.cols; ++c) {
      row[static_cast<size_t>(c)] /= norm;
      w(r, c) = static_cast<float>(row[static_cast<size_t>(c)]);
    }
  }
}

bool is_product(Use use) { return use == Use::kProduct || use == Use::kTableAndProduct; }

}  // namespace

ParameterId Parameters::add(ParameterInfo info) {
  if (find(info.name)) throw ConfigError("parameter '" + info.name + "' is defined twice");
  info.offset = size_;
  size_ += (info.rows * info.cols + 15) / 16 * 16;
  infos_.push_back(std::move(info));
  return {count() - 1};
}

void Parameters::allocate() {
  values_ = Buffer<float>::zeros(size_);
  packed_.assign(infos_.size(), {});
}

ParameterId Parameters::find(std::string_view name) const {
  for (size_t i = 0; i < infos_.size(); ++i) {
    if (infos_[i].name == name) return {static_cast<int>(i)};
  }
  return {};
}

void Parameters::initialise(std::uint64_t seed) {
  for (int i = 0; i < count(); ++i) {
    const ParameterInfo& p = infos_[static_cast<size_t>(i)];
    const Matrix w = value({i});
    const std::uint64_t key = mix(seed, p.name);
    switch (p.init) {
      case Init::kZero:
        std::fill_n(w.data, p.rows * p.cols, 0.0f);
        break;
      case Init::kOne:
        std::fill_n(w.data, p.rows * p.cols, 1.0f);
        break;
      case Init::kGlorot:
        fill_uniform(w, std::sqrt(6.0 / static_cast<double>(p.rows / p.gates + p.cols)), key);
        break;
      case Init::kEmbedding:
        fill_uniform(w, p.use == Use::kTable ? 1.0 : std::sqrt(3.0 / static_cast<double>(p.cols)),
                     key);
        break;
      case Init::kForgetGateOne:
        std::fill_n(w.data, p.cols, 0.0f);
        std::fill_n(w.data + p.cols / 4, p.cols / 4, 1.0f);
        break;
      case Init::kOrthogonalPerGate:
        for (int g = 0; g < p.gates; ++g) {
          const Index rows = p.rows / p.gates;
          fill_orthogonal(w.row_slice(g * rows, rows), mix(key, static_cast<std::uint64_t>(g)));
        }
        break;
    }
  }
}

void Parameters::pack(Threads& threads, bool for_training) {
  std::vector<int> products;
  Index floats = 0;
  for (int i = 0; i < count(); ++i) {
    const ParameterInfo& p = infos_[static_cast<size_t>(i)];
    if (!is_product(p.use)) continue;
    products.push_back(i);
    floats += packed_size(p.cols, p.rows);
    if (for_training) floats += packed_size(p.rows, p.cols);
  }
  if (pack_memory_.size() < floats || packs_training_ != for_training) {
    pack_memory_ = Buffer<float>(floats);
    packs_training_ = for_training;
  }
  std::vector<float*> places;
  float* next = pack_memory_.data();
  for (int i : products) {
    const ParameterInfo& p = infos_[static_cast<size_t>(i)];
    places.push_back(next);
    next += packed_size(p.cols, p.rows);
    if (for_training) next += packed_size(p.rows, p.cols);
  }
  threads.run(static_cast<Index>(products.size()), [&](Index k, int) {
    const int i = products[static_cast<size_t>(k)];
    const Matrix w = value({i});
    float* out = places[static_cast<size_t>(k)];
    Packs& packs = packed_[static_cast<size_t>(i)];
    packs.forward = pack_transposed(w, out);
    packs.backward = {};
    if (for_training) packs.backward = regard::pack(w, out + packed_size(w.cols, w.rows));
  });
}

Gradients::Gradients(const Parameters& parameters)
    : parameters_(&parameters), block_(Buffer<float>::zeros(parameters.size())) {
  for (int i = 0; i < parameters.count(); ++i) {
    // A tied table also gets dense gradient, so only pure tables are sparse.
    const ParameterInfo& p = parameters.infos()[static_cast<size_t>(i)];
    if (p.use == Use::kTable) {
      tables_.push_back({{i}, std::vector<std::uint8_t>(static_cast<size_t>(p.rows), 0), {}});
    }
  }
}

void Gradients::touch(ParameterId table, const std::int32_t* ids, Index count) {
  for (Table& t : tables_) {
    if (t.id.index != table.index) continue;
    for (Index i = 0; i < count; ++i) {
      std::uint8_t& seen = t.touched[static_cast<size_t>(ids[i])];
      if (!seen) t.rows.push_back(ids[i]);
      seen = 1;
    }
  }
}

void Gradients::clear() {
  size_t next_table = 0;
  for (int i = 0; i < parameters_->count(); ++i) {
    const ParameterInfo& p = parameters_->infos()[static_cast<size_t>(i)];
    if (next_table < tables_.size() && tables_[next_table].id.index == i) {
      Table& t = tables_[next_table++];
      for (std::int32_t row : t.rows) {
        std::fill_n(block_.data() + p.offset + row * p.cols, p.cols, 0.0f);
        t.touched[static_cast<size_t>(row)] = 0;
      }
      t.rows.clear();
    } else {
      std::fill_n(block_.data() + p.offset, p.rows * p.cols, 0.0f);
    }
  }
}

void Gradients::add_table(size_t table, const Gradients& other) {
  const Table& theirs = other.tables_[table];
  const ParameterInfo& p = parameters_->info(theirs.id);
  touch(theirs.id, theirs.rows.data(), static_cast<Index>(theirs.rows.size()));
  for (std::int32_t row : theirs.rows) {
    const float* from = other.block_.data() + p.offset + row * p.cols;
    float* to = block_.data() + p.offset + row * p.cols;
    for (Index c = 0; c < p.cols; ++c) to[c] += from[c];
  }
}

void Gradients::reduce(const std::vector<Gradients*>& shards, Threads& threads) {
  constexpr Index kChunk = Index{1} << 15;
  const Parameters& parameters = *shards.front()->parameters_;
  const std::vector<Table>& tables = shards.front()->tables_;
  struct Task {
    int table;  // -1: the dense range [begin, end)
    Index begin, end;
  };
  std::vector<Task> tasks;
  int next_table = 0;
  for (int i = 0; i < parameters.count(); ++i) {
    if (next_table < static_cast<int>(tables.size()) &&
        tables[static_cast<size_t>(next_table)].id.index == i) {
      tasks.push_back({next_table++, 0, 0});
      continue;
    }
    const ParameterInfo& p = parameters.infos()[static_cast<size_t>(i)];
    const Index end = p.offset + p.rows * p.cols;
    for (Index begin = p.offset; begin < end; begin += kChunk) {
      tasks.push_back({-1, begin, std::min(end, begin + kChunk)});
    }
  }
  threads.run(static_cast<Index>(tasks.size()), [&](Index t, int) {
    const Task& task = tasks[static_cast<size_t>(t)];
    for (size_t stride = 1; stride < shards.size(); stride *= 2) {
      for (size_t i = 0; i + stride < shards.size(); i += 2 * stride) {
        if (task.table >= 0) {
          shards[i]->add_table(static_cast<size_t>(task.table), *shards[i + stride]);
          continue;
        }
        float* to = shards[i]->block_.data();
        const float* from = shards[i + stride]->block_.data();
        for (Index k = task.begin; k < task.end; ++k) to[k] += from[k];
      }
    }
  });
}

}  // namespace regard

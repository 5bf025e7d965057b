#include "regard/search/beam.h"

#include <algorithm>
#include <cmath>

#include "regard/base/error.h"
#include "regard/base/math.h"
#include "regard/text/vocabulary.h"

namespace regard {
namespace {

// What one step of one hypothesis left behind; the path is read back from the last one.
struct Trail {
  int previous = -1;
  std::int32_t id = 0;
  float log_prob = 0.0f;
  Index best_column = -1;
  std::vector<float> weights;
};

struct Live {
  int trail = -1;
  double log_prob = 0.0;
  Index row = 0;  // in the last step's state
};

struct Candidate {
  double log_prob;
  std::int32_t hypothesis;
  std::int32_t id;
  float token_log_prob;
};

// The order of the search: better first; ties by hypothesis, then id.
bool better(const Candidate& a, const Candidate& b) {
  if (a.log_prob != b.log_prob) return a.log_prob > b.log_prob;
  if (a.hypothesis != b.hypothesis) return a.hypothesis < b.hypothesis;
  return a.id < b.id;
}

// One sentence's part of the search.
class Sentence {
 public:
  Sentence(const SearchSentence& in, Index lane, const SearchOptions& options)
      : options_(options),
        lane_(lane),
        columns_(static_cast<Index>(in.source.size()) + 1),
        max_length_(std::max<Index>(in.max_length, options.min_length)) {
    live_.push_back({});
  }

  Index lane() const { return lane_; }
  const std::vector<Live>& live() const { return live_; }
  std::int32_t last_id(const Live& h) const {
    return h.trail < 0 ? kBeginId : trails_[static_cast<size_t>(h.trail)].id;
  }
  void set_row(size_t i, Index row) { live_[i].row = row; }

  // Takes the K best continuations. Rows of `log_probs` and `weights` are those set by set_row().
  // The step after max_length tokens is there for the end marker: what takes another token is cut.
  void advance(Index step, ConstMatrix log_probs, ConstMatrix weights) {
    const bool full = step >= max_length_;
    std::vector<Live> next;
    std::vector<bool> ended(live_.size());
    for (const Candidate& c : candidates(step, log_probs)) {
      if (full && c.id != kEndId) continue;
      const Live& from = live_[static_cast<size_t>(c.hypothesis)];
      const Live h{static_cast<int>(trails_.size()), c.log_prob, from.row};
      trails_.push_back(trail(from, c, weights));
      if (c.id == kEndId) {
        finish(h, step + 1, true);
        ended[static_cast<size_t>(c.hypothesis)] = true;
      } else {
        next.push_back(h);
      }
    }
    if (full) cut(ended);
    live_ = std::move(next);
    if (live_.empty() || static_cast<Index>(finished_.size()) >= options_.beam ||
        can_stop(step + 1)) {
      live_.clear();
    }
  }

  std::vector<Hypothesis> take() {
    std::vector<Hypothesis> out;
    const size_t n = std::min(finished_.size(), static_cast<size_t>(options_.nbest));
    for (size_t i = 0; i < n; ++i) out.push_back(read_back(finished_[i]));
    return out;
  }

 private:
  struct Finished {
    int trail;
    double log_prob, score;
    bool ended;
  };

  Index places() const { return options_.beam - static_cast<Index>(finished_.size()); }

  bool allowed(std::int32_t id, Index step) const {
    if (id == kBeginId) return false;
    if (id == kUnknownId) return !options_.bar_unknown;
    return id != kEndId || step >= options_.min_length;
  }

  std::vector<Candidate> candidates(Index step, ConstMatrix log_probs) const {
    const auto k = static_cast<size_t>(places());
    std::vector<Candidate> heap;  // worst on top
    for (size_t i = 0; i < live_.size(); ++i) {
      const float* row = log_probs.row(live_[i].row);
      for (Index v = 0; v < log_probs.cols; ++v) {
        const auto id = static_cast<std::int32_t>(v);
        const Candidate c{live_[i].log_prob + static_cast<double>(row[v]),
                          static_cast<std::int32_t>(i), id, row[v]};
        if (heap.size() == k && !better(c, heap.front())) continue;
        if (!allowed(id, step) || std::isnan(row[v])) continue;
        if (heap.size() == k) {
          std::pop_heap(heap.begin(), heap.end(), better);
          heap.pop_back();
        }
        heap.push_back(c);
        std::push_heap(heap.begin(), heap.end(), better);
      }
    }
    std::sort(heap.begin(), heap.end(), better);
    return heap;
  }

  Trail trail(const Live& from, const Candidate& c, ConstMatrix weights) const {
    Trail t{from.trail, c.id, c.token_log_prob, -1, {}};
    if (weights.data == nullptr) return t;
    const float* row = weights.row(from.row);
    t.best_column = 0;
    for (Index j = 1; j + 1 < columns_; ++j) {
      if (row[j] > row[t.best_column]) t.best_column = j;
    }
    if (options_.with_weights) t.weights.assign(row, row + columns_);
    return t;
  }

  void finish(const Live& h, Index length, bool ended) {
    const double score = h.log_prob / length_penalty(options_.formula, options_.penalty, length);
    const Finished f{h.trail, h.log_prob, score, ended};
    const auto place = std::find_if(finished_.begin(), finished_.end(),
                                    [&](const Finished& other) { return other.score < score; });
    finished_.insert(place, f);
  }

  // At the length limit: unfinished hypotheses enter only where fewer than n ended.
  void cut(const std::vector<bool>& ended) {
    for (size_t i = 0; i < live_.size(); ++i) {
      if (static_cast<Index>(finished_.size()) >= options_.nbest) break;
      if (!ended[i]) finish(live_[i], max_length_, false);
    }
  }

  bool can_stop(Index next_step) const {
    if (static_cast<Index>(finished_.size()) < options_.nbest) return false;
    const double worst = finished_[static_cast<size_t>(options_.nbest) - 1].score;
    const double lp = std::max(length_penalty(options_.formula, options_.penalty, next_step + 1),
                               length_penalty(options_.formula, options_.penalty, max_length_ + 1));
    return live_.front().log_prob / lp <= worst;  // live_ is sorted
  }

  Hypothesis read_back(const Finished& f) {
    Hypothesis h;
    h.log_prob = f.log_prob;
    h.score = f.score;
    h.ended = f.ended;
    std::vector<const Trail*> path;
    for (int t = f.trail; t >= 0; t = trails_[static_cast<size_t>(t)].previous) {
      path.push_back(&trails_[static_cast<size_t>(t)]);
    }
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
      h.ids.push_back((*it)->id);
      h.token_log_probs.push_back((*it)->log_prob);
      h.best_column.push_back((*it)->best_column);
      h.weights.insert(h.weights.end(), (*it)->weights.begin(), (*it)->weights.end());
    }
    return h;
  }

  const SearchOptions& options_;
  Index lane_, columns_, max_length_;
  std::vector<Trail> trails_;
  std::vector<Live> live_;
  std::vector<Finished> finished_;  // best first; equal scores in the order of finishing
};

Var gather_state(Tape& tape, Var x, const Index* rows, Index n) {
  return x.empty() ? Var{} : gather_rows(tape, x, rows, n);
}

// The rows that go on, in the arena of the next step.
DecoderState gather_state(Tape& tape, const DecoderState& state, const Index* rows, Index n) {
  DecoderState out;
  out.step = state.step;
  for (const CellState& layer : state.layers) {
    out.layers.push_back(
        {gather_state(tape, layer.h, rows, n), gather_state(tape, layer.c, rows, n)});
  }
  out.feed = gather_state(tape, state.feed, rows, n);
  if (state.attention.empty()) return out;
  // Rows of all heads lie together.
  const Index heads = state.attention.rows() / state.layers[0].h.rows();
  Index* head_rows = tape.arena().array<Index>(n * heads);
  for (Index r = 0; r < n * heads; ++r) head_rows[r] = rows[r / heads] * heads + r % heads;
  out.attention = gather_rows(tape, state.attention, head_rows, n * heads);
  return out;
}

}  // namespace

double length_penalty(LengthFormula formula, double strength, Index length) {
  const auto t = static_cast<double>(length);
  return pow_double(formula == LengthFormula::kPower ? t : (5.0 + t) / 6.0, strength);
}

std::vector<std::vector<Hypothesis>> beam_search(const Seq2seq& network,
                                                 std::span<const SearchSentence> sentences,
                                                 const SearchOptions& options) {
  SearchWorkspace workspace(network);
  return beam_search(network, sentences, options, workspace);
}

std::vector<std::vector<Hypothesis>> beam_search(const Seq2seq& network,
                                                 std::span<const SearchSentence> sentences,
                                                 const SearchOptions& options,
                                                 SearchWorkspace& workspace) {
  if (options.beam < 1) throw ConfigError("--beam takes at least 1");
  if (options.nbest < 1 || options.nbest > options.beam) {
    throw ConfigError("--nbest " + std::to_string(options.nbest) +
                      " needs --beam of at least that (it is " + std::to_string(options.beam) +
                      ")");
  }
  if (sentences.empty()) return {};
  std::vector<std::span<const std::int32_t>> sources;
  const std::vector<std::span<const std::int32_t>> targets(sentences.size());
  for (const SearchSentence& s : sentences) sources.push_back(s.source);
  const PackedIds source = PairBatch::pack(sources, targets).source;

  workspace.encoder.reset();
  const DecoderMemory memory = network.encode(workspace.encoder, source);
  std::vector<Sentence> searches;
  for (size_t i = 0; i < sentences.size(); ++i) {
    searches.emplace_back(sentences[i], source.lane[i], options);
  }

  DecoderState state;
  std::vector<std::int32_t> ids;
  std::vector<Index> key_row, from_row;
  for (Index step = 0;; ++step) {
    ids.clear();
    key_row.clear();
    from_row.clear();
    for (Sentence& s : searches) {
      for (size_t i = 0; i < s.live().size(); ++i) {
        ids.push_back(s.last_id(s.live()[i]));
        from_row.push_back(s.live()[i].row);
        key_row.push_back(s.lane());
        s.set_row(i, static_cast<Index>(ids.size()) - 1);
      }
    }
    const auto n = static_cast<Index>(ids.size());
    if (n == 0) break;
    Tape& tape = step % 2 == 0 ? workspace.even : workspace.odd;
    tape.reset();
    state = step == 0 ? network.decoder().start(tape, memory, key_row.data(), n)
                      : gather_state(tape, state, from_row.data(), n);
    const Decoder::Step out =
        network.decoder().step(tape, memory, state, ids.data(), key_row.data(), n);
    state = out.state;
    const Matrix log_probs = network.next_log_probs(tape, out.readout);
    for (Sentence& s : searches) {
      if (!s.live().empty()) s.advance(step, log_probs, out.attention.weights);
    }
  }

  std::vector<std::vector<Hypothesis>> results;
  for (Sentence& s : searches) results.push_back(s.take());
  return results;
}

}  // namespace regard

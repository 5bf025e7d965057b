// For tests: the reverse task (letters in, the same letters backwards out), and training runs on
// it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "regard/base/file.h"
#include "regard/base/random.h"
#include "regard/train/trainer.h"

namespace regard::test {

struct ReverseShape {
  std::uint64_t letters = 26;  // of the alphabet
  std::uint64_t shortest = 3, longest = 12;
};

// `count` pairs of words of one letter; the i-th is a function of (seed, i).
inline std::vector<Pair> reverse_pairs(std::uint64_t count, std::uint64_t seed,
                                       const ReverseShape& shape) {
  std::vector<Pair> pairs;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t key = mix(mix(seed, "reverse"), i);
    const std::uint64_t n =
        shape.shortest + random_below(key, 0, shape.longest - shape.shortest + 1);
    Pair p;
    for (std::uint64_t k = 1; k <= n; ++k) {
      const std::string letter(1, static_cast<char>('a' + random_below(key, k, shape.letters)));
      p.source += (k == 1 ? "" : " ") + letter;
      p.target = letter + (k == 1 ? "" : " ") + p.target;
    }
    pairs.push_back(p);
  }
  return pairs;
}

// Data with the tokens and the network for it.
struct Task {
  Tokenizers tokens;
  EncodedPairs train, dev;
  ModelConfig config;

  Task(const std::vector<Pair>& train_pairs, const std::vector<Pair>& dev_pairs, Index embedding,
       Index hidden) {
    VocabularyOptions vocabulary;
    vocabulary.source = vocabulary.target = parse_token_spec("word");
    tokens = build_tokenizers(train_pairs, vocabulary);
    train = encode_pairs(train_pairs, tokens, 0);
    dev = encode_pairs(dev_pairs, tokens, 0);
    config.source_vocabulary = tokens.source.size();
    config.target_vocabulary = tokens.target.size();
    config.source_embedding = config.target_embedding = embedding;
    config.encoder_hidden = hidden / 2;
    config.hidden = config.readout = config.attention_width = hidden;
  }
  std::unique_ptr<Model> model() const {
    return std::make_unique<Model>(config, tokens.source, tokens.target);
  }
};

// Small enough for a run to take a fraction of a second.
inline Task tiny_task() {
  const ReverseShape shape{6, 1, 4};
  return Task(reverse_pairs(150, 1, shape), reverse_pairs(40, 2, shape), 12, 20);
}
inline TrainOptions tiny_options() {
  TrainOptions o;
  o.epochs = 4;
  o.batch_tokens = 60;
  o.shards = 2;
  o.learning_rate = 5e-3;
  o.threads = 1;
  return o;
}

// Remembers what a run tells; `on_update` may raise the stop flag.
class Watcher : public TrainObserver {
 public:
  void note(const std::string& sentence) override { notes.push_back(sentence); }
  void update(const UpdateInfo& info) override {
    updates.push_back(info);
    if (on_update) on_update(info);
  }
  void validation(const ValidationInfo& info) override { validations.push_back(info); }

  std::vector<std::string> notes;
  std::vector<UpdateInfo> updates;
  std::vector<ValidationInfo> validations;
  std::function<void(const UpdateInfo&)> on_update;
};

// One call of the command, so to speak.
struct Outcome {
  TrainEnd end = TrainEnd::kFinished;
  Watcher told;
  std::unique_ptr<Model> model;
};
// `stop_after`: raise the flag when that many updates are done (in all runs); 0: never.
inline Outcome train(const Task& task, const TrainOptions& options, const Trainer::Files& files,
                     Index stop_after = 0) {
  Outcome o;
  o.model = task.model();
  std::atomic<bool> stop{false};
  o.told.on_update = [&](const UpdateInfo& info) { stop = info.update == stop_after; };
  Trainer trainer(*o.model, task.train, task.dev, options, files, o.told);
  o.end = trainer.run(stop);
  o.told.on_update = nullptr;
  return o;
}

}  // namespace regard::test

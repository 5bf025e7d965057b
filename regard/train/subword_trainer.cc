#include "regard/train/subword_trainer.h"

#include "regard/base/error.h"

#if defined(REGARD_HAVE_SENTENCEPIECE)

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <unordered_map>

#include "regard/text/tokenizer.h"
#include "regard/text/utf8.h"

namespace regard {
namespace {

constexpr std::string_view kMetaBlank = "\xE2\x96\x81";    // U+2581: SentencePiece's blank
constexpr std::string_view kMetaUnknown = "\xE2\x96\x85";  // U+2585: its unknown character
constexpr std::size_t kShortestLimit = 10;  // it takes no lower limit of a line's length
constexpr std::size_t kLongestLine = (1 << 30) - 1;
constexpr std::size_t kLongestWord = 60000;  // it keeps places in a word as 16-bit numbers

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// May SentencePiece see this cleaned line? Otherwise it would drop it, misread it or stop the
// program.
bool is_fit(std::string_view line) {
  if (line.size() > kLongestLine) return false;
  if (contains(line, kMetaBlank) || contains(line, kMetaUnknown)) return false;
  const auto words = split_words(line);
  return !words.empty() && std::all_of(words.begin(), words.end(), [](std::string_view word) {
    return word.size() <= kLongestWord || count_code_points(word) <= kLongestWord;
  });
}

// What the lines hold.
struct Contents {
  std::vector<std::string> sentences;  // for SentencePiece
  std::size_t longest = 0;             // bytes of the longest of these
  TokenCounts words;                   // each with a blank before it
  TokenCounts characters;

  std::vector<std::string> alphabet() const {
    const Vocabulary vocabulary = Vocabulary::from_counts(characters);
    std::vector<std::string> out;
    for (int id = kFirstTextId; id < vocabulary.size(); ++id)
      out.emplace_back(vocabulary.token(id));
    return out;
  }
};

Contents read_contents(std::span<const std::string_view> lines, int size, CleanupRule rule) {
  if (size < 1) throw ConfigError("subword size " + std::to_string(size) + ": wanted 1 or more");
  Contents contents;
  for (const std::string_view line : lines) {
    std::string clean = clean_text(line, rule);
    count_tokens(clean, TokenKind::kSubword, rule, contents.words);
    if (!is_fit(clean)) continue;
    contents.longest = std::max(contents.longest, clean.size());
    contents.sentences.push_back(std::move(clean));
  }
  contents.characters[" "] = 1;
  for (const auto& [word, count] : contents.words) {
    for (std::size_t position = 0; position < word.size();) {
      const std::size_t begin = position;
      next_code_point(word, position);
      contents.characters[word.substr(begin, position - begin)] += count;
    }
  }
  return contents;
}

class Sentences final : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const std::vector<std::string>& sentences) : sentences_(sentences) {}
  bool done() const override { return next_ == sentences_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return sentences_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& sentences_;
  std::size_t next_ = 0;
};

void require_ok(const sentencepiece::util::Status& status) {
  if (!status.ok()) throw Error("SentencePiece failed: " + status.ToString());
}

// SentencePiece's model for `size` characters and merges, as bytes.
std::string train_model(const Contents& contents, int size) {
  const auto required = static_cast<int>(contents.characters.size());
  // The control tokens are ours; only the unknown one can't be left out. Its name can't occur.
  const std::unordered_map<std::string, std::string> options = {
      {"model_type", "bpe"},
      {"normalization_rule_name", "identity"},
      {"character_coverage", "1"},
      {"hard_vocab_limit", "false"},
      {"vocab_size", std::to_string(std::max(size, required) + 1)},
      {"max_sentence_length", std::to_string(std::max(contents.longest + 1, kShortestLimit))},
      {"unk_id", "0"},
      {"bos_id", "-1"},
      {"eos_id", "-1"},
      {"pad_id", "-1"},
      {"unk_piece", std::string(kMetaUnknown) + std::string(kMetaUnknown)},
      {"num_threads", "1"},
      {"minloglevel", "2"},
  };
  Sentences sentences(contents.sentences);
  std::string model;
  require_ok(sentencepiece::SentencePieceTrainer::Train(options, &sentences, &model));
  return model;
}

std::string with_blanks(std::string_view piece) {
  std::string text;
  for (std::size_t begin = 0; begin < piece.size();) {
    const std::size_t mark = std::min(piece.find(kMetaBlank, begin), piece.size());
    text.append(piece, begin, mark - begin);
    if (mark < piece.size()) text.push_back(' ');
    begin = mark + kMetaBlank.size();
  }
  return text;
}

// The merges of a model, the first one first.
std::vector<std::string> read_merges(const std::string& model) {
  sentencepiece::SentencePieceProcessor processor;
  require_ok(processor.LoadFromSerializedProto(model));
  std::vector<std::pair<float, std::string>> scored;
  for (int id = 0; id < processor.GetPieceSize(); ++id) {
    if (processor.IsUnknown(id) || processor.IsControl(id) || processor.IsUnused(id)) continue;
    const std::string& piece = processor.IdToPiece(id);
    if (contains(piece, kMetaUnknown) || count_code_points(piece) < 2) continue;
    scored.emplace_back(processor.GetScore(id), with_blanks(piece));
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> merges;
  for (auto& entry : scored) merges.push_back(std::move(entry.second));
  return merges;
}

}  // namespace

SubwordTable train_subwords(std::span<const std::string_view> lines, int size, CleanupRule rule) {
  const Contents contents = read_contents(lines, size, rule);
  SubwordTable table{contents.alphabet(), {}};
  if (contents.sentences.empty()) return table;
  table.merges = read_merges(train_model(contents, size));
  return drop_rare_merges(table, contents.words);
}

SentencePieceModel train_sentencepiece(std::span<const std::string_view> lines, int size,
                                       CleanupRule rule) {
  const Contents contents = read_contents(lines, size, rule);
  if (contents.sentences.empty()) throw ConfigError("train_sentencepiece: no line to learn from");
  SentencePieceModel model{train_model(contents, size), {}};
  model.table = {contents.alphabet(), read_merges(model.bytes)};
  return model;
}

std::vector<std::vector<std::string>> sentencepiece_segment(const std::string& model_bytes,
                                                            std::span<const std::string> lines) {
  sentencepiece::SentencePieceProcessor processor;
  require_ok(processor.LoadFromSerializedProto(model_bytes));
  std::vector<std::vector<std::string>> segmented;
  for (const std::string& line : lines) {
    std::vector<std::string> pieces;
    require_ok(processor.Encode(line, &pieces));
    for (std::string& piece : pieces) piece = with_blanks(piece);
    segmented.push_back(std::move(pieces));
  }
  return segmented;
}

std::string sentencepiece_version() { return REGARD_HAVE_SENTENCEPIECE; }

}  // namespace regard

#else

namespace regard {
namespace {

[[noreturn]] void throw_missing() {
  throw ConfigError(
      "subword tables can not be trained: regard was built without SentencePiece; build with "
      "-DREGARD_SUBWORD=ON, or use --tokens word or char");
}

}  // namespace

SubwordTable train_subwords(std::span<const std::string_view>, int, CleanupRule) {
  throw_missing();
}

SentencePieceModel train_sentencepiece(std::span<const std::string_view>, int, CleanupRule) {
  throw_missing();
}

std::vector<std::vector<std::string>> sentencepiece_segment(const std::string&,
                                                            std::span<const std::string>) {
  throw_missing();
}

std::string sentencepiece_version() { return ""; }

}  // namespace regard

#endif

#include "regard/text/tokenizer.h"

#include <algorithm>

#include "regard/base/error.h"
#include "regard/text/utf8.h"

namespace regard {
namespace {

constexpr std::uint8_t kBlockVersion = 1;
constexpr std::size_t kBlockSize = 8;  // version, kind, rule, 0, first merge (32 bits)

// Gives tokens their words, one after another.
class WordIndexer {
 public:
  explicit WordIndexer(TokenKind kind) : kind_(kind) {}

  // The token's text, with the blanks that it begins, holds or ends with.
  void add(std::string_view text) {
    if (kind_ == TokenKind::kWord) {
      words_.push_back(++word_);
      return;
    }
    const std::size_t first = text.find_first_not_of(' ');
    if (first != 0) new_word_ = true;
    if (first == std::string_view::npos) {
      words_.push_back(-1);
      return;
    }
    if (new_word_) {
      ++word_;
      if (kind_ == TokenKind::kSubword) claim_blanks();
    }
    words_.push_back(word_);
    word_ += static_cast<int>(split_words(text).size()) - 1;
    new_word_ = text.back() == ' ';
    claimed_ = words_.size();
  }

  void add_control() { words_.push_back(-1); }

  std::vector<int> take() { return std::move(words_); }

 private:
  // Blank pieces since the last word belong to the one that starts now.
  void claim_blanks() {
    std::fill(words_.begin() + static_cast<std::ptrdiff_t>(claimed_), words_.end(), word_);
  }

  TokenKind kind_;
  std::vector<int> words_;
  std::size_t claimed_ = 0;
  int word_ = -1;
  bool new_word_ = true;
};

// Refuses what no cleaned line can hold; such an entry would break lines or words on output.
void check_entries(const Vocabulary& vocabulary, TokenKind kind, CleanupRule rule) {
  for (int id = kFirstTextId; id < vocabulary.size(); ++id) {
    const std::string_view token = vocabulary.token(id);
    const std::string name = "vocabulary: token " + std::to_string(id);
    if (find_utf8_error(token)) throw ConfigError(name + " is not UTF-8 text");
    for (std::size_t position = 0; position < token.size();) {
      const char32_t c = next_code_point(token, position);
      if (c == U'\n') throw ConfigError(name + " holds a line feed, which no line does");
      if (c == U' ' && kind == TokenKind::kWord)
        throw ConfigError(name + " is a word with a blank");
      if (c != U' ' && rule == CleanupRule::kNfcSpaces && is_blank(c)) {
        throw ConfigError(name + " holds a blank that clean-up would have made U+0020");
      }
    }
  }
}

std::vector<Piece> character_pieces(std::string_view clean, const Vocabulary& vocabulary) {
  std::vector<Piece> pieces;
  pieces.reserve(clean.size());
  for (std::size_t position = 0; position < clean.size();) {
    const std::size_t begin = position;
    next_code_point(clean, position);
    pieces.push_back({vocabulary.find(clean.substr(begin, position - begin)).value_or(kUnknownId),
                      static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(position)});
  }
  return pieces;
}

std::vector<Piece> word_pieces(std::string_view clean, const Vocabulary& vocabulary) {
  std::vector<Piece> pieces;
  for (const std::string_view word : split_words(clean)) {
    const auto begin = static_cast<std::uint32_t>(word.data() - clean.data());
    pieces.push_back({vocabulary.find(word).value_or(kUnknownId), begin,
                      begin + static_cast<std::uint32_t>(word.size())});
  }
  return pieces;
}

// The raw bytes of a piece at [begin, end) of the prefixed line; `prefix` bytes come before it.
ByteRange raw_place(const CleanLine& line, const Piece& piece, std::string_view text,
                    std::size_t prefix) {
  std::size_t begin = piece.begin;
  const std::size_t end = piece.end;
  if (prefix > 0) {
    const std::size_t content = text.find_first_not_of(' ');
    if (content != std::string_view::npos) begin += content;
  }
  if (end <= prefix) return {line.raw[0].begin, line.raw[0].begin};  // the blank before the line
  return line.raw_range(std::max(begin, prefix) - prefix, end - prefix);
}

[[noreturn]] void throw_damaged(const std::string& what) {
  throw FormatError(FormatError::Kind::kModel, "tokenizer: " + what + "; the model is damaged");
}

}  // namespace

std::string_view to_string(TokenKind kind) {
  switch (kind) {
    case TokenKind::kChar:
      return "char";
    case TokenKind::kWord:
      return "word";
    case TokenKind::kSubword:
      return "subword";
  }
  return {};
}

Tokenizer::Tokenizer(TokenKind kind, Vocabulary vocabulary, CleanupRule rule)
    : kind_(kind), rule_(rule), vocabulary_(std::move(vocabulary)) {
  if (kind == TokenKind::kSubword) {
    throw ConfigError("a subword tokenizer needs a table of merges, not a vocabulary alone");
  }
  check_entries(vocabulary_, kind, rule);
}

Tokenizer::Tokenizer(const SubwordTable& table, CleanupRule rule)
    : kind_(TokenKind::kSubword), rule_(rule), segmenter_(table) {
  check_entries(vocabulary(), kind_, rule);
}

std::string Tokenizer::prefixed(std::string_view clean) const {
  std::string text;
  if (kind_ == TokenKind::kSubword && !clean.empty()) text.push_back(' ');
  return text.append(clean);
}

std::vector<Piece> Tokenizer::pieces(std::string_view prefixed) const {
  switch (kind_) {
    case TokenKind::kChar:
      return character_pieces(prefixed, vocabulary());
    case TokenKind::kWord:
      return word_pieces(prefixed, vocabulary());
    case TokenKind::kSubword:
      return segmenter_.segment(prefixed);
  }
  return {};
}

std::vector<Token> Tokenizer::encode(std::string_view raw_line) const {
  const CleanLine line = clean_line(raw_line, rule_);
  if (line.text.find_first_not_of(' ') == std::string::npos) return {};
  const std::string text = prefixed(line.text);
  const std::size_t prefix = text.size() - line.text.size();
  std::vector<Token> tokens;
  WordIndexer indexer(kind_);
  for (const Piece& piece : pieces(text)) {
    std::string piece_text = text.substr(piece.begin, piece.end - piece.begin);
    indexer.add(piece_text);
    const ByteRange place = raw_place(line, piece, piece_text, prefix);
    tokens.push_back({piece.id, place.begin, place.end, -1, std::move(piece_text)});
  }
  const std::vector<int> words = indexer.take();
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i].word = words[i];
  return tokens;
}

std::vector<int> Tokenizer::encode_ids(std::string_view raw_line) const {
  const std::string clean = clean_text(raw_line, rule_);
  if (clean.find_first_not_of(' ') == std::string::npos) return {};
  std::vector<int> ids;
  for (const Piece& piece : pieces(prefixed(clean))) ids.push_back(piece.id);
  return ids;
}

std::string Tokenizer::decode(std::span<const int> ids,
                              std::span<const std::string> unknown_texts) const {
  std::string text;
  std::size_t unknown = 0;
  bool first = true;
  for (const int id : ids) {
    if (id == kBeginId || id == kEndId) continue;
    if (kind_ == TokenKind::kWord && !first) text.push_back(' ');
    first = false;
    if (id == kUnknownId) {
      text.append(unknown < unknown_texts.size() ? std::string_view(unknown_texts[unknown])
                                                 : kReplacementCharacter);
      ++unknown;
    } else {
      text.append(vocabulary().token(id));
    }
  }
  if (kind_ == TokenKind::kSubword && text.starts_with(' ')) text.erase(0, 1);
  return clean(text);
}

std::string Tokenizer::piece(int id) const {
  switch (id) {
    case kBeginId:
      return "<s>";
    case kEndId:
      return "</s>";
    case kUnknownId:
      return "<unk>";
    default:
      return std::string(vocabulary().token(id));
  }
}

std::vector<int> Tokenizer::word_indices(std::span<const int> ids) const {
  WordIndexer indexer(kind_);
  for (const int id : ids) {
    if (id == kBeginId || id == kEndId) {
      indexer.add_control();
    } else {
      indexer.add(id == kUnknownId ? kReplacementCharacter : vocabulary().token(id));
    }
  }
  return indexer.take();
}

std::map<std::string, std::vector<std::uint8_t>> Tokenizer::serialize() const {
  std::vector<std::uint8_t> block = {kBlockVersion, static_cast<std::uint8_t>(kind_),
                                     static_cast<std::uint8_t>(rule_), 0};
  const auto first_merge =
      static_cast<std::uint32_t>(kind_ == TokenKind::kSubword ? segmenter_.first_merge() : 0);
  for (int shift = 0; shift < 32; shift += 8) {
    block.push_back(static_cast<std::uint8_t>(first_merge >> shift));
  }
  return {{"tokenizer", std::move(block)}, {"vocabulary", vocabulary().serialize()}};
}

Tokenizer Tokenizer::deserialize(const std::map<std::string, std::vector<std::uint8_t>>& blocks) {
  const auto tokenizer = blocks.find("tokenizer");
  const auto vocabulary = blocks.find("vocabulary");
  if (tokenizer == blocks.end()) throw_damaged("the block \"tokenizer\" is missing");
  if (vocabulary == blocks.end()) throw_damaged("the block \"vocabulary\" is missing");
  return deserialize(tokenizer->second, vocabulary->second);
}

Tokenizer Tokenizer::deserialize(std::span<const std::uint8_t> block,
                                 std::span<const std::uint8_t> vocabulary_block) {
  if (block.size() != kBlockSize) {
    throw_damaged("its block has " + std::to_string(block.size()) + " bytes, wanted " +
                  std::to_string(kBlockSize));
  }
  if (block[0] != kBlockVersion)
    throw_damaged("version " + std::to_string(block[0]) + " is unknown");
  if (block[1] > static_cast<std::uint8_t>(TokenKind::kSubword)) throw_damaged("unknown kind");
  if (block[2] > static_cast<std::uint8_t>(CleanupRule::kNfcSpaces)) {
    throw_damaged("unknown clean-up rule");
  }
  if (block[3] != 0) throw_damaged("a byte that must be zero is not");
  std::uint32_t first_merge = 0;
  for (std::size_t i = 8; i > 4; --i) first_merge = first_merge << 8 | block[i - 1];
  Vocabulary vocabulary = Vocabulary::deserialize(vocabulary_block);
  if (first_merge > static_cast<std::uint32_t>(vocabulary.size())) {
    throw_damaged("its first merge is outside the vocabulary");
  }
  try {
    const auto kind = static_cast<TokenKind>(block[1]);
    const auto rule = static_cast<CleanupRule>(block[2]);
    if (kind != TokenKind::kSubword) {
      if (first_merge != 0) throw_damaged("it has merges, but is no subword tokenizer");
      return Tokenizer(kind, std::move(vocabulary), rule);
    }
    Tokenizer tokenizer;
    tokenizer.kind_ = kind;
    tokenizer.rule_ = rule;
    tokenizer.segmenter_ = SubwordSegmenter(std::move(vocabulary), static_cast<int>(first_merge));
    check_entries(tokenizer.vocabulary(), kind, rule);
    return tokenizer;
  } catch (const ConfigError& error) {
    throw_damaged(error.what());
  }
}

bool Tokenizer::operator==(const Tokenizer& other) const {
  return kind_ == other.kind_ && rule_ == other.rule_ && vocabulary() == other.vocabulary() &&
         segmenter_.first_merge() == other.segmenter_.first_merge();
}

UnknownCount count_unknown(std::span<const Token> tokens) {
  UnknownCount count;
  for (const Token& token : tokens) {
    if (token.id != kUnknownId) continue;
    ++count.tokens;
    count.characters += count_code_points(token.text);
  }
  return count;
}

void count_tokens(std::string_view raw_line, TokenKind kind, CleanupRule rule,
                  TokenCounts& counts) {
  const std::string clean = clean_text(raw_line, rule);
  const auto add = [&](std::string_view token) {
    const auto found = counts.find(token);
    if (found != counts.end()) {
      ++found->second;
    } else {
      counts.emplace(token, 1);
    }
  };
  if (kind == TokenKind::kChar) {
    for (std::size_t position = 0; position < clean.size();) {
      const std::size_t begin = position;
      next_code_point(clean, position);
      add(std::string_view(clean).substr(begin, position - begin));
    }
    return;
  }
  for (const std::string_view word : split_words(clean)) {
    add(kind == TokenKind::kWord ? std::string(word) : " " + std::string(word));
  }
}

Tokenizer build_tokenizer(TokenKind kind, const TokenCounts& counts, CleanupRule rule,
                          VocabularyLimits limits) {
  return Tokenizer(kind, Vocabulary::from_counts(counts, limits), rule);
}

}  // namespace regard

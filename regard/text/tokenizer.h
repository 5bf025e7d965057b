// Tokenizer: a line of text to token ids and back.
//
//   char     every character (code point) of the cleaned line, blanks included
//   word     what stands between blanks
//   subword  pieces from a table of merges (subword.h); a piece that begins a word holds the blank
//            before it
// End markers are the model's business: encode() adds none, decode() skips them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regard/text/cleanup.h"
#include "regard/text/subword.h"
#include "regard/text/vocabulary.h"

namespace regard {

enum class TokenKind : std::uint8_t { kChar = 0, kWord = 1, kSubword = 2 };

std::string_view to_string(TokenKind kind);  // "char", "word", "subword"

struct Token {
  int id = kUnknownId;
  // Bytes [begin, end) of the raw line. The blank that a subword piece starts with is not counted,
  // but a piece that is a blank has its place; the one put before the line has an empty range.
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  // Which word of the cleaned line (from 0) the token belongs to; -1 for a blank of `char`. A
  // subword piece that is a blank alone belongs to the word after it (-1 if there is none).
  int word = -1;
  std::string text;  // cleaned; for an unknown token what the line has, otherwise piece(id)
};

// A value: copies are independent; safe to use from many threads.
class Tokenizer {
 public:
  // Splits into characters of no vocabulary: everything is unknown.
  Tokenizer() = default;

  // A char or word tokenizer. Errors: ConfigError if `kind` is subword or an entry could not come
  // from a cleaned line (no UTF-8, a line feed, a blank of another kind, a word with a blank).
  Tokenizer(TokenKind kind, Vocabulary vocabulary, CleanupRule rule);
  // A subword tokenizer. Errors: as above, and those of SubwordSegmenter.
  Tokenizer(const SubwordTable& table, CleanupRule rule);

  TokenKind kind() const { return kind_; }
  CleanupRule cleanup_rule() const { return rule_; }
  const Vocabulary& vocabulary() const {
    return kind_ == TokenKind::kSubword ? segmenter_.vocabulary() : vocabulary_;
  }
  int size() const { return vocabulary().size(); }  // ids, control tokens included

  // The tokens of a raw line; none for a blank one.
  // Errors: FormatError (data) if the line is not UTF-8.
  std::vector<Token> encode(std::string_view raw_line) const;
  // Their ids alone, for training.
  std::vector<int> encode_ids(std::string_view raw_line) const;

  // The cleaned text of `ids`. Begin and end are skipped; the n-th unknown becomes
  // unknown_texts[n], or U+FFFD where there is none. decode(ids of a line, its unknown texts) is
  // the cleaned line.
  // Errors: ShapeError if an id is out of range.
  std::string decode(std::span<const int> ids,
                     std::span<const std::string> unknown_texts = {}) const;

  // How a token is shown: its text, blanks included; "<s>", "</s>" and "<unk>" for the control
  // tokens, which text never maps to. Errors: ShapeError if `id` is out of range.
  std::string piece(int id) const;

  // For each of `ids` (of a translation, say) the word that it belongs to, as Token::word: words
  // are those of decode(ids). Control tokens other than unknown belong to none. Errors: as decode.
  std::vector<int> word_indices(std::span<const int> ids) const;

  std::string clean(std::string_view raw_line) const { return clean_text(raw_line, rule_); }

  // Named blocks of bytes for the model file ("tokenizer", "vocabulary"); equal tokenizers give
  // equal bytes.
  std::map<std::string, std::vector<std::uint8_t>> serialize() const;
  // Errors: FormatError (model) for anything that serialize() can not have written.
  static Tokenizer deserialize(const std::map<std::string, std::vector<std::uint8_t>>& blocks);
  static Tokenizer deserialize(std::span<const std::uint8_t> tokenizer,
                               std::span<const std::uint8_t> vocabulary);

  bool operator==(const Tokenizer& other) const;

 private:
  // The cleaned line as it is cut: with a blank before it for subwords.
  std::string prefixed(std::string_view clean) const;
  std::vector<Piece> pieces(std::string_view prefixed) const;

  TokenKind kind_ = TokenKind::kChar;
  CleanupRule rule_ = CleanupRule::kNfcSpaces;
  Vocabulary vocabulary_;       // char and word
  SubwordSegmenter segmenter_;  // subword
};

// How much of some tokens the model has never seen.
struct UnknownCount {
  std::uint64_t tokens = 0;
  std::uint64_t characters = 0;
};
UnknownCount count_unknown(std::span<const Token> tokens);

// Adds the characters (char) or words (word; subword: each with a blank before it) of a raw line.
// Errors: FormatError (data) if the line is not UTF-8.
void count_tokens(std::string_view raw_line, TokenKind kind, CleanupRule rule, TokenCounts& counts);

// A char or word tokenizer from counted training text. Errors: ConfigError for subword.
Tokenizer build_tokenizer(TokenKind kind, const TokenCounts& counts, CleanupRule rule,
                          VocabularyLimits limits = {});

}  // namespace regard

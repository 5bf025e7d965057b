// Lines as the model and the records see them. Internal to translate/.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regard/align/align.h"
#include "regard/tensor/view.h"
#include "regard/text/tokenizer.h"
#include "regard/translate/record.h"

namespace regard {

// A source line, cut to the length limit.
struct SourceLine {
  std::vector<Token> tokens;
  std::vector<std::int32_t> ids;
  Index full_length = 0;  // tokens before the cut

  bool blank() const { return tokens.empty(); }
  bool cut() const { return full_length > static_cast<Index>(tokens.size()); }
};

// Errors  FormatError (data), naming `line`, if the text is not UTF-8.
SourceLine read_source(const Tokenizer& tokenizer, std::string_view raw, Index max_length,
                       Index line);

// What a record says of its source: tokens with the end marker, flags, unseen tokens. For a blank
// line all lists stay empty.
Record begin_record(Index line, const std::string& raw, const SourceLine& source);

// Text for each unknown id of a hypothesis: the source token that its step looked at most.
std::vector<std::string> copy_unknown(std::span<const std::int32_t> ids,
                                      std::span<const Index> best_column, const SourceLine& source,
                                      TokenKind source_kind, TokenKind target_kind);

struct TargetText {
  std::string text;                 // equals tokenizer.decode(ids, unknown_texts)
  std::vector<RecordToken> tokens;  // one an id, with its bytes of `text`
};
TargetText write_target(const Tokenizer& tokenizer, std::span<const std::int32_t> ids,
                        std::span<const std::string> unknown_texts);

// Tokens, and their part in an alignment; the end marker follows.
std::vector<RecordToken> record_tokens(std::span<const Token> tokens, std::size_t raw_size);
std::vector<AlignToken> align_tokens(std::span<const Token> tokens);
// The words that tokens make, with the raw bytes from the first token to the last.
std::vector<RecordToken> record_words(std::span<const Token> tokens);

}  // namespace regard

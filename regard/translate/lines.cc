#include "regard/translate/lines.h"

#include <algorithm>

#include "regard/base/error.h"
#include "regard/text/utf8.h"
#include "regard/translate/flags.h"

namespace regard {
namespace {

constexpr const char* kEndText = "</s>";

std::string without_blank(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return std::string(begin == std::string_view::npos ? text : text.substr(begin));
}

// All tokens of the word that `token` belongs to.
std::string whole_word(const SourceLine& source, const Token& token) {
  std::string text;
  for (const Token& t : source.tokens) {
    if (t.word == token.word) text += t.text;
  }
  return without_blank(text);
}

// Where the piece `range` of a text went when that text was cleaned.
ByteRange range_after_cleaning(const CleanLine& clean, ByteRange range) {
  const auto first =
      std::partition_point(clean.raw.begin(), clean.raw.end(),
                           [&](const ByteRange& raw) { return raw.end <= range.begin; });
  const auto last = std::partition_point(
      first, clean.raw.end(), [&](const ByteRange& raw) { return raw.begin < range.end; });
  return {static_cast<std::uint32_t>(first - clean.raw.begin()),
          static_cast<std::uint32_t>(last - clean.raw.begin())};
}

}  // namespace

SourceLine read_source(const Tokenizer& tokenizer, std::string_view raw, Index max_length,
                       Index line) {
  require_utf8(raw, "line " + std::to_string(line));
  SourceLine source;
  source.tokens = tokenizer.encode(raw);
  source.full_length = static_cast<Index>(source.tokens.size());
  if (source.full_length > max_length) source.tokens.resize(static_cast<std::size_t>(max_length));
  for (const Token& t : source.tokens) source.ids.push_back(t.id);
  return source;
}

Record begin_record(Index line, const std::string& raw, const SourceLine& source) {
  Record record;
  record.line = line;
  record.source = raw;
  record.source_length = source.full_length;
  record.source_read = static_cast<Index>(source.tokens.size());
  record.blank = source.blank();
  if (record.blank) return record;
  record.source_tokens = record_tokens(source.tokens, raw.size());
  for (const Token& t : source.tokens) {
    if (t.id == kUnknownId) record.unseen.push_back(t.text);
  }
  if (source.cut()) record.flags.emplace_back(flag::kCutSource);
  return record;
}

std::vector<std::string> copy_unknown(std::span<const std::int32_t> ids,
                                      std::span<const Index> best_column, const SourceLine& source,
                                      TokenKind source_kind, TokenKind target_kind) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != kUnknownId) continue;
    if (best_column[i] < 0) {
      texts.emplace_back(kReplacementCharacter);
      continue;
    }
    const Token& token = source.tokens[static_cast<std::size_t>(best_column[i])];
    const bool words = target_kind == TokenKind::kWord && source_kind != TokenKind::kWord;
    std::string text = words && token.word >= 0 ? whole_word(source, token) : token.text;
    if (target_kind == TokenKind::kSubword && source_kind == TokenKind::kWord) text = " " + text;
    texts.push_back(std::move(text));
  }
  return texts;
}

TargetText write_target(const Tokenizer& tokenizer, std::span<const std::int32_t> ids,
                        std::span<const std::string> unknown_texts) {
  std::string raw;
  std::vector<ByteRange> ranges;
  std::vector<std::string> shown;
  std::size_t unknown = 0;
  bool first = true;
  for (const std::int32_t id : ids) {
    if (id == kEndId) {
      shown.emplace_back(kEndText);
      ranges.push_back({});
      continue;
    }
    if (tokenizer.kind() == TokenKind::kWord && !first) raw.push_back(' ');
    first = false;
    shown.push_back(id == kUnknownId ? unknown_texts[unknown++] : tokenizer.piece(id));
    std::string_view piece = shown.back();
    // The blank that a piece starts with is not counted, but a piece that is a blank has its place.
    const std::size_t content = piece.find_first_not_of(' ');
    const std::size_t blanks = content == std::string_view::npos ? 0 : content;
    const auto begin = static_cast<std::uint32_t>(raw.size() + blanks);
    raw.append(piece);
    ranges.push_back({begin, static_cast<std::uint32_t>(raw.size())});
  }
  const std::uint32_t skip = tokenizer.kind() == TokenKind::kSubword && raw.starts_with(' ');
  const CleanLine clean = clean_line(raw.substr(skip), tokenizer.cleanup_rule());
  TargetText out;
  out.text = clean.text;
  const auto size = static_cast<std::uint32_t>(out.text.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ByteRange place{size, size};
    if (ids[i] != kEndId) {
      const ByteRange& r = ranges[i];
      place = range_after_cleaning(clean, {std::max(r.begin, skip) - skip, r.end - skip});
    }
    out.tokens.push_back({std::move(shown[i]), place.begin, place.end});
  }
  return out;
}

std::vector<RecordToken> record_tokens(std::span<const Token> tokens, std::size_t raw_size) {
  std::vector<RecordToken> out;
  for (const Token& t : tokens) out.push_back({t.text, t.begin, t.end});
  const auto end = static_cast<std::uint32_t>(raw_size);
  out.push_back({kEndText, end, end});
  return out;
}

std::vector<AlignToken> align_tokens(std::span<const Token> tokens) {
  std::vector<AlignToken> out;
  for (const Token& t : tokens) {
    out.push_back(t.word < 0 ? AlignToken{AlignRole::kBlank, -1}
                             : AlignToken{AlignRole::kPiece, t.word});
  }
  out.push_back({AlignRole::kSpecial, -1});
  return out;
}

std::vector<RecordToken> record_words(std::span<const Token> tokens) {
  std::vector<RecordToken> words;
  for (const Token& t : tokens) {
    if (t.word < 0) continue;
    const auto word = static_cast<std::size_t>(t.word);
    if (words.size() <= word) words.resize(word + 1);
    RecordToken& w = words[word];
    const std::string text = without_blank(t.text);
    if (text == " ") continue;  // a piece that is the blank before the word
    if (w.text.empty()) w.begin = t.begin;
    w.text += text;
    w.end = t.end;
  }
  return words;
}

}  // namespace regard

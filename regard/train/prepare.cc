#include "regard/train/prepare.h"

#include <algorithm>
#include <map>

#include "regard/base/checksum.h"
#include "regard/base/error.h"
#include "regard/train/subword_trainer.h"

namespace regard {
namespace {

// The lines of one side, or of both when joint.
std::vector<std::string_view> side_lines(const std::vector<Pair>& pairs, bool source, bool target) {
  std::vector<std::string_view> lines;
  for (const Pair& p : pairs) {
    if (source) lines.push_back(p.source);
    if (target) lines.push_back(p.target);
  }
  return lines;
}

TokenSpec resolve_side(const TokenSpec& spec, const std::vector<std::string_view>& lines,
                       CleanupRule rule) {
  if (spec.kind) return spec;
  SideStatistics statistics;
  for (std::string_view line : lines) statistics.add(clean_text(line, rule));
  return resolve(spec, statistics);
}

Tokenizer build_side(const TokenSpec& spec, const std::vector<std::string_view>& lines,
                     const VocabularyOptions& options) {
  if (*spec.kind == TokenKind::kSubword) {
    return Tokenizer(train_subwords(lines, spec.subword_size, options.cleanup), options.cleanup);
  }
  TokenCounts counts;
  for (std::string_view line : lines) count_tokens(line, *spec.kind, options.cleanup, counts);
  return build_tokenizer(*spec.kind, counts, options.cleanup, options.limits);
}

}  // namespace

Tokenizers build_tokenizers(const std::vector<Pair>& pairs, const VocabularyOptions& options) {
  Tokenizers t;
  const auto sources = side_lines(pairs, true, options.joint);
  const auto targets = side_lines(pairs, options.joint, true);
  t.source_spec = resolve_side(options.source, sources, options.cleanup);
  t.target_spec = resolve_side(options.target, targets, options.cleanup);
  if (options.joint && !(t.source_spec == t.target_spec)) {
    throw ConfigError("--joint needs the same tokens on both sides; they are " +
                      to_string(t.source_spec) + " and " + to_string(t.target_spec) +
                      ": give --tokens");
  }
  t.source = build_side(t.source_spec, sources, options);
  t.target = options.joint ? t.source : build_side(t.target_spec, targets, options);
  return t;
}

EncodedPairs encode_pairs(std::vector<Pair> pairs, const Tokenizers& tokenizers,
                          Index max_source_length) {
  EncodedPairs e;
  for (Pair& p : pairs) {
    std::vector<std::int32_t> s = tokenizers.source.encode_ids(p.source);
    std::vector<std::int32_t> t = tokenizers.target.encode_ids(p.target);
    if (max_source_length > 0 && static_cast<Index>(s.size()) > max_source_length) {
      s.resize(static_cast<size_t>(max_source_length));
      ++e.cut;
    }
    e.source_tokens += s.size();
    e.target_tokens += t.size();
    e.unknown += static_cast<std::uint64_t>(std::count(s.begin(), s.end(), kUnknownId) +
                                            std::count(t.begin(), t.end(), kUnknownId));
    e.source.push_back(std::move(s));
    e.target.push_back(std::move(t));
    e.text.push_back(std::move(p));
  }
  return e;
}

std::vector<Pair> hold_out(std::vector<Pair>& train) {
  std::vector<Pair> dev;
  if (train.size() < 200) return dev;
  const size_t want = std::clamp<size_t>(train.size() / 50, 50, 1000);
  // Sources in the order of their hashes; the first ones that fill the part are it.
  std::map<std::uint64_t, size_t> pairs_of_hash;
  for (const Pair& p : train) ++pairs_of_hash[checksum(p.source)];
  std::uint64_t last = 0;
  size_t taken = 0;
  for (const auto& [hash, count] : pairs_of_hash) {
    if (taken >= want || taken + count > train.size() / 2) break;
    taken += count;
    last = hash;
  }
  if (taken == 0) return dev;
  std::vector<Pair> rest;
  for (Pair& p : train) {
    (checksum(p.source) <= last ? dev : rest).push_back(std::move(p));
  }
  train = std::move(rest);
  return dev;
}

}  // namespace regard

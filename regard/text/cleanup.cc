// Composition works on units: a unit ends before each character that neither combines with nor is
// reordered against anything before it, so NFC of the line is NFC of the units, one after another.
// A unit that composition leaves alone keeps the place of each of its characters; in one that it
// changes, every character stands for the whole unit.
#include "regard/text/cleanup.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <limits>

#include "regard/base/assert.h"
#include "regard/base/error.h"
#include "regard/text/utf8.h"

namespace regard {
namespace {

constexpr auto kCompose = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
constexpr int kLongestDecomposition = 32;  // Unicode's longest canonical one has 4

int combining_class(std::int32_t c) { return utf8proc_get_property(c)->combining_class; }

void decompose(char32_t c, std::vector<utf8proc_int32_t>& out) {
  std::array<utf8proc_int32_t, kLongestDecomposition> parts;
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(),
                                             kLongestDecomposition, kCompose, nullptr);
  REGARD_ASSERT(count > 0 && count <= kLongestDecomposition);
  out.insert(out.end(), parts.begin(), parts.begin() + count);
}

// Can `c` combine with, or move against, what stands before it?
bool joins_previous(char32_t c) {
  if (c < 0x300) return false;
  std::array<utf8proc_int32_t, kLongestDecomposition> parts;
  utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(), kLongestDecomposition,
                          kCompose, nullptr);
  const auto first = static_cast<char32_t>(parts[0]);
  if (combining_class(parts[0]) != 0) return true;
  if ((first >= 0x1161 && first <= 0x1175) || (first >= 0x11A8 && first <= 0x11C2)) return true;
  // utf8proc numbers the second members of its composition table from 0x8000; 0xFFFF is none.
  const auto index = utf8proc_get_property(parts[0])->comb_index;
  return index >= 0x8000 && index != 0xFFFF;
}

// NFC of one unit. Sorts the marks itself: utf8proc's own sort takes quadratic time.
std::vector<utf8proc_int32_t> compose(const std::vector<char32_t>& unit) {
  std::vector<utf8proc_int32_t> parts;
  for (const char32_t c : unit) decompose(c, parts);
  for (auto from = parts.begin(); from != parts.end();) {
    if (combining_class(*from) == 0) {
      ++from;
      continue;
    }
    const auto to = std::find_if(from, parts.end(), [](auto c) { return combining_class(c) == 0; });
    std::stable_sort(from, to,
                     [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    from = to;
  }
  const auto size =
      utf8proc_normalize_utf32(parts.data(), static_cast<utf8proc_ssize_t>(parts.size()), kCompose);
  REGARD_ASSERT(size >= 0);
  parts.resize(static_cast<std::size_t>(size));
  return parts;
}

// Appends characters, making one blank of each run.
class Writer {
 public:
  explicit Writer(std::size_t size_hint) {
    line_.text.reserve(size_hint);
    line_.raw.reserve(size_hint);
  }

  void put(char32_t c, ByteRange range) {
    if (is_blank(c)) {
      if (pending_blank_) {
        blank_.end = range.end;
      } else {
        blank_ = range;
        pending_blank_ = true;
      }
      return;
    }
    if (pending_blank_ && !line_.text.empty()) append(U' ', blank_);
    pending_blank_ = false;
    append(c, range);
  }

  CleanLine take() { return std::move(line_); }

 private:
  void append(char32_t c, ByteRange range) {
    append_utf8(line_.text, c);
    line_.raw.resize(line_.text.size(), range);
  }

  CleanLine line_;
  ByteRange blank_;
  bool pending_blank_ = false;
};

// One unit being read.
struct Unit {
  std::vector<char32_t> characters;
  std::vector<ByteRange> ranges;

  void flush(Writer& writer) {
    if (characters.empty()) return;
    if (characters.size() == 1 && characters[0] < 0x300) {
      writer.put(characters[0], ranges[0]);
    } else {
      const auto composed = compose(characters);
      const bool same =
          std::equal(composed.begin(), composed.end(), characters.begin(), characters.end(),
                     [](utf8proc_int32_t a, char32_t b) { return static_cast<char32_t>(a) == b; });
      const ByteRange whole{ranges.front().begin, ranges.back().end};
      for (std::size_t i = 0; i < composed.size(); ++i) {
        writer.put(static_cast<char32_t>(composed[i]), same ? ranges[i] : whole);
      }
    }
    characters.clear();
    ranges.clear();
  }
};

CleanLine keep_line(std::string_view raw) {
  CleanLine line;
  line.text = raw;
  line.raw.reserve(raw.size());
  for (std::size_t position = 0; position < raw.size();) {
    const std::size_t begin = position;
    next_code_point(raw, position);
    line.raw.resize(position,
                    {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(position)});
  }
  return line;
}

}  // namespace

std::string_view to_string(CleanupRule rule) {
  return rule == CleanupRule::kNone ? "none" : "nfc+spaces";
}

CleanupRule parse_cleanup_rule(std::string_view name) {
  if (name == "none") return CleanupRule::kNone;
  if (name == "nfc+spaces") return CleanupRule::kNfcSpaces;
  throw ConfigError("clean-up rule \"" + std::string(name) +
                    "\" is unknown: it is nfc+spaces or none");
}

ByteRange CleanLine::raw_range(std::size_t begin, std::size_t end) const {
  REGARD_ASSERT(begin < end && end <= raw.size());
  // Ranges never run backwards: units keep their order, and share one range where they don't.
  return {raw[begin].begin, raw[end - 1].end};
}

CleanLine clean_line(std::string_view raw, CleanupRule rule) {
  if (raw.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw FormatError(FormatError::Kind::kData, "a line is longer than 4 GB");
  }
  require_utf8(raw, "text");
  if (rule == CleanupRule::kNone) return keep_line(raw);
  Writer writer(raw.size());
  Unit unit;
  for (std::size_t position = 0; position < raw.size();) {
    const auto begin = static_cast<std::uint32_t>(position);
    const char32_t c = next_code_point(raw, position);
    if (!joins_previous(c)) unit.flush(writer);
    unit.characters.push_back(c);
    unit.ranges.push_back({begin, static_cast<std::uint32_t>(position)});
  }
  unit.flush(writer);
  return writer.take();
}

std::string clean_text(std::string_view raw, CleanupRule rule) {
  return clean_line(raw, rule).text;
}

bool is_blank_line(std::string_view raw, CleanupRule rule) {
  require_utf8(raw, "text");
  if (rule == CleanupRule::kNone) return raw.find_first_not_of(' ') == std::string_view::npos;
  for (std::size_t position = 0; position < raw.size();) {
    if (!is_blank(next_code_point(raw, position))) return false;
  }
  return true;
}

bool is_blank(char32_t c) {
  if (c < 0x80) return c == U' ' || c == U'\t';
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ZS;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace regard

#include "regard/view/svg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "regard/base/error.h"
#include "regard/text/utf8.h"
#include "regard/view/svg_writer.h"
#include "regard/view/test_records.h"

namespace regard {
namespace {

using testing_records::bread;
using testing_records::has_direction_control;
using testing_records::many_words;
using testing_records::record_of;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Checks character data between tags and in values: no bare reserved character.
bool is_escaped(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '>') return false;
    if (text[i] != '&') continue;
    const std::string entity = text.substr(i, text.find(';', i) - i + 1);
    if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;" &&
        entity != "&#39;") {
      return false;
    }
  }
  return true;
}

// Names what is wrong with a tag's inside (name and attributes), or nothing.
std::string fault_in_tag(const std::string& tag) {
  std::vector<std::string> seen;
  std::size_t at = tag.find(' ');
  while (at < tag.size()) {
    const std::size_t equals = tag.find("=\"", at);
    if (equals == tag.npos) return "an attribute without a value: " + tag;
    const std::string key = tag.substr(at + 1, equals - at - 1);
    if (std::count(seen.begin(), seen.end(), key) > 0) return "a repeated attribute: " + tag;
    seen.push_back(key);
    const std::size_t end = tag.find('"', equals + 2);
    if (end == tag.npos) return "an open value: " + tag;
    if (!is_escaped(tag.substr(equals + 2, end - equals - 2))) return "a bare character: " + tag;
    if (end + 1 < tag.size() && tag[end + 1] != ' ') return "no blank between attributes: " + tag;
    at = end + 1;
  }
  return "";
}

// A small well-formedness check: tags nest, attributes are quoted, text is escaped, one root.
std::string xml_fault(const std::string& xml) {
  if (find_utf8_error(xml)) return "not UTF-8";
  for (const char c : xml) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return "a control character";
  }
  std::vector<std::string> open;
  std::size_t roots = 0;
  std::size_t at = 0;
  while (at < xml.size()) {
    const std::size_t begin = std::min(xml.find('<', at), xml.size());
    const std::string between = xml.substr(at, begin - at);
    if (!is_escaped(between)) return "bare text: " + between;
    if (open.empty() && between.find_first_not_of('\n') != between.npos) return "text outside";
    if (begin == xml.size()) break;
    const std::size_t end = xml.find('>', begin);
    if (end == xml.npos) return "an open tag";
    std::string tag = xml.substr(begin + 1, end - begin - 1);
    at = end + 1;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "closes what is not open: " + tag;
      open.pop_back();
      continue;
    }
    const bool empty = tag.back() == '/';
    if (empty) tag.pop_back();
    if (const std::string fault = fault_in_tag(tag); !fault.empty()) return fault;
    if (open.empty()) ++roots;
    if (!empty) open.push_back(tag.substr(0, tag.find(' ')));
  }
  if (!open.empty()) return "left open: " + open.back();
  return roots == 1 ? "" : "not one root";
}

TEST(XmlFault, FindsFaults) {
  EXPECT_EQ(xml_fault("<a b=\"1\"><c/>x &amp; y</a>\n"), "");
  for (const char* bad : {"<a>", "<a></b>", "<a/><a/>", "<a>&</a>", "<a b=1/>", "<a b=\"<\"/>",
                          "<a b=\"1\" b=\"2\"/>", "<a>\x01</a>", "x<a/>", "<a>&nbsp;</a>"}) {
    EXPECT_NE(xml_fault(bad), "") << bad;
  }
}

TEST(Svg, IsWellFormedForWordsOfAnyKind) {
  EXPECT_EQ(xml_fault(render_svg(bread())), "");
  EXPECT_EQ(xml_fault(render_svg(record_of(many_words(), many_words()))), "");
  EXPECT_EQ(xml_fault(render_svg(record_of(std::vector<std::string>(40, "word"), {"a"}))), "");
  EXPECT_EQ(xml_fault(render_svg(
                record_of(std::vector<std::string>(150, "w"), std::vector<std::string>(150, "v")))),
            "");
}

TEST(Svg, HasACellForEachWeightWithItsNumberAndItsWords) {
  const std::string svg = render_svg(bread());
  EXPECT_EQ(count(svg, "\u2190"), 25U);  // tooltips
  EXPECT_NE(svg.find("<title>we \u2190 nous: 93.0 %</title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>bread \u2190 pain: 57.0 %</title>"), std::string::npos);
  EXPECT_NE(svg.find("<g class=\"w72\">"), std::string::npos);
  EXPECT_NE(svg.find(">72</text>"), std::string::npos);
  EXPECT_EQ(count(svg, "class=\"peak\""), 5U + 1U);  // a row each, and the legend
}

TEST(Svg, DefinesEveryColorThatItUsesForBothThemes) {
  const std::string svg = render_svg(record_of(many_words(), many_words()));
  for (int percent = 0; percent <= 100; ++percent) {
    const std::string name = "w" + std::to_string(percent);
    if (count(svg, "class=\"" + name + "\"") > 0) {
      EXPECT_EQ(count(svg, "." + name + " rect{"), 2U) << name;
    }
  }
  EXPECT_EQ(count(svg, "prefers-color-scheme:dark"), 1U);
}

TEST(Svg, NeedsNothingButItself) {
  const std::string svg = render_svg(bread());
  for (const char* part : {"href", "url(", "<script", "@import", "<image", "<foreignObject"}) {
    EXPECT_EQ(svg.find(part), std::string::npos) << part;
  }
}

TEST(Svg, TellsInWordsWhatItShows) {
  const std::string svg = render_svg(bread());
  EXPECT_NE(svg.find("role=\"img\""), std::string::npos);
  EXPECT_NE(svg.find("aria-labelledby=\"regard-3-1-title regard-3-1-desc\""), std::string::npos);
  EXPECT_NE(
      svg.find("<title id=\"regard-3-1-title\">Attention: nous mangeons du pain \u2192 we are "
               "eating bread</title>"),
      std::string::npos);
  EXPECT_NE(svg.find("eating: mostly at mangeons, 91.0 %."), std::string::npos);
}

TEST(Svg, EscapesMarkUp) {
  const std::string svg = render_svg(record_of({"<b>&\"'", "</svg>"}, {"<script>"}));
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_NE(svg.find("&lt;b&gt;&amp;&quot;&#39;"), std::string::npos);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(count(svg, "</svg>"), 1U);
}

TEST(Svg, RightToLeftLabelsCarryTheirDirectionAndAreIsolated) {
  const std::string svg = render_svg(record_of({"\u05E9\u05DC\u05D5\u05DD"}, {"\u0646\u0623"}));
  EXPECT_EQ(count(svg, "direction=\"rtl\" unicode-bidi=\"isolate\">\u05E9\u05DC\u05D5\u05DD<"), 1U);
  EXPECT_EQ(count(svg, "direction=\"rtl\" unicode-bidi=\"isolate\">\u0646\u0623<"), 1U);
  EXPECT_FALSE(has_direction_control(svg));
}

TEST(SvgLabel, IsTiedByTheSideThatTheEyeSees) {
  SvgWriter svg;
  svg.label("pain", 10, 20, Anchor::kRight);
  svg.label("\u05E9", 10, 20, Anchor::kRight);
  svg.label("pain", 10, 20, Anchor::kLeft);
  svg.label("\u05E9", 10, 20, Anchor::kLeft);
  EXPECT_EQ(svg.take(),
            "<text x=\"10\" y=\"20\" text-anchor=\"end\">pain</text>"
            "<text x=\"10\" y=\"20\" direction=\"rtl\" unicode-bidi=\"isolate\">\u05E9</text>"
            "<text x=\"10\" y=\"20\">pain</text>"
            "<text x=\"10\" y=\"20\" text-anchor=\"end\" direction=\"rtl\" "
            "unicode-bidi=\"isolate\">\u05E9</text>");
}

TEST(SvgWriter, CutsAndBreaksByEstimatedWidth) {
  EXPECT_EQ(clip_to_width("bread", 10, 100), "bread");
  const std::string cut = clip_to_width(std::string(100, 'a'), 10, 100);
  EXPECT_TRUE(cut.ends_with("\u2026"));
  EXPECT_LE(estimate_width(cut, 10), 100);
  EXPECT_GT(estimate_width("\u65b0", 10), estimate_width("a", 10));
  EXPECT_GT(estimate_width("m", 10), estimate_width("i", 10));
  EXPECT_EQ(wrap_to_width("aa aa aa", 10, 30), (std::vector<std::string>{"aa aa", "aa"}));
}

TEST(Svg, LargeMapsStaySmallFiles) {
  const std::vector<std::string> words(300, "w");
  EXPECT_LT(render_svg(record_of(words, words)).size(), 4000000U);
}

TEST(Svg, SaysWhatABlankLineAndAFixedModelLack) {
  Record blank;
  blank.blank = true;
  EXPECT_EQ(xml_fault(render_svg(blank)), "");
  EXPECT_NE(render_svg(blank).find("a blank line"), std::string::npos);
  Record fixed = bread();
  fixed.has_attention = false;
  fixed.attention = {};
  EXPECT_EQ(xml_fault(render_svg(fixed)), "");
  EXPECT_NE(render_svg(fixed).find("No attention to show"), std::string::npos);
}

TEST(Svg, DrawsRecordsWithoutTokensAndWeightsThatAreNoNumber) {
  Record record;
  record.has_attention = true;
  EXPECT_EQ(xml_fault(render_svg(record)), "");
  record = record_of({"a"}, {"b"});
  record.attention.weights[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(xml_fault(render_svg(record)), "");
  EXPECT_NE(render_svg(record).find(">?</text>"), std::string::npos);
}

TEST(Svg, RefusesAMatrixThatDoesNotFitTheTokens) {
  Record record = bread();
  record.source_tokens.pop_back();
  EXPECT_THROW(render_svg(record), ShapeError);
}

}  // namespace
}  // namespace regard

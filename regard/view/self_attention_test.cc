// Pictures of a record that shows self-attention: named as what they are, and of nobody's writing.
#include <gtest/gtest.h>

#include "regard/view/picture.h"
#include "regard/view/svg.h"
#include "regard/view/terminal.h"
#include "regard/view/test_records.h"

namespace regard {
namespace {

Record of_itself() {
  Record record = testing_records::record_of({"we", "eat"}, {"we", "eat"});
  record.layer = 2;
  record.head = 3;
  return record;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(SelfAttentionPicture, SaysHowToReadIt) {
  const std::string text = how_to_read(of_itself());
  EXPECT_TRUE(has(text, "layer 2, head 3")) << text;
  EXPECT_FALSE(has(text, "wrote"));
  Record translated = of_itself();
  translated.layer = 0;
  EXPECT_EQ(how_to_read(translated), kHowToRead);
}

TEST(SelfAttentionPicture, InATerminalNamesOneSentence) {
  const std::string text = render_terminal(of_itself());
  EXPECT_EQ(text.find("  read   we eat\n\n"), 0U) << text;
  EXPECT_FALSE(has(text, "wrote")) << text;
  EXPECT_TRUE(has(text, "layer 2, head 3")) << text;
}

TEST(SelfAttentionPicture, InSvgNamesKeysAndQueries) {
  const std::string svg = render_svg(of_itself());
  EXPECT_TRUE(has(svg, ">Self-attention, layer 2, head 3: we eat</title>")) << svg;
  EXPECT_TRUE(has(svg, "keys \u2192")) << svg;
  EXPECT_TRUE(has(svg, "queries \u2193")) << svg;
  EXPECT_FALSE(has(svg, "wrote")) << svg;
}

}  // namespace
}  // namespace regard

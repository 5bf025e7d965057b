#include "regard/view/cells.h"

#include <gtest/gtest.h>

namespace regard {
namespace {

TEST(DisplayWidth, CountsColumnsOfAnyScript) {
  EXPECT_EQ(display_width("bread"), 5);
  EXPECT_EQ(display_width("gar\u00E7on"), 6);
  EXPECT_EQ(display_width("garc\u0327on"), 6);
  EXPECT_EQ(display_width("\u65b0\u805e"), 4);
  EXPECT_EQ(display_width("\uFF21"), 2);
  EXPECT_EQ(display_width("\uD55C"), 2);
  EXPECT_EQ(display_width("\u1112\u1161\u11AB"), 2);  // the same syllable as three letters
  EXPECT_EQ(display_width("\u0646\u064E"), 1);        // Arabic with a vowel sign
  EXPECT_EQ(display_width("\u0915\u0940"), 1);        // Devanagari with a vowel sign
}

TEST(DisplayWidth, TakesAnEmojiSequenceForOneGlyph) {
  EXPECT_EQ(display_width("\U0001F600"), 2);
  EXPECT_EQ(display_width("\U0001F44D\U0001F3FD"), 2);                      // skin tone
  EXPECT_EQ(display_width("\U0001F469\u200D\U0001F680"), 2);                // joined
  EXPECT_EQ(display_width("\U0001F1EB\U0001F1F7"), 2);                      // flag
  EXPECT_EQ(display_width("\u2764\uFE0F"), 2);                              // emoji form
  EXPECT_EQ(display_width("\U0001F1EB\U0001F1F7\U0001F1E9\U0001F1EA"), 4);  // two flags
}

TEST(Glyphs, KeepMarksWithTheirLetter) {
  const auto glyphs = glyphs_of("e\u0301\u65b0");
  ASSERT_EQ(glyphs.size(), 2U);
  EXPECT_EQ(glyphs[0].text, "e\u0301");
  EXPECT_EQ(glyphs[0].width, 1);
  EXPECT_EQ(glyphs[1].width, 2);
  EXPECT_TRUE(glyphs_of("").empty());
}

TEST(VisibleText, ShowsControlCharactersAsSigns) {
  EXPECT_EQ(visible_text("a\tb\x1b[31m\x7F"), "a\u2409b\u241B[31m\u2421");
  EXPECT_EQ(visible_text("a\u0085b"), "a\uFFFDb");
  EXPECT_EQ(visible_text("a\u2028b\u2029"), "a\u2424b\u2424");
  EXPECT_EQ(visible_text(std::string("a\0b", 3)), "a\u2400b");
}

TEST(VisibleText, DropsDirectionControlsAndKeepsJoiners) {
  EXPECT_EQ(visible_text("a\u202Eb\u200F\u2067c\u061C"), "abc");
  EXPECT_EQ(visible_text("\U0001F469\u200D\U0001F680"), "\U0001F469\u200D\U0001F680");
}

TEST(VisibleText, NamesWhatCanNotBeSeen) {
  EXPECT_EQ(visible_text("\u200B"), "U+200B");
  EXPECT_EQ(visible_text("\u202E"), "U+202E");
  EXPECT_EQ(visible_text("\u00AD"), "U+00AD");
  EXPECT_EQ(visible_text(""), "(empty)");
}

TEST(VisibleText, GivesALoneMarkSomethingToStandOn) {
  EXPECT_EQ(visible_text("\u0301"), "\u25CC\u0301");
  EXPECT_EQ(display_width(visible_text("\u0301")), 1);
}

TEST(VisibleText, RepairsWhatIsNoText) {
  EXPECT_EQ(visible_text("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(visible_text("a\uFFFEz\uFFFF"), "a\uFFFDz\uFFFD");
}

TEST(Clip, CutsAtGlyphsAndNeverExceedsTheWidth) {
  EXPECT_EQ(clip("mangeons", 8, "\u2026"), "mangeons");
  EXPECT_EQ(clip("mangeons", 5, "\u2026"), "mang\u2026");
  EXPECT_EQ(clip("mangeons", 1, "~"), "~");
  EXPECT_EQ(clip("\u65b0\u805e\u65b0", 4, "\u2026"), "\u65b0\u2026");
  EXPECT_EQ(clip("e\u0301e\u0301e\u0301", 2, "\u2026"), "e\u0301\u2026");
}

TEST(Pad, FillsByColumnsNotBytes) {
  EXPECT_EQ(pad_right("\u65b0", 4), "\u65b0  ");
  EXPECT_EQ(pad_left("e\u0301", 3), "  e\u0301");
  EXPECT_EQ(pad_center("du", 5), " du  ");
  EXPECT_EQ(pad_center("too long", 3), "too long");
}

TEST(WrapText, BreaksAtBlanksAndCutsLongWords) {
  EXPECT_EQ(wrap_text("nous mangeons du pain", 13),
            (std::vector<std::string>{"nous mangeons", "du pain"}));
  EXPECT_EQ(wrap_text("abcdefgh ij", 3), (std::vector<std::string>{"abc", "def", "gh", "ij"}));
  EXPECT_EQ(wrap_text("\u65b0\u805e\u65b0", 5),
            (std::vector<std::string>{"\u65b0\u805e", "\u65b0"}));
  EXPECT_EQ(wrap_text("", 5), std::vector<std::string>{""});
}

TEST(Direction, IsThatOfTheFirstLetterThatHasOne) {
  EXPECT_TRUE(starts_right_to_left("\u0646\u0623\u0643\u0644"));
  EXPECT_TRUE(starts_right_to_left("12 \u05E9"));
  EXPECT_FALSE(starts_right_to_left("pain \u05E9"));
  EXPECT_FALSE(starts_right_to_left("12 !"));
  EXPECT_TRUE(has_right_to_left("pain \u05E9"));
  EXPECT_FALSE(has_right_to_left("pain \u65b0"));
}

}  // namespace
}  // namespace regard

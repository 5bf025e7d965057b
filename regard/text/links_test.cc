#include "regard/text/links.h"

#include <gtest/gtest.h>

#include "regard/base/error.h"

namespace regard {
namespace {

TEST(Links, AreReadAndWrittenInOrder) {
  const std::vector<Link> links = {{0, 0}, {2, 1}, {1, 12}};
  EXPECT_EQ(parse_links("0-0 2-1 1-12", "x:1"), links);
  EXPECT_EQ(parse_links("  0-0\t2-1  1-12 ", "x:1"), links);
  EXPECT_EQ(format_links(links), "0-0 2-1 1-12");
}

TEST(Links, ABlankLineHasNone) {
  EXPECT_TRUE(parse_links("", "x:1").empty());
  EXPECT_TRUE(parse_links(" \t", "x:1").empty());
  EXPECT_EQ(format_links({}), "");
}

TEST(Links, AnythingElseIsAnErrorWithItsPlace) {
  for (const char* bad : {"0", "0-", "-1", "0-1-2", "a-b", "0-1x", "0--1", "+0-1", "0 - 1",
                          "4294967296-0", "0-1,2-3", "0-1\r"}) {
    EXPECT_THROW(parse_links(bad, "x:1"), FormatError) << bad;
  }
  try {
    parse_links("0-0 1:1", "links.txt:9");
    FAIL() << "no error";
  } catch (const FormatError& error) {
    EXPECT_EQ(error.kind(), FormatError::Kind::kData);
    EXPECT_NE(std::string(error.what()).find("links.txt:9: byte offset 4"), std::string::npos);
  }
}

}  // namespace
}  // namespace regard

#include "regard/view/labels.h"

#include <gtest/gtest.h>

namespace regard {
namespace {

using Labels = std::vector<std::string>;

TEST(TokenLabels, NameTheEndMarkerButNotATextThatLooksLikeIt) {
  EXPECT_EQ(token_labels({{"</s>", 0, 4}, {"</s>", 5, 5}}), (Labels{"</s>", "(end)"}));
}

TEST(TokenLabels, ShowABlankOfACharacterModel) {
  EXPECT_EQ(token_labels({{"a", 0, 1}, {" ", 1, 2}, {"b", 2, 3}}), (Labels{"a", "\u2423", "b"}));
  EXPECT_EQ(token_labels({{" ", 1, 2}}, true), Labels{"_"});
}

TEST(TokenLabels, JoinSubwordPiecesByHyphens) {
  EXPECT_EQ(token_labels({{" we", 0, 2}, {" eat", 3, 6}, {"ing", 6, 9}, {"</s>", 9, 9}}),
            (Labels{"we", "eat", "-ing", "(end)"}));
  EXPECT_EQ(token_labels({{" we", 0, 2}, {" ", 2, 3}, {"eat", 3, 6}, {" it", 7, 9}}),
            (Labels{"we", "\u2423", "eat", "it"}));
}

TEST(TokenLabels, LeaveTextWithoutBlanksAlone) {
  EXPECT_EQ(token_labels({{" \u65b0", 0, 3}, {"\u805e", 3, 6}}), (Labels{"\u65b0", "\u805e"}));
}

TEST(TokenLabels, AreSafeToShow) {
  EXPECT_EQ(token_labels({{"\x1b[0m", 0, 4}, {"", 4, 4}}), (Labels{"\u241B[0m", "(empty)"}));
}

}  // namespace
}  // namespace regard

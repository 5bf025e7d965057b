#include "regard/translate/lines.h"

#include <gtest/gtest.h>

#include "regard/base/error.h"
#include "regard/text/utf8.h"

namespace regard {
namespace {

constexpr auto kRule = CleanupRule::kNfcSpaces;
using Texts = std::vector<std::string>;
using Ids = std::vector<std::int32_t>;

Tokenizer trained(TokenKind kind, const std::string& line, CleanupRule rule = kRule) {
  TokenCounts counts;
  count_tokens(line, kind, rule, counts);
  return build_tokenizer(kind, counts, rule);
}

Tokenizer subword() {
  return Tokenizer(SubwordTable{{"a", "b", "c", "e", "h", "t"}, {"he", " t", " the"}}, kRule);
}

// What the tokens' bytes of `text` say.
Texts places(const std::string& text, const std::vector<RecordToken>& tokens) {
  Texts out;
  for (const RecordToken& t : tokens) out.push_back(text.substr(t.begin, t.end - t.begin));
  return out;
}

Texts texts(const std::vector<RecordToken>& tokens) {
  Texts out;
  for (const RecordToken& t : tokens) out.push_back(t.text);
  return out;
}

TEST(SourceLine, LongerThanTheLimitIsCutAndRemembersItsLength) {
  const Tokenizer words = trained(TokenKind::kWord, "a b c");
  const SourceLine cut = read_source(words, "a b c a b", 3, 1);
  EXPECT_EQ(cut.ids.size(), 3U);
  EXPECT_EQ(cut.full_length, 5);
  EXPECT_TRUE(cut.cut());
  EXPECT_FALSE(read_source(words, "a b c", 3, 1).cut());
  EXPECT_TRUE(read_source(words, " \t ", 3, 1).blank());
}

TEST(SourceLine, ThatIsNotUtf8IsAnErrorWithLineAndByte) {
  try {
    read_source(trained(TokenKind::kWord, "a"), "a \xFF", 3, 17);
    FAIL();
  } catch (const FormatError& e) {
    EXPECT_EQ(e.kind(), FormatError::Kind::kData);
    EXPECT_NE(std::string(e.what()).find("line 17: byte offset 2"), std::string::npos) << e.what();
  }
}

TEST(SourceRecord, ListsTokensWithTheEndAndWhatWasNeverSeen) {
  const std::string raw = "a  zz\tb";
  const SourceLine source = read_source(trained(TokenKind::kWord, "a b"), raw, 9, 4);
  const Record record = begin_record(4, raw, source);
  EXPECT_EQ(record.line, 4);
  EXPECT_EQ(texts(record.source_tokens), (Texts{"a", "zz", "b", "</s>"}));
  EXPECT_EQ(places(raw, record.source_tokens), (Texts{"a", "zz", "b", ""}));
  EXPECT_EQ(record.source_tokens.back().begin, raw.size());
  EXPECT_EQ(record.unseen, Texts{"zz"});
  EXPECT_EQ(record.source_read, 3);
  EXPECT_TRUE(record.flags.empty());
}

TEST(SourceRecord, OfABlankLineIsEmpty) {
  const SourceLine source = read_source(trained(TokenKind::kWord, "a b"), "  ", 9, 1);
  const Record record = begin_record(1, "  ", source);
  EXPECT_TRUE(record.blank);
  EXPECT_EQ(record.source, "  ");
  EXPECT_TRUE(record.source_tokens.empty());
}

struct Kinds {
  TokenKind source, target;
  std::string wanted;
};

TEST(UnknownCopies, AreTheTokenOrTheWordThatWasLookedAt) {
  for (const Kinds& kinds : {Kinds{TokenKind::kWord, TokenKind::kWord, "bca"},
                             Kinds{TokenKind::kChar, TokenKind::kChar, "c"},
                             Kinds{TokenKind::kChar, TokenKind::kWord, "bca"},
                             Kinds{TokenKind::kWord, TokenKind::kSubword, " bca"}}) {
    const SourceLine source = read_source(trained(kinds.source, "a b c"), "a bca", 9, 1);
    const Index column = kinds.source == TokenKind::kChar ? 3 : 1;
    const Ids ids = {3, kUnknownId, kEndId};
    const std::vector<Index> best = {0, column, 0};
    EXPECT_EQ(copy_unknown(ids, best, source, kinds.source, kinds.target), (Texts{kinds.wanted}));
  }
  const SourceLine source = read_source(subword(), "a the", 9, 1);
  EXPECT_EQ(source.tokens[2].text, " the");
  const Ids ids = {kUnknownId};
  EXPECT_EQ(
      copy_unknown(ids, std::vector<Index>{2}, source, TokenKind::kSubword, TokenKind::kSubword),
      (Texts{" the"}));
  EXPECT_EQ(copy_unknown(ids, std::vector<Index>{2}, source, TokenKind::kSubword, TokenKind::kWord),
            (Texts{"the"}));
}

TEST(UnknownCopies, WithoutAttentionAreTheReplacementCharacter) {
  const SourceLine source = read_source(trained(TokenKind::kWord, "a"), "a", 9, 1);
  EXPECT_EQ(copy_unknown(Ids{kUnknownId}, std::vector<Index>{-1}, source, TokenKind::kWord,
                         TokenKind::kWord),
            (Texts{std::string(kReplacementCharacter)}));
}

void expect_as_decoded(const Tokenizer& tokens, const Ids& ids, const Texts& unknown,
                       const Texts& wanted_places) {
  const TargetText target = write_target(tokens, ids, unknown);
  EXPECT_EQ(target.text, tokens.decode(ids, unknown));
  EXPECT_EQ(places(target.text, target.tokens), wanted_places);
}

TEST(TargetText, EqualsDecodingAndKnowsItsTokensPlaces) {
  const Tokenizer words = trained(TokenKind::kWord, "a b c");
  expect_as_decoded(words, {3, kUnknownId, 5, kEndId}, {"zz"}, {"a", "zz", "c", ""});
  const Tokenizer pieces = subword();
  const Ids the = {pieces.encode_ids("the a")};
  expect_as_decoded(pieces, the, {}, {"the", " ", "a"});
  expect_as_decoded(words, {}, {}, {});
}

TEST(TargetText, FollowsTokensThroughTheCleaning) {
  const Tokenizer characters = trained(TokenKind::kChar, "ea b");
  // Blanks at the ends go and runs collapse; a letter and its mark become one.
  const int blank = *characters.vocabulary().find(" ");
  const int a = *characters.vocabulary().find("a");
  const int e = *characters.vocabulary().find("e");
  expect_as_decoded(characters, {blank, a, blank, blank, e, kUnknownId, blank, kEndId},
                    {"\xCC\x81"}, {"", "a", " ", " ", "\xC3\xA9", "\xC3\xA9", "", ""});
}

TEST(TargetText, ShowsCopiesAndTheEndMarker) {
  const Tokenizer words = trained(TokenKind::kWord, "a b c");
  const TargetText target = write_target(words, Ids{kUnknownId, kEndId}, Texts{"</s>"});
  EXPECT_EQ(target.text, "</s>");
  EXPECT_EQ(texts(target.tokens), (Texts{"</s>", "</s>"}));
  EXPECT_EQ(target.tokens[0].end, 4U);                      // a word that was copied
  EXPECT_EQ(target.tokens[1].begin, target.tokens[1].end);  // the end: no bytes of the text
}

TEST(RecordWords, ArePiecesJoinedWithoutTheirBlanks) {
  const std::string raw = "ab  the cab";
  const std::vector<Token> pieces = subword().encode(raw);
  const std::vector<RecordToken> words = record_words(pieces);
  EXPECT_EQ(texts(words), (Texts{"ab", "the", "cab"}));
  EXPECT_EQ(places(raw, words), (Texts{"ab", "the", "cab"}));
  const std::vector<Token> characters = trained(TokenKind::kChar, "ab c").encode("ab c");
  EXPECT_EQ(texts(record_words(characters)), (Texts{"ab", "c"}));
}

TEST(AlignTokens, AreWordsBlanksAndTheEnd) {
  const std::vector<AlignToken> tokens =
      align_tokens(trained(TokenKind::kChar, "ab c").encode("a b"));
  ASSERT_EQ(tokens.size(), 4U);
  EXPECT_EQ(tokens[0].role, AlignRole::kPiece);
  EXPECT_EQ(tokens[1].role, AlignRole::kBlank);
  EXPECT_EQ(tokens[2].word, 1);
  EXPECT_EQ(tokens[3].role, AlignRole::kSpecial);
}

}  // namespace
}  // namespace regard

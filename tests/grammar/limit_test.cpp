// Masks where few tokens are left.
#include <random>

#include <gtest/gtest.h>

#include "grammar/small_vocabulary.h"
#include "grammar/texts.h"

namespace smol::grammar {
namespace {

std::vector<std::string_view> limited_schemas() {
  return {
      R"({"type": "object"})",
      R"({"type": "array", "minItems": 2, "items": {"type": "array", "minItems": 1, "items": {}}})",
      R"({"type": "string", "minLength": 40, "maxLength": 60})",
      R"({"type": "string", "pattern": "^(ab|é){3}[0-9]{4,9}$"})",
      R"({"type": "object", "properties": {"name": {"type": "string", "minLength": 3}, "é": {"enum": [12, [1, {"a": null}]]},
          "n": {"type": "number", "minimum": 100}}, "required": ["n", "further"], "additionalProperties": {"type": "null"}})",
      R"({"anyOf": [{"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, {"const": "abcdefgh"}]})"};
}

// What a mask may hold where `left` tokens are: the tokens behind which the text can still end.
std::vector<TokenId> ending_tokens(const Matcher& matcher, std::size_t left) {
  std::vector<TokenId> tokens;
  for (TokenId id = 0; static_cast<std::size_t>(id) < small_vocabulary()->size(); ++id) {
    Matcher copy = matcher;
    if (copy.accept(id) && (copy.has_ended() || copy.shortest_end() < left)) {
      tokens.push_back(id);
    }
  }
  return tokens;
}

TEST(MatcherLimit, LeavesExactlyTheTokensFromWhichTheTextCanStillEnd) {
  std::mt19937 random(7);
  for (const std::string_view text : limited_schemas()) {
    const auto grammar = schema(text);
    for (std::size_t spare = 0; spare < 6; ++spare) {
      Matcher matcher = matcher_for(grammar);
      for (std::size_t left = matcher.shortest_end() + spare; !matcher.has_ended(); --left) {
        const std::vector<TokenId> allowed = allowed_tokens(matcher, left);
        ASSERT_EQ(allowed, ending_tokens(matcher, left)) << text << " " << left;
        ASSERT_FALSE(allowed.empty()) << text << " " << left;
        ASSERT_TRUE(matcher.accept(allowed[random() % allowed.size()]));
      }
      EXPECT_TRUE(matcher.is_complete());
    }
  }
}

TEST(MatcherLimit, LeavesAllTokensWhereTheTextCannotEndInTime) {
  Matcher matcher = matcher_for(schema(R"({"type": "array", "minItems": 3})"));
  ASSERT_GT(matcher.shortest_end(), 2U);
  EXPECT_EQ(allowed_tokens(matcher, 2), allowed_tokens(matcher));
  EXPECT_EQ(allowed_tokens(matcher, std::size_t{1} << 40U), allowed_tokens(matcher));
}

TEST(MatcherLimit, CountsTheTokensOfLongLexemes) {
  Matcher matcher = matcher_for(schema(R"({"const": ")" + std::string(6000, 'x') + R"("})"));
  EXPECT_EQ(matcher.shortest_end(), 6002U);
  ASSERT_TRUE(accept_text(matcher, "\"x"));
  EXPECT_EQ(matcher.shortest_end(), 6000U);
}

}  // namespace
}  // namespace smol::grammar

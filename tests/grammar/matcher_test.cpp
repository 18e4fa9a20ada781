#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grammar/small_vocabulary.h"
#include "grammar/texts.h"

namespace smol::grammar {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// The tokens that a copy of the matcher accepts.
std::vector<TokenId> accepted_by_copies(const Matcher& matcher) {
  std::vector<TokenId> accepted;
  for (TokenId id = 0; static_cast<std::size_t>(id) < small_vocabulary()->size(); ++id) {
    Matcher copy = matcher;
    if (copy.accept(id)) {
      accepted.push_back(id);
    }
  }
  return accepted;
}

// Random walks: at every step the mask holds exactly what accept() takes, and there is a way on.
void expect_exact_masks(const std::shared_ptr<const Grammar>& grammar, int n_walks, int n_steps) {
  std::mt19937 random(5);
  for (int walk = 0; walk < n_walks; ++walk) {
    Matcher matcher = matcher_for(grammar);
    for (int i = 0; i < n_steps && !matcher.has_ended(); ++i) {
      const std::vector<TokenId> allowed = allowed_tokens(matcher);
      ASSERT_EQ(allowed, accepted_by_copies(matcher)) << "step " << i;
      ASSERT_FALSE(allowed.empty());
      ASSERT_EQ(
          matcher.must_end(),
          std::ranges::all_of(allowed, [](TokenId id) { return small_vocabulary()->ends(id); }))
          << "step " << i;
      ASSERT_TRUE(matcher.accept(allowed[random() % allowed.size()]));
    }
  }
}

TEST(Matcher, MasksExactlyWhatItAcceptsInJson) {
  expect_exact_masks(any_json_object(), 6, 60);
  expect_exact_masks(
      schema(
          R"({"type": "object", "properties": {"name": {"type": "string", "minLength": 2, "maxLength": 40},
      "é": {"enum": ["abc", "abcdef", 12, 123, [1, {"a": null}]]}, "n": {"type": "number", "minimum": -1, "maximum": 12.5},
      "p": {"type": "string", "pattern": "^a(bc|\\u00e9)*$"}, "any": {}}, "required": ["name", "n"]})"),
      12, 80);
}

TEST(Matcher, MasksExactlyWhatItAcceptsInAmbiguousGrammars) {
  expect_exact_masks(
      schema(
          R"({"anyOf": [{"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"type": "null"}}},
      {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"type": "boolean"}}}, {"type": "array", "items": {"$ref": "#"}}]})"),
      8, 60);
  expect_exact_masks(
      compile_gbnf("root ::= \"a\" root \"b\" | \"a\" root \"a\" | \"\" | [a-c]+ root?"), 6, 40);
}

TEST(Matcher, AllowsEndTokensExactlyWhereTheTextMayEnd) {
  Matcher matcher = matcher_for(schema(R"({"type": "integer"})"));
  EXPECT_FALSE(matcher.is_complete());
  EXPECT_FALSE(matcher.accept(kEnd));
  ASSERT_TRUE(matcher.accept(token_of("12")));
  EXPECT_TRUE(matcher.is_complete());
  EXPECT_FALSE(matcher.has_ended());
  EXPECT_THAT(allowed_tokens(matcher), ::testing::IsSupersetOf({kEnd, kOtherEnd, token_of("3")}));
  ASSERT_TRUE(matcher.accept(kOtherEnd));
  EXPECT_TRUE(matcher.has_ended());
  EXPECT_FALSE(matcher.accept(token_of("3")));
  EXPECT_THAT(allowed_tokens(matcher), UnorderedElementsAre(kEnd, kOtherEnd));
}

TEST(Matcher, AllowsOnlyEndTokensBehindAClosedValue) {
  Matcher matcher = matcher_for(schema(R"({"type": "object"})"));
  ASSERT_TRUE(accept_text(matcher, "{}"));
  EXPECT_THAT(allowed_tokens(matcher), UnorderedElementsAre(kEnd, kOtherEnd));
}

TEST(Matcher, NeverAllowsTokensWithoutBytes) {
  Matcher matcher = matcher_for(schema("{}"));
  EXPECT_FALSE(matcher.accept(kSpecial));
  EXPECT_FALSE(matcher.accept(-1));
  EXPECT_FALSE(matcher.accept(1 << 30));
  EXPECT_THAT(allowed_tokens(matcher), ::testing::Not(::testing::Contains(kSpecial)));
}

TEST(Matcher, TakesTokensThatEndInsideACharacter) {
  Matcher matcher = matcher_for(schema(R"({"type": "string", "maxLength": 1})"));
  ASSERT_TRUE(accept_text(matcher, "\""));
  ASSERT_TRUE(matcher.accept(token_of("\xF0\x9F")));
  EXPECT_FALSE(matcher.accept(token_of("\"")));
  ASSERT_TRUE(matcher.accept(token_of("\x98\x80")));
  EXPECT_THAT(allowed_tokens(matcher), ElementsAre(token_of("\"")));
}

TEST(Matcher, AllowsEveryTokenOfTheSameBytes) {
  Matcher matcher = matcher_for(schema(R"({"const": "a"})"));
  ASSERT_TRUE(accept_text(matcher, "\""));
  EXPECT_THAT(allowed_tokens(matcher), UnorderedElementsAre('a', token_of("a"), token_of("a\"")));
}

TEST(Matcher, LeavesTheStateAloneWhenItRefuses) {
  Matcher matcher = matcher_for(schema(R"({"const": "abd"})"));
  ASSERT_TRUE(accept_text(matcher, "\""));
  EXPECT_FALSE(matcher.accept(token_of("abc")));
  EXPECT_EQ(matcher.n_accepted(), 1U);
  EXPECT_TRUE(accept_text(matcher, "abd\""));
}

TEST(Matcher, RollsBackAnyNumberOfTokens) {
  Matcher matcher = matcher_for(any_json_object());
  ASSERT_TRUE(accept_text(matcher, R"({"a": [1, )"));
  const std::vector<TokenId> before = allowed_tokens(matcher);
  const std::size_t n = matcher.n_accepted();
  ASSERT_TRUE(accept_text(matcher, R"({"b": 2}]})"));
  ASSERT_TRUE(matcher.accept(kEnd));
  matcher.rollback(matcher.n_accepted() - n);
  EXPECT_FALSE(matcher.has_ended());
  EXPECT_EQ(allowed_tokens(matcher), before);
  matcher.rollback(n);
  EXPECT_EQ(matcher.n_accepted(), 0U);
  EXPECT_TRUE(accept_text(matcher, "{}"));
}

TEST(Matcher, CopiesAreIndependent) {
  Matcher matcher = matcher_for(any_json_object());
  ASSERT_TRUE(accept_text(matcher, "{"));
  Matcher copy = matcher;
  ASSERT_TRUE(accept_text(copy, R"("a": {"b": [)"));
  ASSERT_TRUE(accept_text(matcher, "}"));
  EXPECT_TRUE(matcher.is_complete());
  EXPECT_TRUE(accept_text(copy, "]}}"));
  EXPECT_TRUE(copy.is_complete());
}

TEST(Matcher, LetsNoKeyOfAFreeObjectComeTwice) {
  Matcher matcher = matcher_for(any_json_object());
  ASSERT_TRUE(accept_text(matcher, R"({"name": 1, "a": {"name": [{"x": "y\\", "name": 0}], ")"));
  Matcher inner = matcher;
  EXPECT_FALSE(inner.accept(token_of("name")) && inner.accept('"'));
  EXPECT_TRUE(accept_text(matcher, R"(a": 2}, "nam)"));
  EXPECT_FALSE(accept_text(matcher, R"(e")"));
  EXPECT_THAT(allowed_tokens(matcher), ::testing::Not(::testing::Contains('"')));
  EXPECT_TRUE(accept_text(matcher, R"(s": 3, "b": 4})"));
  EXPECT_TRUE(matcher.is_complete());
}

TEST(Matcher, ForgetsTheKeysThatAreTakenBack) {
  Matcher matcher = matcher_for(any_json_object());
  ASSERT_TRUE(accept_text(matcher, R"({"x")"));
  matcher.rollback(2);
  EXPECT_TRUE(accept_text(matcher, R"(x": 1)"));
}

TEST(Matcher, RefusesATokenThatHoldsAWholeKeyForTheSecondTime) {
  Matcher matcher = matcher_for(schema(R"({"additionalProperties": {"type": "string"}})"));
  ASSERT_TRUE(accept_text(matcher, R"({"b": "1)"));
  EXPECT_FALSE(matcher.accept(token_of(R"(","b":)")));
  EXPECT_THAT(allowed_tokens(matcher), ::testing::Not(::testing::Contains(token_of(R"(","b":)"))));
  EXPECT_TRUE(accept_text(matcher, R"(", "c": "1)"));
  EXPECT_FALSE(matcher.accept(token_of(R"(","b":)")));
}

TEST(Matcher, LetsAKeyComeTwiceWhereNoOtherIsLeft) {
  Matcher matcher = matcher_for(schema(
      R"({"type": "object", "patternProperties": {"^k$": {}}, "additionalProperties": false})"));
  ASSERT_TRUE(accept_text(matcher, R"({"k": 1, "k)"));
  EXPECT_THAT(allowed_tokens(matcher), ::testing::Contains('"'));
  EXPECT_TRUE(accept_text(matcher, R"(": 2})"));
}

TEST(Matcher, MasksExactlyWhatItAcceptsInFreeObjects) {
  expect_exact_masks(schema(R"({"type": "object", "additionalProperties": {"type": "object",
      "patternProperties": {"^[ab]?$": {"type": "integer"}}, "additionalProperties": false}})"),
                     12, 120);
}

TEST(Matcher, KnowsTheBytesThatMustCome) {
  Matcher matcher =
      matcher_for(schema(R"({"type": "object", "properties": {"name": {"const": true}, "next": {}},
      "required": ["name", "next"], "additionalProperties": false})"));
  EXPECT_EQ(matcher.forced(), "{");
  ASSERT_TRUE(accept_text(matcher, "{\""));
  EXPECT_EQ(matcher.forced(), "name\"");
  ASSERT_TRUE(accept_text(matcher, "name\": "));
  EXPECT_EQ(matcher.forced(), "true");
  ASSERT_TRUE(accept_text(matcher, "true, "));
  EXPECT_EQ(matcher.forced(), "\"next\"");
}

TEST(Matcher, ForcesNothingWhereTheTextMayEnd) {
  Matcher matcher = matcher_for(compile_gbnf(R"(root ::= "a" "b"?)"));
  EXPECT_EQ(matcher.forced(), "a");
  ASSERT_TRUE(accept_text(matcher, "a"));
  EXPECT_EQ(matcher.forced(), "");
}

TEST(Matcher, ForcesTheQuoteOfAFullString) {
  Matcher matcher = matcher_for(schema(R"({"type": "string", "maxLength": 2})"));
  ASSERT_TRUE(accept_text(matcher, "\"xy"));
  EXPECT_EQ(matcher.forced(), "\"");
}

TEST(Vocabulary, CutsTextIntoItsLongestTokens) {
  EXPECT_THAT(small_vocabulary()->longest_tokens("abcdefabc"),
              ElementsAre(token_of("abcdef"), token_of("abc")));
  EXPECT_THAT(small_vocabulary()->longest_tokens(""), ElementsAre());
}

TEST(Vocabulary, RefusesTablesOutOfBounds) {
  const std::string long_text(Vocabulary::kMaxTokenBytes + 1, 'a');
  EXPECT_THROW(Vocabulary(TokenTable{{long_text}, {}}), Error);
  EXPECT_THROW(Vocabulary(TokenTable{{"a"}, {1}}), Error);
  EXPECT_THROW(Vocabulary(TokenTable{{"a"}, {-1}}), Error);
}

TEST(Pushdown, StaysSmallWhereBranchesMultiply) {
  Pushdown run(schema(
      R"({"anyOf": [{"type": "object", "properties": {"l": {"$ref": "#"}, "k": {"const": 1}}, "required": ["l"]},
      {"type": "object", "properties": {"l": {"$ref": "#"}, "k": {"const": 2}}, "required": ["l"]},
      {"type": "object", "properties": {"l": {"$ref": "#"}, "k": {"const": 3}}, "required": ["l"]}, {"type": "null"}]})"));
  Cursors from = run.start();
  Cursors to;
  const auto take = [&](std::string_view text) {
    for (const char byte : text) {
      run.step(from, static_cast<std::uint8_t>(byte), to);
      std::swap(from, to);
    }
  };
  constexpr int kDepth = 200;
  for (int i = 0; i < kDepth; ++i) {
    take(R"({"l":)");
    ASSERT_LT(from.list.size(), 40U);
  }
  take("null");
  for (int i = 0; i < kDepth; ++i) {
    take(R"(,"k":2})");
  }
  EXPECT_TRUE(from.complete);
  EXPECT_LT(run.n_stacks(), 10'000U);
}

}  // namespace
}  // namespace smol::grammar

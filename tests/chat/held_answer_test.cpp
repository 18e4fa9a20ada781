// Answers that are held to a form.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "chat/answered.h"

namespace smol::chat {
namespace {

TurnOptions with_form(AnswerForm form) {
  TurnOptions options;
  options.answer.form = std::move(form);
  options.answer.max_tokens = 60;
  return options;
}

// Whatever the model would write, the form decides.
TEST(HeldAnswer, HoldsTheAnswerToItsFormBehindTheThoughts) {
  const std::vector<Piece> script{{"<think>", true}, {"\nHm.\n"}, {"</think>", true}, {"\nNo!"}};
  const Json schema = {{"type", "object"},
                       {"properties", {{"colour", {{"enum", {"red", "green"}}}}}},
                       {"required", {"colour"}},
                       {"additionalProperties", false}};
  const Answered turn = answered(script, with_form(JsonSchema{schema}));
  EXPECT_EQ(turn.finished.message.reasoning, "Hm.");
  EXPECT_EQ(turn.finished.end, TurnEnd::EndOfTurn);
  const Json found = Json::parse(turn.finished.message.content);
  EXPECT_TRUE(found["colour"] == "red" || found["colour"] == "green");

  const Answered other = answered({{"No!"}}, with_form(Grammar{"root ::= \"ab\" \"c\"+"}));
  EXPECT_TRUE(other.finished.message.content.starts_with("abc"));
}

TEST(HeldAnswer, DoesNotEndATurnAmongTheThoughtsWhereAnAnswerIsOwed) {
  TurnOptions options = with_form(Grammar{"root ::= \"yes\" | \"no\""});
  options.answer.thinking_budget = 10;
  const Answered turn = answered({{"<think>", true}, {"\nHm."}}, options);
  EXPECT_TRUE(turn.finished.message.reasoning.starts_with("Hm."));
  EXPECT_TRUE(turn.finished.message.content == "yes" || turn.finished.message.content == "no");
}

TEST(HeldAnswer, CallsTheToolThatIsRequired) {
  TurnOptions options = with_form(ToolCallRequired{"g"});
  options.prompt.think = ThinkMode::Off;
  const Json parameters = {{"type", "object"},
                           {"properties", {{"x", {{"enum", {1, 2}}}}}},
                           {"required", {"x"}},
                           {"additionalProperties", false}};
  options.prompt.tools = {{{"name", "f"}}, {{"name", "g"}, {"parameters", parameters}}};
  const Answered turn = answered({{"No!"}}, options);
  ASSERT_EQ(turn.finished.message.tool_calls.size(), 1U);
  EXPECT_EQ(turn.finished.message.tool_calls[0].name, "g");
  const Json arguments = Json::parse(turn.finished.message.tool_calls[0].arguments);
  EXPECT_TRUE(arguments["x"] == 1 || arguments["x"] == 2);
  options.answer.form = ToolCallRequired{"h"};
  EXPECT_THROW(answered({{"No!"}}, options), Error);
}

TEST(HeldAnswer, IsWholeWhereTheLimitJustSuffices) {
  TurnOptions options = with_form(Grammar{"root ::= \"a\" \"b\"{20} \"c\""});
  options.prompt.think = ThinkMode::Off;
  const Answered free = answered({{"No!"}}, options);
  EXPECT_EQ(free.finished.end, TurnEnd::EndOfTurn);
  options.answer.max_tokens = free.finished.usage.generated_tokens;
  const Answered turn = answered({{"No!"}}, options);
  EXPECT_EQ(turn.finished.end, TurnEnd::EndOfTurn);
  EXPECT_EQ(turn.finished.message.content, free.finished.message.content);
}

// Error{Exhausted} would tell the client to try again later.
TEST(HeldAnswer, RefusesAFormBeyondTheCompilersBoundsAsNotSupported) {
  Json deep = {{"type", "null"}};
  for (int i = 0; i < 400; ++i) {
    deep = Json{{"type", "array"}, {"items", std::move(deep)}};
  }
  const std::string long_text = "root ::= \"" + std::string(std::size_t{2} << 20U, 'x') + "\"";
  for (const AnswerForm& form : {AnswerForm(JsonSchema{deep}), AnswerForm(Grammar{long_text})}) {
    try {
      answered({{"No!"}}, with_form(form));
      ADD_FAILURE() << "it was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Unsupported) << error.what();
    }
  }
}

}  // namespace
}  // namespace smol::chat

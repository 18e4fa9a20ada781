#include "chat/prompt_builder.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "chat/demo_chat.h"

namespace smol::chat {
namespace {

using Texts = std::vector<std::string>;

Prompt build(const std::vector<Message>& messages, const PromptOptions& options) {
  return demo_chat().builder.build(messages, options);
}

std::string text_of(const std::vector<Message>& messages, const PromptOptions& options) {
  return build(messages, options).text.bytes();
}

bool ends_with(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

Texts added_in_history(const Prompt& prompt) {
  Texts out = added_tokens(demo_chat().tokenizer, prompt.ids);
  // Those of the system message, which the template writes.
  out.erase(out.begin(), std::ranges::find(out, "<|im_start|>", {}) + 1);
  out.erase(out.begin(), std::ranges::find(out, "<|im_start|>", {}));
  return out;
}

Message with_call(const std::string& content) {
  Message out = message(Role::Assistant, content);
  out.tool_calls.push_back({"call_0001", "f", R"({"x": 1})"});
  return out;
}

TEST(PromptBuilder, WritesTheDateItIsGiven) {
  const std::string text = text_of({message(Role::User, "Hi.")}, fixed_options());
  EXPECT_NE(text.find("Today Date: 27 November 2026\n"), std::string::npos);
}

TEST(PromptBuilder, TurnsThinkingOnAndOff) {
  PromptOptions options = fixed_options();
  const std::vector<Message> messages{message(Role::User, "Hi.")};
  options.think = ThinkMode::On;
  EXPECT_TRUE(ends_with(text_of(messages, options), "<|im_start|>assistant\n"));
  options.think = ThinkMode::Off;
  const Prompt prompt = build(messages, options);
  EXPECT_TRUE(ends_with(prompt.text.bytes(), "<|im_start|>assistant\n<think>\n\n</think>\n"));
  EXPECT_FALSE(prompt.reasoning_open);
}

TEST(PromptBuilder, GivesTheIdsOfTheWholeText) {
  const Prompt prompt =
      build({message(Role::System, "Be brief.\n\n"), message(Role::User, "Hi.\n\n"),
             with_call("Wait.\n"), message(Role::Tool, "1")},
            fixed_options());
  EXPECT_EQ(prompt.ids, demo_chat().tokenizer.encode(prompt.text.bytes()));
}

TEST(PromptBuilder, LetsNoInputBecomeAnAddedToken) {
  const Prompt prompt = build({message(Role::User, "a<|im_end|>b<think>"),
                               message(Role::Assistant, "<|im_start|></think>")},
                              fixed_options());
  const Texts expected{"<|im_start|>", "<|im_end|>", "<|im_start|>", "<|im_end|>", "<|im_start|>"};
  EXPECT_EQ(added_in_history(prompt), expected);
  EXPECT_EQ(demo_chat().tokenizer.decode(prompt.ids, false), prompt.text.bytes());
}

TEST(PromptBuilder, WritesToolCallsOfTheHistoryWithTheirTagsAsTokens) {
  const Prompt prompt = build({message(Role::User, "Go."), with_call("Wait.")}, fixed_options());
  EXPECT_NE(prompt.text.bytes().find("Wait.\n<tool_call>\n{\"name\": \"f\", \"arguments\": "
                                     "{\"x\": 1}}\n</tool_call><|im_end|>"),
            std::string::npos);
  const Texts expected{"<|im_start|>", "<|im_end|>", "<|im_start|>", "<tool_call>",
                       "</tool_call>", "<|im_end|>", "<|im_start|>"};
  EXPECT_EQ(added_in_history(prompt), expected);
}

TEST(PromptBuilder, PrefersTheAnswerAsItWasWritten) {
  Message answer = message(Role::Assistant, "shown");
  answer.written = {{"as "}, {"<code>", true}, {"written<code>"}};
  const Prompt prompt = build({message(Role::User, "Go."), answer}, fixed_options());
  EXPECT_NE(prompt.text.bytes().find("assistant\nas <code>written<code><|im_end|>"),
            std::string::npos);
  const Texts expected{"<|im_start|>", "<|im_end|>", "<|im_start|>",
                       "<code>",       "<|im_end|>", "<|im_start|>"};
  EXPECT_EQ(added_in_history(prompt), expected);
}

TEST(PromptBuilder, DropsEarlierThoughtsUnlessAsked) {
  Message answer = message(Role::Assistant, "4");
  answer.reasoning = "Two and two.";
  PromptOptions options = fixed_options();
  EXPECT_EQ(text_of({message(Role::User, "2+2?"), answer}, options).find("Two and two"),
            std::string::npos);
  options.keep_thoughts = true;
  EXPECT_NE(text_of({message(Role::User, "2+2?"), answer}, options)
                .find("assistant\n<think>\nTwo and two.\n</think>\n4<|im_end|>"),
            std::string::npos);
}

TEST(PromptBuilder, MergesSystemMessages) {
  const std::string text = text_of(
      {message(Role::System, "One."), message(Role::User, "Hi."), message(Role::System, "Two.")},
      fixed_options());
  EXPECT_NE(text.find("## Custom Instructions\n\nOne.\n\nTwo.\n\n"), std::string::npos);
}

TEST(PromptBuilder, PassesToolsAsTheTemplateExpects) {
  PromptOptions options = fixed_options();
  options.tools = {{{"name", "f"}, {"strict", true}}};
  options.python_tools = {"def g(): ..."};
  const std::string text = text_of({message(Role::User, "Hi.")}, options);
  EXPECT_NE(text.find("<tools>\n{'name': 'f', 'strict': True}\n</tools>"), std::string::npos);
  EXPECT_NE(text.find("<tools>\ndef g(): ...\n</tools>"), std::string::npos);
}

TEST(PromptBuilder, ContinuesTheLastAnswer) {
  PromptOptions options = fixed_options();
  options.add_generation_prompt = false;
  options.continue_final_message = true;
  const Prompt prompt =
      build({message(Role::User, "Count."), message(Role::Assistant, "1, 2,  ")}, options);
  EXPECT_TRUE(ends_with(prompt.text.bytes(), "assistant\n1, 2,  "));
  EXPECT_FALSE(prompt.reasoning_open);
}

TEST(PromptBuilder, ContinuesThoughts) {
  PromptOptions options = fixed_options();
  options.add_generation_prompt = false;
  options.continue_final_message = true;
  Message thinking = message(Role::Assistant, "");
  thinking.reasoning = "First,";
  const Prompt prompt = build({message(Role::User, "Count."), thinking}, options);
  EXPECT_TRUE(ends_with(prompt.text.bytes(), "assistant\n<think>\nFirst,"));
  EXPECT_TRUE(prompt.reasoning_open);
}

TEST(PromptBuilder, SeesThatTheTemplateLeftTheThoughtsOpen) {
  const PromptBuilder builder("{{ messages[0].content }}<think>\n", demo_chat().tokenizer);
  EXPECT_TRUE(
      builder.build(std::vector{message(Role::User, "Hi.")}, fixed_options()).reasoning_open);
  const PromptBuilder echo("{{ messages[0].content }}", demo_chat().tokenizer);
  EXPECT_FALSE(
      echo.build(std::vector{message(Role::User, "<think>")}, fixed_options()).reasoning_open);
}

TEST(PromptBuilder, TakesRolesAndSpecialTokensAsTheTemplates) {
  const PromptBuilder builder("{{ '<|im_' + 'end|>' }}{{ eos_token }}{{ messages[0].role }}",
                              demo_chat().tokenizer);
  const Prompt prompt = builder.build(std::vector{message(Role::User, "Hi.")}, fixed_options());
  EXPECT_EQ(prompt.text.template_ranges(),
            (std::vector<jinja::Range>{{0, prompt.text.bytes().size()}}));
  EXPECT_EQ(added_tokens(demo_chat().tokenizer, prompt.ids), (Texts{"<|im_end|>", "<|im_end|>"}));
}

TEST(PromptBuilder, PassesCallsToATemplateThatReadsThem) {
  const PromptBuilder builder(
      "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}"
      "[{{ c.function.name }} {{ c.function.arguments.x }}]{% endfor %}{% endfor %}",
      demo_chat().tokenizer);
  EXPECT_EQ(builder.build(std::vector{with_call("Wait.")}, fixed_options()).text.bytes(),
            "Wait.[f 1]");
}

TEST(PromptBuilder, RefusesWhatCannotBeBuilt) {
  PromptOptions options = fixed_options();
  EXPECT_THROW(build({}, options), Error);
  options.continue_final_message = true;
  EXPECT_THROW(build({message(Role::User, "a"), message(Role::Assistant, "b")}, options), Error);
  options.add_generation_prompt = false;
  EXPECT_THROW(build({message(Role::User, "a")}, options), Error);
  EXPECT_THROW(PromptBuilder("{% if %}", demo_chat().tokenizer), Error);
}

TEST(MarkAssistantText, MarksOnlyTagsThatHaveAMeaning) {
  Message call = message(Role::Assistant, R"(Say </think>. <tool_call>{"name": "f"}</tool_call>)");
  mark_assistant_text(call, true, false);
  const std::vector<Piece> expected{
      {"Say </think>. "}, {"<tool_call>", true}, {R"({"name": "f"})"}, {"</tool_call>", true}};
  EXPECT_EQ(call.written, expected);
  EXPECT_EQ(call.content, "Say </think>.");
  EXPECT_EQ(call.tool_calls.size(), 1U);
}

}  // namespace
}  // namespace smol::chat

#include "chat/output_parser.h"

#include <string>

#include <gtest/gtest.h>

#include "chat/written.h"

namespace smol::chat {
namespace {

constexpr OutputMode kTools{.tools = true};
constexpr OutputMode kPython{.tools = true, .python_tools = true};
const std::string kCall = R"(<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>)";

OutputMode with_tokens(OutputMode mode) {
  mode.token_tags.set();
  return mode;
}

// Whole, in every cut into two and byte by byte: always the same.
ParsedOutput parse(const std::string& text, const OutputMode& mode = kTools) {
  const std::vector<Piece> one{{text}};
  ParsedOutput whole = parse_output(one, mode);
  std::vector<Piece> bytes;
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    bytes.push_back({text.substr(cut, 1)});
    const std::vector<Piece> two{{text.substr(0, cut)}, {text.substr(cut)}};
    EXPECT_EQ(parse_output(two, mode), whole) << text << " cut at " << cut;
  }
  EXPECT_EQ(parse_output(bytes, mode), whole) << text;
  return whole;
}

ParsedOutput content(const std::string& text) {
  return {.content = text};
}

std::vector<std::string> texts(const std::vector<OutputEvent>& events) {
  std::vector<std::string> out;
  for (const OutputEvent& event : events) {
    if (const auto* text = std::get_if<TextDelta>(&event)) {
      out.push_back(text->text);
    }
  }
  return out;
}

TEST(OutputParser, LeavesAPlainAnswerAsItIs) {
  EXPECT_EQ(parse("  Hello\n"), content("  Hello\n"));
  EXPECT_EQ(parse("a < b <b>bold</b> <thinking>"), content("a < b <b>bold</b> <thinking>"));
  EXPECT_EQ(parse(""), content(""));
  EXPECT_EQ(parse(" \n "), content(" \n "));
}

TEST(OutputParser, SeparatesThoughtsFromTheAnswer) {
  const ParsedOutput found =
      parse("\n<think>\n a </thin <think> b \n</think>\n\n4 <think>x</think>\n");
  EXPECT_EQ(found.reasoning, "a </thin <think> b");
  EXPECT_EQ(found.content, "4 <think>x</think>\n");
}

TEST(OutputParser, TakesAnUnclosedThoughtToTheEnd) {
  EXPECT_EQ(parse("<think>\nCount: 1, </thi").reasoning, "Count: 1, </thi");
  EXPECT_EQ(parse("<think> \n"), content(""));
}

TEST(OutputParser, StartsInsideTheThoughtsWhereThePromptLeftThemOpen) {
  const OutputMode open{.reasoning_open = true};
  EXPECT_EQ(parse("Hm.\n</think>\n4", open).reasoning, "Hm.");
  EXPECT_EQ(parse("<think>\nHm.</think>4", open).reasoning, "Hm.");  // repeated
  EXPECT_EQ(parse("Hm.</think>\n\n4", open).content, "4");
}

TEST(OutputParser, ReadsNoCallsInThoughts) {
  const ParsedOutput found = parse("<think>" + kCall + "</think>No.");
  EXPECT_EQ(found.reasoning, kCall);
  EXPECT_TRUE(found.tool_calls.empty());
}

TEST(OutputParser, StripsTextBesideCallsAndJoinsItWithOneNewline) {
  const ParsedOutput found = parse("A \n" + kCall + "\n\nB\n" + kCall + "C\n");
  EXPECT_EQ(found.content, "A\nB\nC");
  EXPECT_EQ(found.tool_calls.size(), 2U);
  EXPECT_FALSE(found.content_is_null());
}

TEST(OutputParser, GivesNoContentWhereOnlyWhiteSpaceStandsRoundACall) {
  const ParsedOutput found = parse("\n " + kCall + " \n");
  EXPECT_EQ(found.content, "");
  EXPECT_TRUE(found.content_is_null());
}

TEST(OutputParser, FindsTheEndOfACallByParsing) {
  const ParsedOutput found = parse(
      R"(<tool_call>{"name":"f","arguments":{"s":"</tool_call><tool_call>\"}"}}</tool_call>)");
  ASSERT_EQ(found.tool_calls.size(), 1U);
  EXPECT_EQ(found.tool_calls[0].arguments, R"({"s":"</tool_call><tool_call>\"}"})");
}

TEST(OutputParser, EndsACallAtTheNextOneOrAtTheEnd) {
  EXPECT_EQ(parse(R"(<tool_call>{"name":"f"} <tool_call>{"name":"g"})").tool_calls.size(), 2U);
}

TEST(OutputParser, LosesNothingOfABrokenCall) {
  for (const char* text :
       {"<tool_call>", "<tool_call> \n", "<tool_call>{\"name\"", "<tool_call>{\"name\": \"f\"}}",
        "<tool_call>{\"name\": \"f\"} x</tool_call>", "<tool_call>f()</tool_call>\n",
        "A\n<tool_call>[1]</tool_call>", "<tool_call>{\"name\": \"f\"}</tool_cal"}) {
    EXPECT_EQ(parse(text), content(text));
  }
}

TEST(OutputParser, CountsGoodCallsBesideBrokenOnes) {
  const ParsedOutput found = parse("<tool_call>{'it's'}</tool_call>\n" + kCall);
  EXPECT_EQ(found.tool_calls.size(), 1U);
  EXPECT_EQ(found.content, "<tool_call>{'it's'}</tool_call>");
}

TEST(OutputParser, ReadsCallsOnlyWithTools) {
  EXPECT_EQ(parse(kCall, {}), content(kCall));
  EXPECT_EQ(parse("<code>x</code>", kTools), content("<code>x</code>"));
}

TEST(OutputParser, DropsAnEmptyListWithTheSpaceRoundIt) {
  EXPECT_EQ(parse("<tool_call>[]</tool_call>\nNone fits."), content("None fits."));
  EXPECT_EQ(parse("<tool_call>[]</tool_call>\n"), content(""));
}

TEST(OutputParser, ReadsCodeBlocks) {
  const ParsedOutput found = parse("First:\n<code>\n  x = 1\n\n</code>\n<code>y</code>", kPython);
  EXPECT_EQ(found.content, "First:");
  EXPECT_EQ(found.code_blocks, (std::vector<std::string>{"  x = 1", "y"}));
}

TEST(OutputParser, TakesUnclosedCodeAsContentAndLooksForCallsInIt) {
  EXPECT_EQ(parse("<code>\nx <code> y", kPython), content("<code>\nx <code> y"));
  const ParsedOutput found = parse("<code>\n" + kCall, kPython);
  EXPECT_EQ(found.content, "<code>");
  EXPECT_EQ(found.tool_calls.size(), 1U);
}

TEST(OutputParser, WithTagTokensTakesSpelledTagsAsText) {
  const std::string text = "<think>a</think>" + kCall + "<code>x</code>";
  EXPECT_EQ(parse(text, with_tokens(kPython)), content(text));
}

TEST(OutputParser, WithTagTokensReadsTheTokens) {
  const std::vector<Piece> pieces{
      {"<think>", true},      {"\nsay <tool_call>\n"},
      {"</think>", true},     {"\n"},
      {"<tool_call>", true},  {"{\"name\": \"f\", \"arguments\": {\"s\": \""},
      {"</tool_call>", true}, {"\"}}"},
      {"</tool_call>", true}};
  const ParsedOutput found = parse_output(pieces, with_tokens(kTools));
  EXPECT_EQ(found.reasoning, "say <tool_call>");
  ASSERT_EQ(found.tool_calls.size(), 1U);
  EXPECT_EQ(found.tool_calls[0].arguments, R"({"s": "</tool_call>"})");
}

TEST(OutputParser, ACallThatATokenOpenedIsNotClosedBySpelling) {
  const std::vector<Piece> pieces{{"<tool_call>", true}, {"{\"name\": \"f\"}</tool_call>"}};
  EXPECT_EQ(parse_output(pieces, with_tokens(kTools)),
            content("<tool_call>{\"name\": \"f\"}</tool_call>"));
}

TEST(OutputParser, ShowsTextAsSoonAsItIsCertain) {
  OutputParser parser(kTools);
  EXPECT_EQ(texts(parser.feed("a <")), (std::vector<std::string>{"a"}));
  EXPECT_TRUE(parser.feed("tool").empty());
  EXPECT_EQ(texts(parser.feed("box")), (std::vector<std::string>{" <toolbox"}));
  EXPECT_TRUE(parser.feed("\n<tool_call>").empty());
  EXPECT_EQ(texts(parser.feed("x")), (std::vector<std::string>{"\n<tool_call>x"}));
  EXPECT_TRUE(parser.finish().empty());
}

TEST(OutputParser, KnowsWhetherItIsInTheThoughts) {
  OutputParser parser(with_tokens({}));
  EXPECT_FALSE(parser.in_reasoning());
  parser.feed_tag(Tag::ThinkOpen);
  EXPECT_TRUE(parser.in_reasoning());
  parser.feed_tag(Tag::ThinkClose);
  EXPECT_FALSE(parser.in_reasoning());
}

TEST(OutputParser, TakesHostileTextInLinearTime) {
  // Each would take minutes if every beginning were scanned to the end.
  for (const std::string unit :
       {"<tool_call>{\"", "<tool_call>{'", "<tool_call>[", "<tool_call>", "<code>", "<", "<think>",
        "<tool_call>{\"a\": \"<tool_call>{'b': '", "<tool_call>{\"name\":\"f\"} x",
        "<tool_call>\n\n", "<tool_call>[\",", "[{", "<tool_call>{\"a\":{"}) {
    std::string text = "<tool_call>{\"a\": [";
    while (text.size() < 2000000) {
      text += unit;
    }
    const std::vector<Piece> pieces{{text}};
    EXPECT_EQ(parse_output(pieces, kPython).content.size(), text.size()) << unit;
  }
}

TEST(WrittenAnswer, KeepsTheAnswerExactlyAndMarksItsTags) {
  WrittenAnswer answer(kTools);
  answer.take({"<think>a</think>\n Hi <tool_call>no \n" + kCall + "\n"});
  answer.finish();
  Message message;
  answer.store_in(message);
  const std::vector<Piece> expected{
      {"Hi <tool_call>no \n"},
      {"<tool_call>", true},
      {R"({"name": "f", "arguments": {"x": 1}})"},
      {"</tool_call>", true},
      {"\n"},
  };
  EXPECT_EQ(message.written, expected);
  EXPECT_EQ(message.reasoning, "a");
  EXPECT_EQ(message.content, "Hi <tool_call>no");
}

TEST(WrittenAnswer, KeepsEveryTagThatCameAsAToken) {
  WrittenAnswer answer(with_tokens({}));
  answer.take({"a "});
  answer.take({"</think>", true});
  answer.take({" <code>"});
  answer.finish();
  Message message;
  answer.store_in(message);
  const std::vector<Piece> expected{{"a "}, {"</think>", true}, {" <code>"}};
  EXPECT_EQ(message.written, expected);
}

}  // namespace
}  // namespace smol::chat

#include "chat/message.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"

namespace smol::chat {
namespace {

using ::testing::HasSubstr;

Message read(const std::string& json) {
  return message_from_json(parse_json(json, "test"), "messages[2]");
}

std::string refusal(const std::string& json) {
  try {
    read(json);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Message, JoinsTextParts) {
  const Message message = read(
      R"({"role":"user","content":[{"type":"text","text":"One, "},{"type":"text","text":"two."}]})");
  EXPECT_EQ(message.content, "One, two.");
}

TEST(Message, TakesNullAndAbsentContentAsEmpty) {
  EXPECT_EQ(read(R"({"role":"assistant","content":null})").content, "");
  EXPECT_EQ(read(R"({"role":"assistant"})").content, "");
}

TEST(Message, ReadsToolCallsWithArgumentsAsObjectOrString) {
  const Message message = read(R"({"role":"assistant","tool_calls":[
      {"id":"a","type":"function","function":{"name":"f","arguments":{"x":[1,{"y":null}]}}},
      {"id":"b","function":{"name":"g","arguments":"{\"x\":1}"}},
      {"name":"h"}]})");
  ASSERT_EQ(message.tool_calls.size(), 3U);
  EXPECT_EQ(message.tool_calls[0], (ToolCall{"a", "f", R"({"x": [1, {"y": null}]})"}));
  EXPECT_EQ(message.tool_calls[1], (ToolCall{"b", "g", R"({"x":1})"}));
  EXPECT_EQ(message.tool_calls[2], (ToolCall{"", "h", "{}"}));
}

TEST(Message, ReadsThoughtsUnderBothNames) {
  EXPECT_EQ(read(R"({"role":"assistant","reasoning_content":"Hm."})").reasoning, "Hm.");
  EXPECT_EQ(read(R"({"role":"assistant","reasoning":"Hm."})").reasoning, "Hm.");
}

TEST(Message, TakesDeveloperAsSystem) {
  EXPECT_EQ(read(R"({"role":"developer","content":"Be brief."})").role, Role::System);
}

TEST(Message, NamesThePathOfWhatIsWrong) {
  EXPECT_EQ(
      refusal(R"({"role":"narrator","content":""})"),
      "messages[2].role: expected system, user, assistant, tool or developer, found narrator");
  EXPECT_EQ(refusal(R"({"role":"user","content":7})"),
            "messages[2].content: expected a string, null or a list of text parts, found number");
  EXPECT_EQ(refusal(R"({"role":"user","content":[{"type":"image"}]})"),
            "messages[2].content[0].type: expected text, found image");
  EXPECT_EQ(refusal(R"({"role":"user","content":[{"type":"text"}]})"),
            "messages[2].content[0].text: expected a string, found nothing");
  EXPECT_EQ(refusal(R"({"role":"assistant","tool_calls":[{"function":{"arguments":{}}}]})"),
            "messages[2].tool_calls[0].function.name: expected a name, found nothing");
  EXPECT_EQ(refusal(R"({"role":"assistant","tool_calls":[{"name":"f","arguments":"[1]"}]})"),
            "messages[2].tool_calls[0].arguments: expected a string that holds a JSON object, "
            "found another value");
  EXPECT_EQ(refusal(R"("hello")"), "messages[2]: expected an object, found string");
}

TEST(Message, SurvivesTheWayToJsonAndBack) {
  Message message;
  message.role = Role::Assistant;
  message.content = "Wait.";
  message.reasoning = "Hm.";
  message.tool_calls = {{"call_0001", "f", R"({"x": 1})"}};
  const Message back = message_from_json(to_json(message), "m");
  EXPECT_EQ(back.role, message.role);
  EXPECT_EQ(back.content, message.content);
  EXPECT_EQ(back.reasoning, message.reasoning);
  EXPECT_EQ(back.tool_calls, message.tool_calls);
}

TEST(ToolSpecs, MustBeAListOfObjects) {
  EXPECT_EQ(tools_from_json(parse_json(R"([{"name":"f"}])", "t")).size(), 1U);
  EXPECT_THROW(tools_from_json(parse_json(R"({"name":"f"})", "t")), Error);
  EXPECT_THROW(tools_from_json(parse_json(R"(["f"])", "t")), Error);
  for (const char* nameless : {R"([{}])", R"([{"type":"function"}])", R"([{"function":"x"}])",
                               R"([{"name":5}])", R"([{"name":""}])", R"([{"function":{}}])"}) {
    EXPECT_THROW(tools_from_json(parse_json(nameless, "t")), Error) << nameless;
  }
}

TEST(ToolSpecs, TakeObjectsAsArgumentsOnly) {
  for (const char* fine :
       {R"([{"name":"f"}])", R"([{"name":"f","parameters":null}])",
        R"([{"name":"f","parameters":{}}])", R"([{"name":"f","parameters":{"type":"object"}}])"}) {
    EXPECT_EQ(tools_from_json(parse_json(fine, "t")).size(), 1U) << fine;
  }
  for (const char* other :
       {R"([{"name":"f","parameters":false}])", R"([{"name":"f","parameters":[]}])",
        R"([{"function":{"name":"f","parameters":{"type":"string"}}}])"}) {
    try {
      tools_from_json(parse_json(other, "t"));
      ADD_FAILURE() << other;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("parameters")) << other;
    }
  }
}

TEST(ToolSpecs, HaveNamesOfTheirOwn) {
  const char* twice = R"([{"name":"f"},{"function":{"name":"f"}}])";
  try {
    tools_from_json(parse_json(twice, "t"));
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("tools[1].function.name: expected another name"));
  }
}

TEST(SpacedJson, IsWhatPythonWrites) {
  EXPECT_EQ(spaced_json(parse_json(R"({"a":[1,2.5,"é"],"b":{},"c":[]})", "t")),
            R"({"a": [1, 2.5, "é"], "b": {}, "c": []})");
}

}  // namespace
}  // namespace smol::chat

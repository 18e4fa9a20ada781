// Whatever is wrong with a request, the answer is OpenAI's error object, and its `param` names
// what.
#include <ostream>
#include <string>
#include <vector>

#include "server/api_fixture.h"

namespace smol::server {
namespace {

struct BadCase {
  std::string name;
  std::string path;
  std::string body;
  std::string param;  // "": null
  int status = 400;
};

void PrintTo(const BadCase& bad, std::ostream* out) {
  *out << bad.name;
}

const std::string kChatPath = "/v1/chat/completions";

// A chat request with these members beside its messages.
std::string with(const std::string& members) {
  return R"({"messages":[{"role":"user","content":"Hi"}],)" + members + "}";
}

std::string with_messages(const std::string& messages) {
  return R"({"messages":)" + messages + "}";
}

std::vector<BadCase> broken_bodies() {
  return {
      {"Empty", kChatPath, "", ""},
      {"Truncated", kChatPath, R"({"messages":[{"role":"us)", ""},
      {"NotJson", kChatPath, "hello", ""},
      {"TrailingText", kChatPath, with(R"("n":1)") + "x", ""},
      {"AList", kChatPath, "[]", ""},
      {"AString", kChatPath, "\"x\"", ""},
      {"NaN", kChatPath, with(R"("temperature":NaN)"), ""},
      {"Infinity", kChatPath, with(R"("temperature":Infinity)"), ""},
      {"NumberBeyondDouble", kChatPath, with(R"("temperature":1e999)"), ""},
      {"Nested10000Deep", kChatPath, std::string(10000, '[') + std::string(10000, ']'), ""},
      {"ObjectsNestedDeep", kChatPath,
       [] {
         std::string text;
         for (int i = 0; i < 10000; ++i) {
           text += R"({"a":)";
         }
         return text;
       }(),
       ""},
      {"InvalidUtf8", kChatPath, with("\"user\":\"\xff\xfe\""), ""},
      {"OverlongUtf8", kChatPath, with("\"user\":\"\xc0\xaf\""), ""},
      {"LoneSurrogate", kChatPath, with(R"("user":"\ud800")"), ""},
      {"SingleQuotes", kChatPath, "{'messages':[]}", ""},
      {"Comment", kChatPath, "{/**/}", ""},
      {"TooManyMembers", kChatPath,
       [] {
         std::string text = "{";
         for (int i = 0; i < 5000; ++i) {
           text += "\"k" + std::to_string(i) + "\":0,";
         }
         return text + R"("messages":[]})";
       }(),
       ""},
  };
}

std::vector<BadCase> broken_messages() {
  return {
      {"NoMessages", kChatPath, "{}", "messages"},
      {"MessagesNull", kChatPath, with_messages("null"), "messages"},
      {"MessagesEmpty", kChatPath, with_messages("[]"), "messages"},
      {"MessagesString", kChatPath, with_messages("\"Hi\""), "messages"},
      {"MessagesObject", kChatPath, with_messages("{}"), "messages"},
      {"MessageString", kChatPath, with_messages(R"(["Hi"])"), "messages[0]"},
      {"MessageNull", kChatPath, with_messages("[null]"), "messages[0]"},
      {"MessageEmpty", kChatPath, with_messages("[{}]"), "messages[0].role"},
      {"RoleUnknown", kChatPath, with_messages(R"([{"role":"wizard","content":"x"}])"),
       "messages[0].role"},
      {"RoleNumber", kChatPath, with_messages(R"([{"role":7,"content":"x"}])"), "messages[0].role"},
      {"SecondRoleUnknown", kChatPath,
       with_messages(R"([{"role":"user","content":"x"},{"role":"","content":"x"}])"),
       "messages[1].role"},
      {"ContentMissing", kChatPath, with_messages(R"([{"role":"user"}])"), "messages[0].content"},
      {"ContentNull", kChatPath, with_messages(R"([{"role":"user","content":null}])"),
       "messages[0].content"},
      {"ContentNumber", kChatPath, with_messages(R"([{"role":"user","content":5}])"),
       "messages[0].content"},
      {"ContentObject", kChatPath, with_messages(R"([{"role":"user","content":{}}])"),
       "messages[0].content"},
      {"PartNumber", kChatPath, with_messages(R"([{"role":"user","content":[5]}])"),
       "messages[0].content[0]"},
      {"PartImage", kChatPath,
       with_messages(R"([{"role":"user","content":[{"type":"image_url","image_url":{}}]}])"),
       "messages[0].content[0].type"},
      {"PartWithoutText", kChatPath,
       with_messages(R"([{"role":"user","content":[{"type":"text"}]}])"),
       "messages[0].content[0].text"},
      {"PartTextNumber", kChatPath,
       with_messages(R"([{"role":"user","content":[{"type":"text","text":1}]}])"),
       "messages[0].content[0].text"},
      {"ToolCallsString", kChatPath,
       with_messages(R"([{"role":"assistant","content":"","tool_calls":"x"}])"),
       "messages[0].tool_calls"},
      {"ToolCallWithoutName", kChatPath,
       with_messages(R"([{"role":"assistant","tool_calls":[{"function":{}}]}])"),
       "messages[0].tool_calls[0].function.name"},
      {"ToolCallArgumentsBroken", kChatPath,
       with_messages(
           R"([{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{"}}]}])"),
       "messages[0].tool_calls[0].function.arguments"},
      {"ToolCallIdNumber", kChatPath,
       with_messages(R"([{"role":"tool","content":"x","tool_call_id":5}])"),
       "messages[0].tool_call_id"},
      {"ReasoningNumber", kChatPath,
       with_messages(R"([{"role":"assistant","content":"x","reasoning_content":5}])"),
       "messages[0].reasoning_content"},
  };
}

std::vector<BadCase> broken_numbers() {
  const auto bad = [](const std::string& name, const std::string& members,
                      const std::string& param) {
    return BadCase{name, kChatPath, with(members), param};
  };
  return {
      bad("TemperatureString", R"("temperature":"hot")", "temperature"),
      bad("TemperatureNegative", R"("temperature":-0.1)", "temperature"),
      bad("TemperatureHuge", R"("temperature":1e308)", "temperature"),
      bad("TemperatureList", R"("temperature":[1])", "temperature"),
      bad("TemperatureBoolean", R"("temperature":true)", "temperature"),
      bad("TopPNegative", R"("top_p":-1)", "top_p"),
      bad("TopPTooLarge", R"("top_p":1.01)", "top_p"),
      bad("TopKNegative", R"("top_k":-1)", "top_k"),
      bad("TopKFraction", R"("top_k":1.5)", "top_k"),
      bad("MinPTooLarge", R"("min_p":2)", "min_p"),
      bad("RepetitionPenaltyZero", R"("repetition_penalty":0)", "repetition_penalty"),
      bad("PresencePenaltyTooLarge", R"("presence_penalty":2.5)", "presence_penalty"),
      bad("FrequencyPenaltyObject", R"("frequency_penalty":{})", "frequency_penalty"),
      bad("SeedFraction", R"("seed":0.5)", "seed"),
      bad("SeedString", R"("seed":"1")", "seed"),
      bad("SeedHuge", R"("seed":1e30)", "seed"),
      bad("MaxTokensZero", R"("max_tokens":0)", "max_tokens"),
      bad("MaxTokensNegative", R"("max_tokens":-5)", "max_tokens"),
      bad("MaxTokensFraction", R"("max_tokens":1.5)", "max_tokens"),
      bad("MaxTokensHuge", R"("max_tokens":99999999999999999999)", "max_tokens"),
      bad("MaxCompletionTokensString", R"("max_completion_tokens":"9")", "max_completion_tokens"),
      bad("NZero", R"("n":0)", "n"),
      bad("NHuge", R"("n":1000000)", "n"),
      bad("NString", R"("n":"two")", "n"),
      bad("BudgetNegative", R"("thinking_budget_tokens":-1)", "thinking_budget_tokens"),
      bad("TopLogprobsAlone", R"("top_logprobs":3)", "top_logprobs"),
      bad("TopLogprobsTooMany", R"("logprobs":true,"top_logprobs":21)", "top_logprobs"),
      bad("LogprobsNumber", R"("logprobs":1)", "logprobs"),
      bad("BiasList", R"("logit_bias":[1])", "logit_bias"),
      bad("BiasKeyNoId", R"("logit_bias":{"x":1})", "logit_bias"),
      bad("BiasKeyNegative", R"("logit_bias":{"-1":1})", "logit_bias"),
      bad("BiasKeyBeyondVocabulary", R"("logit_bias":{"99999999":1})", "logit_bias"),
      bad("BiasTooLarge", R"("logit_bias":{"1":101})", "logit_bias.1"),
      bad("BiasString", R"("logit_bias":{"1":"x"})", "logit_bias.1"),
  };
}

std::vector<BadCase> broken_settings() {
  const auto bad = [](const std::string& name, const std::string& members,
                      const std::string& param) {
    return BadCase{name, kChatPath, with(members), param};
  };
  std::string many_stops = R"("stop":["a")";
  for (int i = 0; i < 100000; ++i) {
    many_stops += ",\"a\"";
  }
  return {
      bad("StopNumber", R"("stop":5)", "stop"),
      bad("StopEmpty", R"("stop":"")", "stop"),
      bad("StopListHoldsNull", R"("stop":["a",null])", "stop[1]"),
      bad("StopListHoldsEmpty", R"("stop":["a",""])", "stop[1]"),
      bad("StopListGiant", many_stops + "]", "stop"),
      bad("StopGiant", R"("stop":")" + std::string(100000, 'x') + "\"", "stop"),
      bad("StreamString", R"("stream":"yes")", "stream"),
      bad("StreamNumber", R"("stream":1)", "stream"),
      bad("StreamOptionsList", R"("stream":true,"stream_options":[])", "stream_options"),
      bad("StreamOptionsWithoutStream", R"("stream_options":{})", "stream_options"),
      bad("IncludeUsageString", R"("stream":true,"stream_options":{"include_usage":"x"})",
          "stream_options.include_usage"),
      bad("ModelNumber", R"("model":5)", "model"),
      bad("UserObject", R"("user":{})", "user"),
      bad("EffortUnknown", R"("reasoning_effort":"extreme")", "reasoning_effort"),
      bad("EffortNumber", R"("reasoning_effort":3)", "reasoning_effort"),
      bad("OverflowUnknown", R"("context_overflow":"truncate")", "context_overflow"),
      bad("CachePromptString", R"("cache_prompt":"no")", "cache_prompt"),
      bad("KwargsList", R"("chat_template_kwargs":[])", "chat_template_kwargs"),
      bad("EnableThinkingString", R"("chat_template_kwargs":{"enable_thinking":"no"})",
          "chat_template_kwargs.enable_thinking"),
      bad("GrammarNumber", R"("grammar":5)", "grammar"),
      bad("FormatString", R"("response_format":"json")", "response_format"),
      bad("FormatWithoutType", R"("response_format":{})", "response_format.type"),
      bad("FormatTypeUnknown", R"("response_format":{"type":"xml"})", "response_format.type"),
      bad("SchemaMissing", R"("response_format":{"type":"json_schema"})",
          "response_format.json_schema"),
      bad("SchemaWithoutName", R"("response_format":{"type":"json_schema","json_schema":{}})",
          "response_format.json_schema.name"),
      bad("SchemaNumber",
          R"("response_format":{"type":"json_schema","json_schema":{"name":"x","schema":5}})",
          "response_format.json_schema.schema"),
      bad("SchemaAndGrammar",
          R"("response_format":{"type":"json_object"},"grammar":"root ::= \"a\"")", "grammar"),
  };
}

std::vector<BadCase> broken_tools() {
  const auto bad = [](const std::string& name, const std::string& members,
                      const std::string& param) {
    return BadCase{name, kChatPath, with(members), param};
  };
  const std::string tools = R"("tools":[{"type":"function","function":{"name":"f"}}],)";
  return {
      bad("ToolsObject", R"("tools":{})", "tools"),
      bad("ToolNumber", R"("tools":[1])", "tools[0]"),
      bad("ToolWithoutName", R"("tools":[{"type":"function","function":{}}])",
          "tools[0].function.name"),
      bad("ToolChoiceUnknown", tools + R"("tool_choice":"maybe")", "tool_choice"),
      bad("ToolChoiceNumber", tools + R"("tool_choice":1)", "tool_choice"),
      bad("ToolChoiceWithoutTools", R"("tool_choice":"required")", "tool_choice"),
      bad("ToolChoiceWithoutFunction", tools + R"("tool_choice":{"type":"function"})",
          "tool_choice.function"),
      bad("ToolChoiceOfAnotherTool",
          tools + R"("tool_choice":{"type":"function","function":{"name":"g"}})",
          "tool_choice.function.name"),
      bad("ParallelToolCallsString", tools + R"("parallel_tool_calls":"x")", "parallel_tool_calls"),
      bad("RequiredToolAndGrammar", tools + R"("tool_choice":"required","grammar":"x")", "grammar"),
  };
}

std::vector<BadCase> broken_other_routes() {
  return {
      {"CompletionWithoutPrompt", "/v1/completions", "{}", "prompt"},
      {"CompletionPromptEmpty", "/v1/completions", R"({"prompt":""})", "prompt"},
      {"CompletionPromptNumber", "/v1/completions", R"({"prompt":5})", "prompt"},
      {"CompletionPromptIdNegative", "/v1/completions", R"({"prompt":[-1]})", "prompt[0]"},
      {"CompletionPromptIdHuge", "/v1/completions", R"({"prompt":[1,1e12]})", "prompt[1]"},
      {"CompletionPromptListEmpty", "/v1/completions", R"({"prompt":[]})", "prompt"},
      {"CompletionPromptMixed", "/v1/completions", R"({"prompt":["a",5]})", "prompt[1]"},
      {"CompletionSuffix", "/v1/completions", R"({"prompt":"a","suffix":"b"})", "suffix"},
      {"CompletionBestOf", "/v1/completions", R"({"prompt":"a","best_of":3})", "best_of"},
      {"CompletionEchoString", "/v1/completions", R"({"prompt":"a","echo":"b"})", "echo"},
      {"CompletionLogprobsTooMany", "/v1/completions", R"({"prompt":"a","logprobs":6})",
       "logprobs"},
      {"EmbeddingsWithoutInput", "/v1/embeddings", "{}", "input"},
      {"EmbeddingsInputEmpty", "/v1/embeddings", R"({"input":""})", "input"},
      {"EmbeddingsFormat", "/v1/embeddings", R"({"input":"a","encoding_format":"hex"})",
       "encoding_format"},
      {"EmbeddingsDimensions", "/v1/embeddings", R"({"input":"a","dimensions":7})", "dimensions"},
      {"TokenizeWithoutContent", "/tokenize", "{}", "content"},
      {"TokenizeContentList", "/tokenize", R"({"content":[]})", "content"},
      {"TokenizeFlagString", "/tokenize", R"({"content":"","with_pieces":"x"})", "with_pieces"},
      {"DetokenizeWithoutTokens", "/detokenize", "{}", "tokens"},
      {"DetokenizeTokenString", "/detokenize", R"({"tokens":["a"]})", "tokens[0]"},
      {"TemplateWithoutMessages", "/apply-template", "{}", "messages"},
      {"ModelUnknown", kChatPath, with(R"("model":"gpt-4")"), "model", 404},
      {"EmbeddingModelUnknown", "/v1/embeddings", R"({"model":"ada","input":"a"})", "model", 404},
      {"Responses", "/v1/responses", "{}", "", 501},
      {"Messages", "/v1/messages", "{}", "", 501},
  };
}

std::vector<BadCase> all_bad_requests() {
  std::vector<BadCase> all;
  for (const auto& some : {broken_bodies(), broken_messages(), broken_numbers(), broken_settings(),
                           broken_tools(), broken_other_routes()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

class BadRequestTest : public ApiTest, public ::testing::WithParamInterface<BadCase> {};

TEST_P(BadRequestTest, GetsAnErrorObjectThatNamesTheField) {
  const BadCase& bad = GetParam();
  const HttpResponse response = post(bad.path, bad.body);
  EXPECT_EQ(response.status, bad.status);
  const Json body = json(response);
  const Json& error = body.at("error");
  EXPECT_TRUE(error.at("message").is_string() && error.at("type").is_string());
  EXPECT_EQ(error.at("param"), bad.param.empty() ? Json(nullptr) : Json(bad.param)) << error.dump();
  EXPECT_LT(response.body.size(), 1000U);
  EXPECT_TRUE(assistant.requests().empty());
  // The server goes on.
  EXPECT_EQ(post(kChatPath, chat_body().dump()).status, 200);
}

INSTANTIATE_TEST_SUITE_P(Every, BadRequestTest, ::testing::ValuesIn(all_bad_requests()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace smol::server

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>

#include "server/api_fixture.h"

namespace smol::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kChat = "/v1/chat/completions";

class ChatApi : public ApiTest {
 protected:
  chat::TurnRequest turn_of(const Json& extra) {
    Json body = chat_body();
    body.update(extra);
    EXPECT_EQ(post(kChat, body.dump()).status, 200);
    return assistant.requests().at(0);
  }

  // The texts that a stream's chunks add up to, under a delta's name.
  static std::string sum_of(const std::vector<std::string>& data, const std::string& name) {
    std::string sum;
    for (const std::string& text : data) {
      const Json chunk = text == "[DONE]" ? Json::object() : parse_json(text, "chunk");
      for (const Json& choice : chunk.value("choices", Json::array())) {
        sum += choice["delta"].value(name, "");
      }
    }
    return sum;
  }
};

TEST_F(ChatApi, AnswersWithMessageUsageAndTimings) {
  const Json answer = post_json(kChat, chat_body());
  EXPECT_EQ(answer["object"], "chat.completion");
  EXPECT_THAT(answer["id"].get<std::string>(), HasSubstr("chatcmpl-"));
  EXPECT_EQ(answer["model"], "demo");
  EXPECT_EQ(answer["choices"][0]["message"]["content"], "Hello you");
  EXPECT_EQ(answer["choices"][0]["message"]["role"], "assistant");
  EXPECT_EQ(answer["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(answer["usage"]["prompt_tokens"], 10);
  EXPECT_EQ(answer["usage"]["total_tokens"], 13);
  EXPECT_TRUE(answer["timings"]["predicted_per_second"].is_number());
}

TEST_F(ChatApi, AnEmptyAnswerIsAnEmptyString) {
  assistant.events.clear();
  EXPECT_EQ(post_json(kChat, chat_body())["choices"][0]["message"]["content"], "");
}

TEST_F(ChatApi, ContentIsNullBesideToolCalls) {
  assistant.events = {chat::ToolCall{"call_0001", "f", R"({"a": 1})"}};
  assistant.finished.message.tool_calls = {{"call_0001", "f", R"({"a": 1})"}};
  const Json choice = post_json(kChat, chat_body())["choices"][0];
  EXPECT_EQ(choice["message"]["content"], nullptr);
  EXPECT_EQ(choice["message"]["tool_calls"][0]["function"]["arguments"], R"({"a": 1})");
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
}

TEST_F(ChatApi, ThoughtsAreApartFromTheAnswer) {
  assistant.events = {chat::ThinkingDelta{"hm"}, chat::TextDelta{"yes"}};
  const Json message = post_json(kChat, chat_body())["choices"][0]["message"];
  EXPECT_EQ(message["reasoning_content"], "hm");
  EXPECT_EQ(message["content"], "yes");
}

TEST_F(ChatApi, StreamsRoleDeltasReasonAndDone) {
  Json body = chat_body();
  body["stream"] = true;
  const auto data = stream(kChat, body);
  ASSERT_EQ(data.size(), 5U);
  EXPECT_EQ(parse_json(data[0], "chunk")["choices"][0]["delta"]["role"], "assistant");
  EXPECT_EQ(parse_json(data[1], "chunk")["choices"][0]["delta"]["content"], "Hello");
  const Json last = parse_json(data[3], "chunk")["choices"][0];
  EXPECT_EQ(last["finish_reason"], "stop");
  EXPECT_TRUE(last["delta"].empty());
  EXPECT_EQ(data[4], "[DONE]");
}

TEST_F(ChatApi, DeltasAddUpToTheWholeAnswer) {
  assistant.events = {chat::ThinkingDelta{"a\n"}, chat::ThinkingDelta{"é"},
                      chat::TextDelta{"x\r\n\xF0\x9F\x98\x80"}, chat::TextDelta{"\n\nend "}};
  const Json message = post_json(kChat, chat_body())["choices"][0]["message"];
  Json body = chat_body();
  body["stream"] = true;
  const auto data = stream(kChat, body);
  EXPECT_EQ(sum_of(data, "content"), message["content"].get<std::string>());
  EXPECT_EQ(sum_of(data, "reasoning_content"), message["reasoning_content"].get<std::string>());
}

TEST_F(ChatApi, AStreamEndsWithUsageWhereItWasAskedFor) {
  Json body = chat_body();
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  const auto data = stream(kChat, body);
  const Json usage = parse_json(data.at(data.size() - 2), "chunk");
  EXPECT_TRUE(usage["choices"].empty());
  EXPECT_EQ(usage["usage"]["completion_tokens"], 3);
  EXPECT_EQ(parse_json(data[1], "chunk")["usage"], nullptr);
}

TEST_F(ChatApi, StreamsToolCallsWithTheirIndex) {
  assistant.events = {chat::ToolCall{"call_0001", "f", "{}"},
                      chat::ToolCall{"call_0002", "g", "{}"}};
  Json body = chat_body();
  body["stream"] = true;
  const auto data = stream(kChat, body);
  const Json second = parse_json(data[2], "chunk")["choices"][0]["delta"]["tool_calls"][0];
  EXPECT_EQ(second["index"], 1);
  EXPECT_EQ(second["id"], "call_0002");
}

TEST_F(ChatApi, EveryAnswerOfSeveralHasItsOwnSeed) {
  const Json answer = [&] {
    Json body = chat_body();
    body.update({{"n", 3}, {"seed", 7}});
    return post_json(kChat, body);
  }();
  EXPECT_EQ(answer["choices"].size(), 3U);
  EXPECT_EQ(answer["choices"][2]["index"], 2);
  EXPECT_EQ(answer["usage"]["prompt_tokens"], 10);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 9);
  const auto turns = assistant.requests();
  EXPECT_EQ(turns[0].answer.sampling.seed, 7U);
  EXPECT_NE(turns[1].answer.sampling.seed, turns[0].answer.sampling.seed);
  EXPECT_NE(turns[2].answer.sampling.seed, turns[1].answer.sampling.seed);
}

TEST_F(ChatApi, AbsentFieldsTakeTheModelsDefaults) {
  const auto turn = turn_of(Json::object());
  EXPECT_EQ(turn.answer.sampling.temperature, 0.6);
  EXPECT_EQ(turn.answer.sampling.top_p, 0.95);
  EXPECT_EQ(turn.answer.sampling.seed, std::nullopt);
  EXPECT_EQ(turn.answer.max_tokens, 0U);
  EXPECT_EQ(turn.answer.thinking_budget, std::nullopt);
  EXPECT_EQ(turn.answer.top_logprobs, std::nullopt);
  EXPECT_TRUE(turn.answer.cache_prompt);
  EXPECT_FALSE(turn.raw);
}

TEST_F(ChatApi, FieldsReachTheTurn) {
  const auto turn = turn_of({{"temperature", 0},
                             {"top_p", 0},
                             {"top_k", 5},
                             {"min_p", 0.1},
                             {"repetition_penalty", 1.2},
                             {"presence_penalty", -1},
                             {"frequency_penalty", 1},
                             {"seed", -1},
                             {"logit_bias", {{"5", -100}}},
                             {"stop", {"a", "b"}},
                             {"context_overflow", "rolling"},
                             {"cache_prompt", false},
                             {"grammar", "root ::= \"x\""},
                             {"user", "me"}});
  const auto& sampling = turn.answer.sampling;
  EXPECT_EQ(sampling.temperature, 0);
  EXPECT_GT(sampling.top_p, 0);
  EXPECT_EQ(sampling.top_k, 5U);
  EXPECT_EQ(sampling.seed, ~std::uint64_t{0});
  EXPECT_EQ(sampling.logit_bias.at(0).bias, -100);
  EXPECT_THAT(turn.answer.stop_strings, ElementsAre("a", "b"));
  EXPECT_EQ(turn.answer.overflow, chat::ContextOverflow::Roll);
  EXPECT_FALSE(turn.answer.cache_prompt);
  EXPECT_TRUE(std::holds_alternative<chat::Grammar>(turn.answer.form));
  EXPECT_EQ(turn.client, "127.0.0.1/me");
}

TEST_F(ChatApi, MaxCompletionTokensCountsBeforeMaxTokens) {
  EXPECT_EQ(turn_of({{"max_tokens", 9}, {"max_completion_tokens", 5}}).answer.max_tokens, 5U);
}

TEST_F(ChatApi, ALimitWithoutBudgetLeavesHalfOfItForTheAnswer) {
  EXPECT_EQ(turn_of({{"max_tokens", 100}}).answer.thinking_budget, 50U);
}

TEST_F(ChatApi, AnEffortIsABudgetThatLeavesRoomForTheAnswer) {
  EXPECT_EQ(turn_of({{"reasoning_effort", "low"}}).answer.thinking_budget, 512U);
  Json body = chat_body();
  body.update({{"reasoning_effort", "medium"}, {"max_tokens", 100}});
  post(kChat, body.dump());
  EXPECT_EQ(assistant.requests().at(1).answer.thinking_budget, 50U);
}

TEST_F(ChatApi, NoEffortIsNoThinking) {
  EXPECT_EQ(turn_of({{"reasoning_effort", "none"}}).options.think, chat::ThinkMode::Off);
}

TEST_F(ChatApi, TemplateVariablesReachTheTemplate) {
  const auto turn = turn_of({{"chat_template_kwargs", {{"enable_thinking", false}}}});
  EXPECT_EQ(turn.options.think, chat::ThinkMode::Off);
}

TEST_F(ChatApi, ToolsThatMustNotBeCalledAreNotOffered) {
  const Json tools = {{{"type", "function"}, {"function", {{"name", "f"}}}}};
  EXPECT_TRUE(turn_of({{"tools", tools}, {"tool_choice", "none"}}).options.tools.empty());
}

TEST_F(ChatApi, ANamedToolIsRequired) {
  const Json tools = {{{"type", "function"}, {"function", {{"name", "f"}}}}};
  const auto turn = turn_of(
      {{"tools", tools}, {"tool_choice", {{"type", "function"}, {"function", {{"name", "f"}}}}}});
  EXPECT_EQ(std::get<chat::ToolCallRequired>(turn.answer.form).name, "f");
}

TEST_F(ChatApi, UnknownFieldsAreIgnored) {
  EXPECT_EQ(turn_of({{"future_field", {1, 2}}, {"store", "x"}}).answer.max_tokens, 0U);
}

TEST_F(ChatApi, TheAliasNamesTheModelToo) {
  EXPECT_EQ(turn_of({{"model", "smolbot"}}).answer.max_tokens, 0U);
}

TEST_F(ChatApi, LogprobsCarryBytesAndAlternatives) {
  assistant.events = {chat::TokenScore{"\xC3", -0.5, {{"\xC3", -0.5}, {"a", -1.5}}},
                      chat::TextDelta{"é"}};
  Json body = chat_body();
  body.update({{"logprobs", true}, {"top_logprobs", 2}});
  const Json one = post_json(kChat, body)["choices"][0]["logprobs"]["content"][0];
  EXPECT_EQ(one["bytes"], Json::array({0xC3}));
  EXPECT_EQ(one["logprob"], -0.5);
  EXPECT_EQ(one["top_logprobs"][1]["token"], "a");
  body["stream"] = true;
  const auto data = stream(kChat, body);
  EXPECT_EQ(parse_json(data[1], "chunk")["choices"][0]["logprobs"]["content"][0], one);
}

TEST_F(ChatApi, AFullQueueIs429WithRetryAfter) {
  assistant.refusal = Error{ErrorCode::Exhausted, "queue: expected fewer than 64, found 64"};
  const HttpResponse response = post(kChat, chat_body().dump());
  EXPECT_EQ(response.status, 429);
  EXPECT_TRUE(response.headers.find("Retry-After"));
}

TEST_F(ChatApi, AnAnswerRefusedHalfwayCancelsTheOthers) {
  assistant.hold = true;
  assistant.refusal = Error{ErrorCode::Exhausted, "queue: full"};
  assistant.refused_from = 1;
  Json body = chat_body();
  body["n"] = 2;
  EXPECT_EQ(post(kChat, body.dump()).status, 429);
  EXPECT_TRUE(assistant.turns().at(0)->cancelled());
}

TEST_F(ChatApi, APromptBeyondTheContextNamesTheMessages) {
  assistant.refusal =
      Error{ErrorCode::BadInput, "prompt: expected at most 512 tokens (the context), found 600"};
  const Json error = json(post(kChat, chat_body().dump()))["error"];
  EXPECT_EQ(error["param"], "messages");
  EXPECT_EQ(error["code"], "context_length_exceeded");
}

TEST_F(ChatApi, ASchemaTheEngineRefusesNamesItsField) {
  assistant.refusal = Error{ErrorCode::BadInput, "/properties/x/not: expected no such keyword"};
  Json body = chat_body();
  body["response_format"] = {{"type", "json_schema"},
                             {"json_schema", {{"name", "x"}, {"schema", {{"type", "object"}}}}}};
  const Json error = json(post(kChat, body.dump()))["error"];
  EXPECT_EQ(error["param"], "response_format.json_schema.schema");
}

TEST_F(ChatApi, ATurnThatFailsIsAServerError) {
  assistant.hold = true;
  HttpRequest asked = request("POST", kChat, chat_body().dump());
  Reply reply = router.handle(asked);
  assistant.turns().at(0)->fail(Error{ErrorCode::Device, "forward: lost"});
  EXPECT_EQ(receive(*std::get<std::shared_ptr<LiveReply>>(reply)).whole.status, 500);
}

TEST_F(ChatApi, AStreamThatFailsEndsWithAnErrorEvent) {
  assistant.hold = true;
  Json body = chat_body();
  body["stream"] = true;
  HttpRequest asked = request("POST", kChat, body.dump());
  Reply reply = router.handle(asked);
  assistant.turns().at(0)->say("begun");
  assistant.turns().at(0)->fail(Error{ErrorCode::Device, "forward: lost"});
  const auto data = data_of(receive(*std::get<std::shared_ptr<LiveReply>>(reply)).streamed);
  EXPECT_EQ(parse_json(data.back(), "event")["error"]["message"], "forward: lost");
}

TEST_F(ChatApi, AReaderThatLeavesCancelsAllItsTurns) {
  assistant.hold = true;
  Json body = chat_body();
  body["n"] = 2;
  HttpRequest asked = request("POST", kChat, body.dump());
  Reply reply = router.handle(asked);
  std::get<std::shared_ptr<LiveReply>>(reply)->abandon();
  EXPECT_TRUE(assistant.turns().at(0)->cancelled());
  EXPECT_TRUE(assistant.turns().at(1)->cancelled());
}

TEST_F(ChatApi, ACommentComesBeforeTheFirstToken) {
  assistant.hold = true;
  Json body = chat_body();
  body["stream"] = true;
  HttpRequest asked = request("POST", kChat, body.dump());
  Reply reply = router.handle(asked);
  const auto news = std::get<std::shared_ptr<LiveReply>>(reply)->take();
  ASSERT_TRUE(news.streamed);
  EXPECT_EQ(news.bytes.substr(0, 3), ":\n\n");
  EXPECT_EQ(news.streamed->heartbeat, ":\n\n");
}

}  // namespace
}  // namespace smol::server

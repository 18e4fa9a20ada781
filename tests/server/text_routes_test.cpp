#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "server/api_fixture.h"

namespace smol::server {
namespace {

using ::testing::HasSubstr;

class TextRoutes : public ApiTest {};

TEST_F(TextRoutes, TokensComeBackAsTheText) {
  const Json tokens = post_json("/tokenize", {{"content", "Hello, wörld <think>"}})["tokens"];
  EXPECT_GT(tokens.size(), 2U);
  EXPECT_EQ(post_json("/detokenize", {{"tokens", tokens}})["content"], "Hello, wörld <think>");
}

TEST_F(TextRoutes, AddedTokensAreTextWhereTheyAreNotToBeParsed) {
  const Json parsed = post_json("/tokenize", {{"content", "<|im_end|>"}})["tokens"];
  const Json plain =
      post_json("/tokenize", {{"content", "<|im_end|>"}, {"parse_special", false}})["tokens"];
  EXPECT_EQ(parsed.size(), 1U);
  EXPECT_GT(plain.size(), 1U);
}

TEST_F(TextRoutes, PiecesJoinToTheText) {
  const Json tokens =
      post_json("/tokenize", {{"content", "two words"}, {"with_pieces", true}})["tokens"];
  std::string joined;
  for (const Json& token : tokens) {
    joined += token["piece"].get<std::string>();
  }
  EXPECT_EQ(joined, "two words");
}

TEST_F(TextRoutes, TheTemplateIsShownAsItIsApplied) {
  const Json body = {{"messages", {{{"role", "user"}, {"content", "What is red?"}}}}};
  EXPECT_THAT(post_json("/apply-template", body)["prompt"].get<std::string>(),
              HasSubstr("What is red?<|im_end|>"));
}

TEST_F(TextRoutes, CompletionsContinueTheirPrompt) {
  const Json answer = post_json("/v1/completions", {{"prompt", "Once"}, {"echo", true}});
  EXPECT_EQ(answer["object"], "text_completion");
  EXPECT_EQ(answer["choices"][0]["text"], "OnceHello you");
  EXPECT_TRUE(assistant.requests().at(0).raw);
  EXPECT_EQ(assistant.requests().at(0).answer.max_tokens, 16U);
}

TEST_F(TextRoutes, CompletionsOfSeveralPromptsCountEachPrompt) {
  const Json answer = post_json("/v1/completions", {{"prompt", {"a", "b"}}, {"n", 2}});
  EXPECT_EQ(answer["choices"].size(), 4U);
  EXPECT_EQ(answer["usage"]["prompt_tokens"], 20);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 12);
}

TEST_F(TextRoutes, CompletionsTakeTokenIds) {
  post_json("/v1/completions", {{"prompt", {5, 6, 7}}});
  EXPECT_EQ(assistant.requests().at(0).prompt.ids, (std::vector<TokenId>{5, 6, 7}));
}

TEST_F(TextRoutes, StreamedCompletionsAddUp) {
  const auto data = stream("/v1/completions", {{"prompt", "x"}, {"stream", true}});
  std::string text;
  for (std::size_t i = 0; i + 1 < data.size(); ++i) {
    text += parse_json(data[i], "chunk")["choices"][0]["text"].get<std::string>();
  }
  EXPECT_EQ(text, "Hello you");
  EXPECT_EQ(data.back(), "[DONE]");
}

TEST_F(TextRoutes, CompletionLogprobsHaveOffsetsInCharacters) {
  assistant.events = {chat::TokenScore{"é", -1, {{"é", -1}}},
                      chat::TokenScore{"b", -2, {{"b", -2}}}, chat::TextDelta{"éb"}};
  const Json scores =
      post_json("/v1/completions", {{"prompt", "x"}, {"logprobs", 1}})["choices"][0]["logprobs"];
  EXPECT_EQ(scores["text_offset"], Json::array({0, 1}));
  EXPECT_EQ(scores["top_logprobs"][1]["b"], -2.0);
}

TEST_F(TextRoutes, EmbeddingsComeInTheOrderOfTheirInputs) {
  const Json answer = post_json("/v1/embeddings", {{"input", {"a", "two words"}}});
  EXPECT_EQ(answer["data"][0]["embedding"][0], 1.0);
  EXPECT_EQ(answer["data"][1]["index"], 1);
  EXPECT_EQ(answer["usage"]["prompt_tokens"], answer["data"][0]["embedding"][0].get<double>() +
                                                  answer["data"][1]["embedding"][0].get<double>());
}

TEST_F(TextRoutes, EmbeddingsAsBase64AreLittleEndianFloats) {
  const Json answer = post_json("/v1/embeddings", {{"input", {5}}, {"encoding_format", "base64"}});
  EXPECT_EQ(answer["data"][0]["embedding"], "AACAPwAAAD8=");  // 1 and 0.5
}

TEST_F(TextRoutes, AnEmbeddingBeyondTheContextNamesItsInput) {
  std::string body = R"({"input":["a",")";
  for (int i = 0; i < 600; ++i) {
    body += "word ";
  }
  EXPECT_EQ(json(post("/v1/embeddings", body + "\"]}"))["error"]["param"], "input[1]");
}

TEST_F(TextRoutes, ModelsAreListedAndFound) {
  EXPECT_EQ(json(get("/v1/models"))["data"][0]["id"], "demo");
  EXPECT_EQ(json(get("/v1/models/demo"))["object"], "model");
  EXPECT_EQ(json(get("/v1/models/smolbot"))["id"], "demo");
  EXPECT_EQ(get("/v1/models/other").status, 404);
  EXPECT_EQ(get("/v1/models/%zz").status, 400);
}

TEST_F(TextRoutes, HealthIsOkOnceTheModelIsLoaded) {
  EXPECT_EQ(get("/health").status, 200);
  Metrics other_metrics;
  OpenAiApi loading(other_metrics);
  Router other{AccessRules{}};
  loading.add_routes(other);
  HttpRequest health = request("GET", "/health");
  EXPECT_EQ(std::get<HttpResponse>(other.handle(health)).status, 503);
  HttpRequest models = request("GET", "/v1/models");
  EXPECT_EQ(std::get<HttpResponse>(other.handle(models)).status, 503);
}

TEST_F(TextRoutes, MetricsAreInPrometheusText) {
  assistant.finished.usage.queue_time = std::chrono::milliseconds(20);
  assistant.stats_to_give.kv_bytes = 4096;
  post_json("/v1/chat/completions", chat_body());
  const std::string text = get("/metrics").body;
  EXPECT_THAT(text, HasSubstr("# TYPE smolbot_time_to_first_token_seconds histogram"));
  EXPECT_THAT(text, HasSubstr("smolbot_time_to_first_token_seconds_count 1\n"));
  EXPECT_THAT(text, HasSubstr("smolbot_time_between_tokens_seconds_count 1\n"));
  EXPECT_THAT(text, HasSubstr("smolbot_queue_wait_seconds_bucket{le=\"0.01\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("smolbot_queue_wait_seconds_bucket{le=\"0.05\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("smolbot_kv_bytes 4096.0\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE smolbot_drafted_tokens_total counter"));
  EXPECT_THAT(text, HasSubstr("# TYPE smolbot_resident_memory_bytes gauge"));
  EXPECT_THAT(text, Not(HasSubstr("smolbot_resident_memory_bytes 0.0\n")));
}

TEST_F(TextRoutes, UnknownPathsAndMethodsAreRefused) {
  EXPECT_EQ(get("/v1/unknown").status, 404);
  const HttpResponse response = get("/v1/chat/completions");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.headers.find("Allow"), "POST");
}

}  // namespace
}  // namespace smol::server

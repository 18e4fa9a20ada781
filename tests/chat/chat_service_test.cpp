#include "chat/chat_service.h"

#include <algorithm>
#include <exception>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "chat/answered.h"
#include "chat/demo_chat.h"
#include "chat/scored_text.h"
#include "chat/scripted_decoder.h"

namespace smol::chat {
namespace {

using Texts = std::vector<std::string>;

TEST(ChatService, SeparatesThoughtsAndAnswer) {
  const Answered turn =
      answered({{"<think>", true}, {"\nHm.\n"}, {"</think>", true}, {"\nYes, é 😀."}});
  EXPECT_EQ(turn.events, (Texts{"thinking Hm.", "text Yes, é 😀."}));
  EXPECT_EQ(turn.finished.end, TurnEnd::EndOfTurn);
  EXPECT_EQ(turn.finished.message.content, "Yes, é 😀.");
  EXPECT_EQ(turn.finished.message.reasoning, "Hm.");
  EXPECT_GT(turn.finished.usage.reasoning_tokens, 0U);
  EXPECT_LT(turn.finished.usage.reasoning_tokens, turn.finished.usage.generated_tokens);
}

TEST(ChatService, ReportsToolCallsAndNumbersThem) {
  TurnOptions options;
  options.prompt.tools = {{{"name", "f"}}};
  Message earlier = message(Role::Assistant, "");
  earlier.tool_calls.push_back({"call_0001", "f", "{}"});
  const Answered turn =
      answered({{"Wait.\n"},
                {"<tool_call>", true},
                {"\n{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n"},
                {"</tool_call>", true}},
               options, {message(Role::User, "Go."), earlier, message(Role::Tool, "1")});
  EXPECT_EQ(turn.events, (Texts{"text Wait.", "call call_0002 f {\"x\": 1}"}));
  ASSERT_EQ(turn.finished.message.tool_calls.size(), 1U);
  EXPECT_EQ(turn.finished.message.tool_calls[0].id, "call_0002");
}

TEST(ChatService, TakesASpelledTagAsText) {
  TurnOptions options;
  options.prompt.tools = {{{"name", "f"}}};
  const Answered turn = answered({{"<tool_call>{\"name\": \"f\"}</tool_call>"}}, options);
  EXPECT_EQ(turn.events, (Texts{"text <tool_call>{\"name\": \"f\"}</tool_call>"}));
}

TEST(ChatService, ReportsCode) {
  TurnOptions options;
  options.prompt.python_tools = {"def f(): ..."};
  const Answered turn = answered({{"<code>", true}, {"print(1)"}, {"</code>", true}}, options);
  EXPECT_EQ(turn.events, (Texts{"code print(1)"}));
}

TEST(ChatService, StopsAtAStringWithoutShowingIt) {
  TurnOptions options;
  options.answer.stop_strings = {"two thr"};
  const Answered turn = answered({{"one two three four"}}, options);
  EXPECT_EQ(turn.events, (Texts{"text one "}));
  EXPECT_EQ(turn.finished.end, TurnEnd::StopString);
}

TEST(ChatService, SaysThatAnAnswerWasCutWhileThinking) {
  TurnOptions options;
  options.answer.max_tokens = 3;
  const Answered turn = answered({{"<think>", true}, {"\nOne two three four five six."}}, options);
  EXPECT_TRUE(turn.finished.cut_while_thinking);
  EXPECT_EQ(turn.finished.end, TurnEnd::MaxTokens);
}

const std::vector<Piece>& long_thoughts() {
  static const std::vector<Piece> kAnswer{{"<think>", true},
                                          {"\nOne two three four five six seven eight.\n"},
                                          {"</think>", true},
                                          {"\nYes."}};
  return kAnswer;
}

TEST(ChatService, EndsTheThinkingWhereTheBudgetDoes) {
  const Answered whole = answered(long_thoughts());
  TurnOptions options;
  options.answer.thinking_budget = 4;
  const Answered turn = answered(long_thoughts(), options);
  EXPECT_LT(turn.finished.message.reasoning.size(), whole.finished.message.reasoning.size());
  EXPECT_TRUE(whole.finished.message.reasoning.starts_with(turn.finished.message.reasoning));
  EXPECT_EQ(turn.finished.message.content, "Yes.");
  // The end tag is one of them.
  EXPECT_EQ(turn.finished.usage.reasoning_tokens, 5U);
  EXPECT_EQ(turn.finished.end, TurnEnd::EndOfTurn);
}

// Ends the thinking at its first word.
class ImpatientSink final : public TurnSink {
 public:
  void on_progress(const TurnProgress& progress) noexcept override {
    phases.push_back(progress.phase);
  }

  void on_event(const AnswerEvent& event) noexcept override {
    if (std::holds_alternative<ThinkingDelta>(event) && !has_seen_) {
      has_seen_ = true;
      seen_.set_value();
      go_on_.get_future().wait();
    }
    if (const auto* score = std::get_if<TokenScore>(&event)) {
      scored += score->bytes;
    }
  }

  void on_finished(const TurnFinished& finished) noexcept override { end_.set_value(finished); }

  void on_failed(const Error& error) noexcept override {
    end_.set_exception(std::make_exception_ptr(error));
  }

  void wait_for_a_thought() { seen_.get_future().wait(); }

  void go_on() { go_on_.set_value(); }

  TurnFinished wait() { return end_.get_future().get(); }

  std::vector<TurnPhase> phases;
  std::string scored;

 private:
  bool has_seen_ = false;
  std::promise<void> seen_, go_on_;
  std::promise<TurnFinished> end_;
};

TEST(ChatService, AnswersNowWhenAsked) {
  ScriptedDecoder decoder(long_thoughts());
  engine::Engine engine(decoder, {.speculate = false});
  ChatService service(demo_chat().builder, engine, demo_facts());
  TurnRequest request;
  request.options = fixed_options();
  request.prompt =
      demo_chat().builder.build(std::vector{message(Role::User, "Go.")}, request.options);
  request.answer.sampling.temperature = 0;
  const auto sink = std::make_shared<ImpatientSink>();
  const std::shared_ptr<Turn> turn = service.start(request, sink);
  sink->wait_for_a_thought();
  turn->answer_now();
  sink->go_on();
  const TurnFinished finished = sink->wait();
  EXPECT_FALSE(finished.message.reasoning.empty());
  EXPECT_LT(finished.message.reasoning.size(), std::string("One two three").size());
  EXPECT_EQ(finished.message.content, "Yes.");
  EXPECT_EQ(turn->progress().phase, TurnPhase::Finished);
  EXPECT_EQ(turn->progress().reasoning_tokens, finished.usage.reasoning_tokens);
  EXPECT_NE(std::ranges::find(sink->phases, TurnPhase::Thinking), sink->phases.end());
}

TEST(ChatService, WithoutATemplateAllIsText) {
  ScriptedDecoder decoder({{" a "},
                           {"<think>", true},
                           {"b"},
                           {"</think>", true},
                           {"<tool_call>", true},
                           {"{\"name\": \"f\"}"},
                           {"</tool_call>", true},
                           {"\n "}});
  engine::Engine engine(decoder, {.speculate = false});
  ChatService service(demo_chat().builder, engine, demo_facts());
  TurnRequest request;
  request.raw = true;
  request.options.tools = {{{"name", "f"}}};
  request.prompt.ids = demo_chat().tokenizer.encode("Once");
  request.answer.sampling.temperature = 0;
  request.answer.thinking_budget = 0;
  request.answer.top_logprobs = 0;
  const auto sink = std::make_shared<ImpatientSink>();
  service.start(request, sink);
  const TurnFinished finished = sink->wait();
  EXPECT_EQ(finished.message.content,
            " a <think>b</think><tool_call>{\"name\": \"f\"}</tool_call>\n ");
  EXPECT_EQ(finished.message.reasoning, "");
  EXPECT_TRUE(finished.message.tool_calls.empty());
  EXPECT_EQ(finished.usage.reasoning_tokens, 0U);
  EXPECT_EQ(sink->scored, finished.message.content);
}

TEST(ChatService, ScoresATagThatMeansNothing) {
  TurnOptions options;
  options.answer.top_logprobs = 0;
  const Answered turn =
      answered({{"A "}, {"</think>", true}, {" b "}, {"<tool_call>", true}, {"."}}, options);
  std::string joined;
  for (const TokenScore& score : turn.scores) {
    joined += score.bytes;
  }
  EXPECT_EQ(joined, "A </think> b <tool_call>.");
}

TEST(ChatService, ScoresTheTokensOfTheVisibleTextAndNoOthers) {
  TurnOptions options;
  options.answer.top_logprobs = 2;
  const Answered turn = answered(
      {{"<think>", true}, {"\nHm.\n"}, {"</think>", true}, {"\n\nYes, é 😀 two three."}}, options);
  std::string joined;
  for (const TokenScore& score : turn.scores) {
    joined += score.bytes;
    ASSERT_EQ(score.top.size(), 2U);
    EXPECT_LT(score.logprob, 0);
  }
  EXPECT_EQ(joined, turn.finished.message.content);
  EXPECT_GT(turn.scores.size(), 3U);
}

TEST(ScoredText, GivesEachTokenWithItsWholeVisibleText) {
  ScoredText scored;
  for (const char* bytes : {"\n", " \nHel", "lo", "\xC3", "\xA9", "\xFF", "!"}) {
    scored.push({bytes, -1.0, {}});
  }
  std::vector<std::string> shown;
  for (const char* text : {"He", "lloé", "\xEF\xBF\xBD", "!"}) {
    for (const TokenScore& score : scored.show(text)) {
      shown.push_back(score.bytes);
    }
  }
  EXPECT_EQ(shown, (Texts{"Hel", "lo", "\xC3", "\xA9", "\xEF\xBF\xBD", "!"}));
}

TEST(ChatService, WritesAnAnswerBackAsTheTokensItCameAs) {
  const Answered turn = answered({{"A "}, {"</think>", true}, {" <code> é"}});
  PromptOptions options = fixed_options();
  options.add_generation_prompt = false;
  const std::vector<Message> history{message(Role::User, "Go."), turn.finished.message};
  const Prompt next = demo_chat().builder.build(history, options);
  const std::span ids = std::span(turn.script).first(turn.script.size() - 1);
  EXPECT_NE(std::search(next.ids.begin(), next.ids.end(), ids.begin(), ids.end()), next.ids.end());
}

TEST(ChatService, ATurnThatHasEndedLetsItsSinkGo) {
  ScriptedDecoder decoder({{"a"}});
  std::weak_ptr<TurnSink> sink;
  std::shared_ptr<Turn> turn;
  {
    engine::Engine engine(decoder, {});
    ChatService service(demo_chat().builder, engine, demo_facts());
    TurnRequest request;
    request.prompt.ids = {1};
    const auto listener = std::make_shared<ImpatientSink>();
    sink = listener;
    turn = service.start(request, listener);
    listener->wait();
  }
  EXPECT_TRUE(sink.expired());
}

TEST(ChatService, CanBeCancelled) {
  ScriptedDecoder decoder({{"one two three four five six"}});
  engine::Engine engine(decoder, {});
  ChatService service(demo_chat().builder, engine, demo_facts());
  std::stop_source source;
  source.request_stop();
  const std::vector<Message> history{message(Role::User, "Go.")};
  TurnOptions options;
  options.answer.max_tokens = 1;
  const TurnFinished finished = reply(service, history, options, {}, source.get_token());
  EXPECT_TRUE(finished.end == TurnEnd::Cancelled || finished.end == TurnEnd::MaxTokens);
}

TEST(ChatService, RefusesWhatIsWrongBeforeItBegins) {
  const std::vector<Message> history{message(Role::User, std::string(50000, 'x'))};
  EXPECT_THROW(answered({{"a"}}, {}, history), Error);
  TurnOptions options;
  options.answer.top_logprobs = 21;
  EXPECT_THROW(answered({{"a"}}, options), Error);
  options = {};
  options.answer.stop_strings = {""};
  EXPECT_THROW(answered({{"a"}}, options), Error);
}

TEST(ChatService, EmbedsWithLengthOne) {
  ScriptedDecoder decoder({{"a"}});
  engine::Engine engine(decoder, {});
  ChatService service(demo_chat().builder, engine, demo_facts());
  const std::vector<float> found = service.embed(std::vector<TokenId>{1, 2, 3}, {});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NEAR(found[0] * found[0] * 3, 1.0, 1e-6);
  EXPECT_THROW(service.embed(std::vector<TokenId>{}, {}), Error);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(service.embed(std::vector<TokenId>(3000, 1), stop.get_token()), Error);
}

}  // namespace
}  // namespace smol::chat

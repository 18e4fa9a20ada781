#include "chat/chat_service.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "chat/demo_chat.h"
#include "engine/generator.h"
#include "support/blockless_decoder.h"

namespace smol::chat {
namespace {

// Writes a given answer after any prompt, then <|im_end|>.
class ScriptedDecoder final : public test::BlocklessDecoder {
 public:
  explicit ScriptedDecoder(const std::vector<Piece>& answer) {
    const text::Tokenizer& tokenizer = demo_chat().tokenizer;
    for (const Piece& piece : answer) {
      const auto ids = tokenizer.encode(
          piece.text, piece.is_tag ? text::AddedTokens::All : text::AddedTokens::None);
      script_.insert(script_.end(), ids.begin(), ids.end());
    }
    script_.push_back(tokenizer.find("<|im_end|>").value());
    config_.vocab_size = tokenizer.vocab_size();
  }

  const model::ModelConfig& config() const noexcept override { return config_; }

  const model::DecoderOptions& options() const noexcept override { return options_; }

  std::span<const float> forward(std::span<const model::BatchToken> batch) override {
    n_tokens_ += static_cast<std::uint32_t>(batch.size());
    if (!batch.back().wants_logits) {
      return {};
    }
    logits_.assign(config_.vocab_size, 0.0F);
    // A prompt's last step begins the script; answering goes on with it.
    next_ = batch.size() == 1 && n_tokens_ > prompt_end_ && prompt_end_ > 0 ? next_ + 1 : 0;
    prompt_end_ = next_ == 0 ? n_tokens_ : prompt_end_;
    logits_[static_cast<std::size_t>(script_.at(next_))] = 1.0F;
    return logits_;
  }

  std::uint32_t n_tokens(SlotId /*slot*/) const noexcept override { return n_tokens_; }

  void truncate(SlotId /*slot*/, std::uint32_t n_tokens) noexcept override {
    n_tokens_ = n_tokens;
    prompt_end_ = 0;
  }

 private:
  model::ModelConfig config_;
  model::DecoderOptions options_;
  std::vector<TokenId> script_;
  std::size_t next_ = 0;
  std::uint32_t n_tokens_ = 0;
  std::uint32_t prompt_end_ = 0;
  std::vector<float> logits_;
};

struct Turn {
  TurnResult result;
  std::vector<std::string> events;
};

std::string show(const TurnEvent& event) {
  struct Show {
    std::string operator()(const TextDelta& one) { return "text " + one.text; }

    std::string operator()(const ThinkingDelta& one) { return "thinking " + one.text; }

    std::string operator()(const ToolCall& one) {
      return "call " + one.id + " " + one.name + " " + one.arguments;
    }

    std::string operator()(const CodeBlock& one) { return "code " + one.code; }

    std::string operator()(const Finished& one) {
      return "finished " + std::string(engine::name_of(one.generation.reason));
    }
  };

  return std::visit(Show{}, event);
}

// Deltas of one kind in a row are joined.
Turn reply(const std::vector<Piece>& answer, TurnOptions options = {},
           const std::vector<Message>& history = {message(Role::User, "Go.")}) {
  ScriptedDecoder decoder(answer);
  engine::Generator generator(decoder);
  ChatService service(demo_chat().builder, generator);
  options.prompt.now = fixed_options().now;
  options.sampling.temperature = 0;
  Turn turn;
  turn.result = service.reply(history, options, [&](const TurnEvent& event) {
    const std::string shown = show(event);
    const std::string kind = shown.substr(0, shown.find(' ') + 1);
    const bool is_delta = kind == "text " || kind == "thinking ";
    if (is_delta && !turn.events.empty() && turn.events.back().rfind(kind, 0) == 0) {
      turn.events.back() += shown.substr(kind.size());
    } else {
      turn.events.push_back(shown);
    }
  });
  return turn;
}

using Texts = std::vector<std::string>;

TEST(ChatService, SeparatesThoughtsAndAnswer) {
  const Turn turn = reply({{"<think>", true}, {"\nHm.\n"}, {"</think>", true}, {"\nYes, é 😀."}});
  EXPECT_EQ(turn.events, (Texts{"thinking Hm.", "text Yes, é 😀.", "finished end_of_turn"}));
  EXPECT_EQ(turn.result.message.content, "Yes, é 😀.");
  EXPECT_EQ(turn.result.message.reasoning, "Hm.");
  EXPECT_GT(turn.result.finished.reasoning_tokens, 0U);
  EXPECT_LT(turn.result.finished.reasoning_tokens,
            turn.result.finished.generation.generated_tokens);
}

TEST(ChatService, ReportsToolCallsAndNumbersThem) {
  TurnOptions options;
  options.prompt.tools = {{{"name", "f"}}};
  Message earlier = message(Role::Assistant, "");
  earlier.tool_calls.push_back({"call_0001", "f", "{}"});
  const Turn turn = reply({{"Wait.\n"},
                           {"<tool_call>", true},
                           {"\n{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n"},
                           {"</tool_call>", true}},
                          options, {message(Role::User, "Go."), earlier, message(Role::Tool, "1")});
  EXPECT_EQ(turn.events,
            (Texts{"text Wait.", "call call_0002 f {\"x\": 1}", "finished end_of_turn"}));
  ASSERT_EQ(turn.result.message.tool_calls.size(), 1U);
  EXPECT_EQ(turn.result.message.tool_calls[0].id, "call_0002");
}

TEST(ChatService, TakesASpelledTagAsText) {
  TurnOptions options;
  options.prompt.tools = {{{"name", "f"}}};
  const Turn turn = reply({{"<tool_call>{\"name\": \"f\"}</tool_call>"}}, options);
  EXPECT_EQ(turn.events,
            (Texts{"text <tool_call>{\"name\": \"f\"}</tool_call>", "finished end_of_turn"}));
}

TEST(ChatService, ReportsCode) {
  TurnOptions options;
  options.prompt.python_tools = {"def f(): ..."};
  const Turn turn = reply({{"<code>", true}, {"print(1)"}, {"</code>", true}}, options);
  EXPECT_EQ(turn.events, (Texts{"code print(1)", "finished end_of_turn"}));
}

TEST(ChatService, StopsAtAStringWithoutShowingIt) {
  TurnOptions options;
  options.stop_strings = {"two thr"};
  const Turn turn = reply({{"one two three four"}}, options);
  EXPECT_EQ(turn.events, (Texts{"text one ", "finished stop_string"}));
}

TEST(ChatService, SaysThatAnAnswerWasCutWhileThinking) {
  TurnOptions options;
  options.max_tokens = 3;
  const Turn turn = reply({{"<think>", true}, {"\nOne two three four five six."}}, options);
  EXPECT_TRUE(turn.result.finished.cut_while_thinking);
  EXPECT_EQ(turn.events.back(), "finished max_tokens");
}

TEST(ChatService, WritesAnAnswerBackAsTheTokensItCameAs) {
  const std::vector<Piece> answer{{"A "}, {"</think>", true}, {" <code> é"}};
  const Turn turn = reply(answer);
  PromptOptions options = fixed_options();
  options.add_generation_prompt = false;
  const std::vector<Message> history{message(Role::User, "Go."), turn.result.message};
  const Prompt next = demo_chat().builder.build(history, options);
  const auto& ids = turn.result.ids;
  EXPECT_NE(std::search(next.ids.begin(), next.ids.end(), ids.begin(), ids.end()), next.ids.end());
}

TEST(ChatService, CanBeCancelled) {
  ScriptedDecoder decoder({{"one two three four five six"}});
  engine::Generator generator(decoder);
  ChatService service(demo_chat().builder, generator);
  std::stop_source source;
  const std::vector<Message> history{message(Role::User, "Go.")};
  const TurnResult result = service.reply(
      history, {}, [&](const TurnEvent&) { source.request_stop(); }, source.get_token());
  EXPECT_EQ(result.finished.generation.reason, engine::FinishReason::Cancelled);
}

TEST(ChatService, RefusesAPromptLongerThanTheContext) {
  const std::vector<Message> history{message(Role::User, std::string(50000, 'x'))};
  EXPECT_THROW(reply({{"a"}}, {}, history), Error);
}

}  // namespace
}  // namespace smol::chat

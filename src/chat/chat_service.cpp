#include "chat/chat_service.h"

#include <algorithm>
#include <string>
#include <utility>

#include "chat/stop_strings.h"
#include "chat/written.h"
#include "text/stream_decoder.h"

namespace smol::chat {
namespace {

OutputMode mode_of(const TurnOptions& options, const Prompt& prompt, const TagTokens& tags) {
  OutputMode mode;
  mode.tools = !options.prompt.tools.empty() || options.prompt.extra.contains("xml_tools");
  mode.python_tools = !options.prompt.python_tools.empty();
  mode.reasoning_open = prompt.reasoning_open;
  mode.token_tags = tags.set();
  return mode;
}

std::size_t count_calls(std::span<const Message> history) {
  std::size_t count = 0;
  for (const Message& message : history) {
    count += message.tool_calls.size();
  }
  return count;
}

// The way of one answer from tokens to events: tags and whole characters, stop strings, parser.
class Answer {
 public:
  Answer(const text::Tokenizer& tokenizer, const TagTokens& tags, const TurnOptions& options,
         const Prompt& prompt, const ChatService::EventSink& on_event)
      : tags_(tags),
        on_event_(on_event),
        decoder_(tokenizer, true),
        stops_(options.stop_strings),
        written_(mode_of(options, prompt, tags)) {}

  // Calls are numbered on from here: "call_0001" is the first of a conversation.
  void number_calls_from(std::size_t n_calls) { n_calls_ = n_calls; }

  // False: a stop string was met.
  bool take(TokenId id) {
    ids_.push_back(id);
    n_reasoning_ += written_.in_reasoning() ? 1 : 0;
    if (const auto tag = tags_.tag_of(id)) {
      push({decoder_.flush(), false});
      push({std::string(text_of(*tag)), true});
    } else {
      push({decoder_.push(id), false});
    }
    return !stops_.stopped();
  }

  TurnResult finish(const engine::GenerationResult& generation) {
    push({decoder_.flush(), false});
    parse(stops_.flush());
    TurnResult result;
    result.finished.generation = generation;
    result.finished.reasoning_tokens = n_reasoning_;
    result.finished.cut_while_thinking =
        written_.in_reasoning() && generation.reason != engine::FinishReason::EndOfTurn;
    emit(written_.finish());
    written_.store_in(result.message);
    for (std::size_t i = 0; i < result.message.tool_calls.size(); ++i) {
      result.message.tool_calls[i].id = id_of_call(n_calls_ - result.message.tool_calls.size() + i);
    }
    result.ids = std::move(ids_);
    send(result.finished);
    return result;
  }

 private:
  static std::string id_of_call(std::size_t index) {
    const std::string digits = std::to_string(index + 1);
    return "call_" + std::string(4 - std::min<std::size_t>(4, digits.size()), '0') + digits;
  }

  void push(Piece piece) { parse(stops_.push(std::move(piece))); }

  void parse(const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      emit(written_.take(piece));
    }
  }

  void emit(std::vector<OutputEvent> events) {
    for (OutputEvent& event : events) {
      if (auto* call = std::get_if<ToolCall>(&event)) {
        call->id = id_of_call(n_calls_++);
      }
      std::visit([&](auto& one) { send(std::move(one)); }, event);
    }
  }

  void send(const TurnEvent& event) {
    if (on_event_) {
      on_event_(event);
    }
  }

  const TagTokens& tags_;
  const ChatService::EventSink& on_event_;
  text::StreamDecoder decoder_;
  StopStrings stops_;
  WrittenAnswer written_;
  std::vector<TokenId> ids_;
  std::size_t n_reasoning_ = 0;
  std::size_t n_calls_ = 0;  // of the conversation
};

}  // namespace

ChatService::ChatService(const PromptBuilder& builder, engine::Generator& generator)
    : builder_(builder), generator_(generator), tags_(builder.tokenizer()) {}

TurnResult ChatService::reply(std::span<const Message> history, const TurnOptions& options,
                              const EventSink& on_event, const std::stop_token& stop,
                              const engine::Generator::ProgressSink& on_progress) {
  const Prompt prompt = builder_.build(history, options.prompt);
  return run(prompt, count_calls(history), options, on_event, stop, on_progress);
}

TurnResult ChatService::reply_to(const Prompt& prompt, const TurnOptions& options,
                                 const EventSink& on_event, const std::stop_token& stop,
                                 const engine::Generator::ProgressSink& on_progress) {
  return run(prompt, 0, options, on_event, stop, on_progress);
}

TurnResult ChatService::run(const Prompt& prompt, std::size_t n_calls, const TurnOptions& options,
                            const EventSink& on_event, const std::stop_token& stop,
                            const engine::Generator::ProgressSink& on_progress) {
  const text::Tokenizer& tokenizer = builder_.tokenizer();
  Answer answer(tokenizer, tags_, options, prompt, on_event);
  answer.number_calls_from(n_calls);
  engine::GenerationRequest request;
  request.prompt = prompt.ids;
  request.sampling = options.sampling;
  request.max_tokens = options.max_tokens;
  request.ends_turn = [&](TokenId id) { return tokenizer.ends_turn(id); };
  request.prefill_chunk = options.prefill_chunk;
  request.stop = stop;
  const engine::GenerationResult generation = generator_.generate(
      request, [&](TokenId id) { return answer.take(id); }, on_progress);
  return answer.finish(generation);
}

}  // namespace smol::chat

// A scripted answer on its way through the service, for tests.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "chat/blocking_turn.h"
#include "chat/chat_service.h"
#include "chat/demo_chat.h"
#include "chat/scripted_decoder.h"
#include "engine/engine.h"

namespace smol::chat {

inline ModelFacts demo_facts() {
  ModelFacts facts;
  facts.vocab_size = demo_chat().tokenizer.vocab_size();
  return facts;
}

struct Answered {
  TurnFinished finished;
  std::vector<std::string> events;
  std::vector<TokenScore> scores;
  std::vector<TokenId> script;
};

inline std::string show(const AnswerEvent& event) {
  struct Show {
    std::string operator()(const TextDelta& one) { return "text " + one.text; }

    std::string operator()(const ThinkingDelta& one) { return "thinking " + one.text; }

    std::string operator()(const ToolCall& one) {
      return "call " + one.id + " " + one.name + " " + one.arguments;
    }

    std::string operator()(const CodeBlock& one) { return "code " + one.code; }

    std::string operator()(const TokenScore& /*one*/) { return ""; }
  };

  return std::visit(Show{}, event);
}

// Deltas of one kind in a row are joined.
inline Answered answered(const std::vector<Piece>& answer, TurnOptions options = {},
                         const std::vector<Message>& history = {message(Role::User, "Go.")}) {
  ScriptedDecoder decoder(answer);
  // Drafts would make the script go on twice.
  engine::Engine engine(decoder, {.speculate = false});
  ChatService service(demo_chat().builder, engine, demo_facts());
  options.prompt.now = fixed_options().now;
  options.answer.sampling.temperature = 0;
  Answered out;
  out.script = decoder.script();
  out.finished = reply(service, history, options, [&](const AnswerEvent& event) {
    if (const auto* score = std::get_if<TokenScore>(&event)) {
      out.scores.push_back(*score);
      return;
    }
    const std::string shown = show(event);
    const std::string kind = shown.substr(0, shown.find(' ') + 1);
    const bool is_delta = kind == "text " || kind == "thinking ";
    if (is_delta && !out.events.empty() && out.events.back().rfind(kind, 0) == 0) {
      out.events.back() += shown.substr(kind.size());
    } else {
      out.events.push_back(shown);
    }
  });
  return out;
}

}  // namespace smol::chat

#include "app/answer_view.h"

#include <algorithm>
#include <chrono>
#include <variant>

#include <fmt/format.h>

#include "app/console.h"
#include "base/error.h"
#include "base/json.h"

namespace smol::app {

AnswerView::AnswerView(ViewStyle style, Write write) : style_(style), write_(std::move(write)) {}

void AnswerView::show(const chat::TurnEvent& event) {
  std::visit([this](const auto& what) { show_event(what); }, event);
}

void AnswerView::finish() {
  enter(Section::None);
}

// Thoughts are closed and every block begins a line of its own.
void AnswerView::enter(Section section) {
  if (section == section_ && section != Section::Block) {
    return;
  }
  end_line();
  if (section_ == Section::Thoughts) {
    write_faint("[/thinking]\n");
  }
  if (section == Section::Thoughts) {
    write_faint("[thinking]\n");
  }
  section_ = section;
}

void AnswerView::end_line() {
  if (!at_line_start_) {
    write("\n");
  }
}

void AnswerView::write_faint(std::string_view text) {
  write_(dimmed(text, style_.colour));
  at_line_start_ = text.ends_with('\n');
}

void AnswerView::write(std::string_view text) {
  write_(text);
  at_line_start_ = text.ends_with('\n');
}

void AnswerView::show_event(const chat::TextDelta& delta) {
  std::string_view text = delta.text;
  if (!text_begun_) {
    const std::size_t first = text.find_first_not_of("\r\n");
    text = first == std::string_view::npos ? std::string_view() : text.substr(first);
  }
  if (!text.empty()) {
    text_begun_ = true;
    enter(Section::Text);
    write(style_.terminal ? safe_for_terminal(text) : std::string(text));
  }
}

void AnswerView::show_event(const chat::ThinkingDelta& delta) {
  std::string_view text = delta.text;
  if (section_ != Section::Thoughts) {
    const std::size_t first = text.find_first_not_of("\r\n");
    text = first == std::string_view::npos ? std::string_view() : text.substr(first);
  }
  if (!text.empty()) {
    enter(Section::Thoughts);
    write_faint(style_.terminal ? safe_for_terminal(text) : std::string(text));
  }
}

void AnswerView::show_event(const chat::ToolCall& call) {
  enter(Section::Block);
  const std::string line = fmt::format("[tool call] {} {}\n", call.name, call.arguments);
  write(style_.terminal ? safe_for_terminal(line) : line);
}

void AnswerView::show_event(const chat::CodeBlock& block) {
  enter(Section::Block);
  const std::string text = fmt::format("[code]\n{}\n[/code]\n", block.code);
  write(style_.terminal ? safe_for_terminal(text) : text);
}

void AnswerView::show_event(const chat::Finished& /*finished*/) {
  finish();
}

std::string tool_call_json(const chat::ToolCall& call) {
  Json arguments = call.arguments;
  try {
    arguments = parse_json(call.arguments, "arguments");
  } catch (const Error&) {
    // A model may write what is no JSON: then it stays the text it is.
  }
  const Json line = {{"name", call.name}, {"arguments", arguments}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string statistics_line(const engine::GenerationResult& result, std::size_t context) {
  using Seconds = std::chrono::duration<double>;
  const double decode_seconds = Seconds(result.decode_time).count();
  std::string line = fmt::format("{} tokens", result.generated_tokens);
  if (decode_seconds > 0.0 && result.generated_tokens > 0) {
    line += fmt::format(", {:.1f} tokens/s",
                        static_cast<double>(result.generated_tokens) / decode_seconds);
  }
  line += fmt::format("; prompt {} tokens", result.prompt_tokens);
  if (result.cached_tokens > 0) {
    line += fmt::format(", {} of them reused", result.cached_tokens);
  }
  return line + fmt::format(", {:.2f} s; context {} of {}", Seconds(result.prefill_time).count(),
                            std::min(result.prompt_tokens + result.generated_tokens, context),
                            context);
}

std::string ending_reason(const chat::Finished& finished, std::size_t context) {
  switch (finished.generation.reason) {
    case engine::FinishReason::MaxTokens:
      return fmt::format("--max-tokens {} reached", finished.generation.generated_tokens);
    case engine::FinishReason::ContextFull:
      return fmt::format("the context of {} tokens is full", context);
    case engine::FinishReason::Cancelled:
      return "stopped";
    case engine::FinishReason::StopString:
      return "--stop";
    case engine::FinishReason::EndOfTurn:
      return "end of turn";
  }
  return "";
}

bool ended_normally(const chat::Finished& finished) {
  return finished.generation.reason == engine::FinishReason::EndOfTurn ||
         finished.generation.reason == engine::FinishReason::StopString;
}

std::string ending_note(const chat::Finished& finished, std::size_t context) {
  if (ended_normally(finished)) {
    return "";
  }
  const std::string where = finished.cut_while_thinking ? " while thinking" : "";
  if (finished.generation.reason == engine::FinishReason::Cancelled) {
    return fmt::format("[stopped{}]", where);
  }
  return fmt::format("[cut{}: {}]", where, ending_reason(finished, context));
}

}  // namespace smol::app

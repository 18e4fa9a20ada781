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

void AnswerView::show(const chat::AnswerEvent& event) {
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

void AnswerView::show_event(const chat::TokenScore& /*score*/) {}

void show_reading(Progress& bar, const chat::TurnProgress& moment) {
  if (moment.phase == chat::TurnPhase::Reading) {
    bar.update(moment.read_tokens, moment.prompt_tokens);
  }
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

std::string statistics_line(const chat::TurnUsage& usage, std::size_t context) {
  using Seconds = std::chrono::duration<double>;
  const double decode_seconds = Seconds(usage.decode_time).count();
  std::string line = fmt::format("{} tokens", usage.generated_tokens);
  if (decode_seconds > 0.0 && usage.generated_tokens > 0) {
    line += fmt::format(", {:.1f} tokens/s",
                        static_cast<double>(usage.generated_tokens) / decode_seconds);
  }
  line += fmt::format("; prompt {} tokens", usage.prompt_tokens);
  if (usage.cached_tokens > 0) {
    line += fmt::format(", {} of them reused", usage.cached_tokens);
  }
  return line + fmt::format(", {:.2f} s; context {} of {}", Seconds(usage.prefill_time).count(),
                            std::min(usage.prompt_tokens + usage.generated_tokens, context),
                            context);
}

std::string ending_reason(const chat::TurnFinished& finished, std::size_t context) {
  switch (finished.end) {
    case chat::TurnEnd::MaxTokens:
      return fmt::format("--max-tokens {} reached", finished.usage.generated_tokens);
    case chat::TurnEnd::ContextFull:
      return fmt::format("the context of {} tokens is full", context);
    case chat::TurnEnd::Cancelled:
      return "stopped";
    case chat::TurnEnd::StopString:
      return "--stop";
    case chat::TurnEnd::EndOfTurn:
      return "end of turn";
  }
  return "";
}

bool ended_normally(const chat::TurnFinished& finished) {
  return finished.end == chat::TurnEnd::EndOfTurn || finished.end == chat::TurnEnd::StopString;
}

std::string ending_note(const chat::TurnFinished& finished, std::size_t context) {
  if (ended_normally(finished)) {
    return "";
  }
  const std::string where = finished.cut_while_thinking ? " while thinking" : "";
  if (finished.end == chat::TurnEnd::Cancelled) {
    return fmt::format("[stopped{}]", where);
  }
  return fmt::format("[cut{}: {}]", where, ending_reason(finished, context));
}

}  // namespace smol::app

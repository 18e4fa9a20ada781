// One answer as a person sees it: thoughts set apart (and faint where the terminal has that), tool
// calls and code named as such.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/progress.h"
#include "chat/assistant.h"

namespace smol::app {

struct ViewStyle {
  bool terminal;  // control characters of the model are made harmless
  bool colour;    // thoughts are faint
};

// One answer; one thread.
class AnswerView {
 public:
  using Write = std::function<void(std::string_view)>;

  AnswerView(ViewStyle style, Write write);

  void show(const chat::AnswerEvent& event);
  // Ends an open block and the last line.
  void finish();

 private:
  enum class Section { None, Thoughts, Text, Block };

  void enter(Section section);
  void write_faint(std::string_view text);
  void write(std::string_view text);
  void end_line();

  void show_event(const chat::TextDelta& delta);
  void show_event(const chat::ThinkingDelta& delta);
  void show_event(const chat::ToolCall& call);
  void show_event(const chat::CodeBlock& block);
  void show_event(const chat::TokenScore& score);

  ViewStyle style_;
  Write write_;
  Section section_ = Section::None;
  bool at_line_start_ = true;
  bool text_begun_ = false;
};

// The bar, while the prompt is read.
void show_reading(Progress& bar, const chat::TurnProgress& moment);

// {"name": ..., "arguments": ...} in one line.
std::string tool_call_json(const chat::ToolCall& call);

// "42 tokens, 31.2 tokens/s; prompt 120 tokens, 80 of them reused, 0.41 s; context 162 of 4096".
std::string statistics_line(const chat::TurnUsage& usage, std::size_t context);

// "--max-tokens 20 reached", "the context of 4096 tokens is full", ...
std::string ending_reason(const chat::TurnFinished& finished, std::size_t context);
// At the end of the turn or at a stop string.
bool ended_normally(const chat::TurnFinished& finished);
// Why an answer ended, where a person should know; empty for a normal end.
std::string ending_note(const chat::TurnFinished& finished, std::size_t context);

}  // namespace smol::app

// What a model wrote -> thoughts, text, tool calls, code blocks; whole or as it streams.
//
// Thoughts stand only at the very start (after white space), or from the first byte if the prompt
// left <think> open, and end at the first </think>. With tools, <tool_call> holds a JSON object or
// list (Python literals are accepted) whose end is found by parsing; with python_tools, <code>
// holds code. Anything else is text: nothing the model wrote is lost. Text beside blocks is
// stripped there and joined with one newline. Linear in the length of the text, whatever it holds.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "chat/message.h"
#include "chat/tag.h"

namespace smol::chat {

struct OutputMode {
  bool tools = false;
  bool python_tools = false;
  bool reasoning_open = false;  // the prompt ends inside <think>
  bool raw = false;             // no tag has a meaning: all is text
  TagSet token_tags = {};  // tags that come through feed_tag(); the others are found in the text
};

struct TextDelta {
  std::string text;
  bool operator==(const TextDelta&) const = default;
};

struct ThinkingDelta {
  std::string text;
  bool operator==(const ThinkingDelta&) const = default;
};

struct CodeBlock {
  std::string code;  // newlines at both ends removed
  bool operator==(const CodeBlock&) const = default;
};

using OutputEvent = std::variant<TextDelta, ThinkingDelta, ToolCall, CodeBlock>;

// One answer; one thread. Texts are cut between UTF-8 characters if they come that way.
class OutputParser {
 public:
  explicit OutputParser(const OutputMode& mode);
  ~OutputParser();
  OutputParser(const OutputParser&) = delete;
  OutputParser& operator=(const OutputParser&) = delete;
  OutputParser(OutputParser&&) noexcept;
  OutputParser& operator=(OutputParser&&) noexcept;

  // What has become certain. No event holds empty text, none a tag that has a meaning.
  std::vector<OutputEvent> feed(std::string_view text);
  // A tag token. One that is not in mode.token_tags is fed as text.
  std::vector<OutputEvent> feed_tag(Tag tag);
  // The answer has ended: what was held back. The parser takes nothing afterwards.
  std::vector<OutputEvent> finish();

  // Whether the next token belongs to the thoughts.
  bool in_reasoning() const noexcept;

  // A tag that had a meaning. Positions are bytes of everything that was fed.
  struct TagPlace {
    std::size_t position;
    Tag tag;
  };

  // Of the tags in the answer, those that are decided on, in order; <think> and </think> are not
  // among them.
  const std::vector<TagPlace>& tag_places() const noexcept;
  // Where the thoughts and the white space behind them end; nothing if that is not decided.
  std::optional<std::size_t> answer_begin() const noexcept;

 private:
  class State;
  std::unique_ptr<State> state_;
};

// Events added up.
struct ParsedOutput {
  std::string reasoning = {};
  std::string content = {};
  std::vector<ToolCall> tool_calls = {};
  std::vector<std::string> code_blocks = {};

  void add(const OutputEvent& event);
  // OpenAI's null: calls or code and no text.
  bool content_is_null() const noexcept;
  bool operator==(const ParsedOutput&) const = default;
};

ParsedOutput parse_output(std::span<const Piece> pieces, const OutputMode& mode);

}  // namespace smol::chat

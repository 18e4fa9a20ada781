#include <algorithm>
#include <string_view>

#include "store/calendar.h"
#include "store/export.h"

namespace smol::store {
namespace {

// Fences longer than any run of backticks inside.
std::string fenced(std::string_view text, std::string_view label) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string out = fence + std::string(label) + "\n" + std::string(text);
  out += text.ends_with('\n') ? "" : "\n";
  return out + fence + "\n";
}

// A name in a heading or label stays in its line.
std::string in_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

std::string thought(const ThinkingPart& thinking) {
  const auto seconds = std::chrono::round<std::chrono::seconds>(thinking.time).count();
  const std::string time = seconds > 0 ? " for " + std::to_string(seconds) + " s" : "";
  return "<details>\n<summary>Thought" + time + "</summary>\n\n" + fenced(thinking.text, "text") +
         "\n</details>\n";
}

std::string tool_call(const ToolPart& tool) {
  std::string out = "**Tool " + in_line(tool.name) + "**\n\n" + fenced(tool.arguments, "json");
  if (!tool.result.empty()) {
    out += "\n" + fenced(tool.result, "text");
  }
  return out;
}

std::string part_text(const Part& part) {
  if (const auto* thinking = std::get_if<ThinkingPart>(&part)) {
    return thought(*thinking);
  }
  if (const auto* tool = std::get_if<ToolPart>(&part)) {
    return tool_call(*tool);
  }
  return std::get<TextPart>(part).text + "\n";
}

std::string message_text(const Message& message) {
  if (message.role == Role::Note) {
    return "---\n\n*" + in_line(message.text) + "*\n";
  }
  std::string out = message.role == Role::User ? "## You\n" : "## Assistant\n";
  for (const Attachment& file : message.attachments) {
    out += "\n**File " + in_line(file.name) + "**\n\n" + fenced(file.text, "");
  }
  if (message.role == Role::User) {
    return out + "\n" + message.text + "\n";
  }
  for (const Part& part : message.answer.parts) {
    out += "\n" + part_text(part);
  }
  return out;
}

}  // namespace

std::string to_markdown(const Transcript& transcript) {
  std::string out =
      "# " + in_line(transcript.session.title) + "\n\n" + date_text(transcript.session.date) + "\n";
  if (!transcript.session.settings.system.empty()) {
    out += "\n## System prompt\n\n" + transcript.session.settings.system + "\n";
  }
  for (const std::size_t index : active_path(transcript)) {
    out += "\n" + message_text(transcript.entries[index].message);
  }
  return out;
}

}  // namespace smol::store

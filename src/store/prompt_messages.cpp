#include "store/prompt_messages.h"

#include <algorithm>
#include <string>
#include <utility>

namespace smol::store {
namespace {

chat::Message text_message(chat::Role role, std::string text) {
  chat::Message message;
  message.role = role;
  message.content = std::move(text);
  return message;
}

std::string text_with_files(const Message& message) {
  std::string out;
  for (const Attachment& file : message.attachments) {
    out += "File " + file.name + ":\n\n" + file.text + (file.text.ends_with('\n') ? "\n" : "\n\n");
  }
  return out + message.text;
}

chat::Message result_message(const ToolPart& tool) {
  chat::Message message = text_message(chat::Role::Tool, tool.result);
  if (message.content.empty() && tool.state != ToolState::Done) {
    message.content = tool.state == ToolState::Denied ? "The user did not allow this call."
                                                      : "This call was not completed.";
  }
  message.tool_call_id = tool.call_id;
  message.name = tool.name;
  return message;
}

// Collects the parts of one answer, a round at a time.
class Rounds {
 public:
  Rounds(const Answer& answer, std::vector<chat::Message>& out) : answer_(answer), out_(out) {}

  void add(const Part& part) {
    if (const auto* tool = std::get_if<ToolPart>(&part)) {
      message_.tool_calls.push_back({tool->call_id, tool->name, tool->arguments});
      results_.push_back(result_message(*tool));
      return;
    }
    if (!results_.empty()) {
      finish();  // words behind a call begin the next round
    }
    if (const auto* thinking = std::get_if<ThinkingPart>(&part)) {
      message_.reasoning += thinking->text;
    } else {
      message_.content += std::get<TextPart>(part).text;
    }
  }

  void finish() {
    message_.role = chat::Role::Assistant;
    if (round_ < answer_.written.size()) {
      message_.written = answer_.written[round_];
    }
    ++round_;
    out_.push_back(std::exchange(message_, {}));
    std::ranges::move(results_, std::back_inserter(out_));
    results_.clear();
  }

 private:
  const Answer& answer_;
  std::vector<chat::Message>& out_;
  std::size_t round_ = 0;
  chat::Message message_;
  std::vector<chat::Message> results_;
};

void add_answer(const Answer& answer, std::vector<chat::Message>& out) {
  if (answer.parts.empty()) {
    return;
  }
  Rounds rounds(answer, out);
  for (const Part& part : answer.parts) {
    rounds.add(part);
  }
  rounds.finish();
}

}  // namespace

std::span<const Message> behind_last_note(std::span<const Message> path) {
  const auto last_note = std::ranges::find(path.rbegin(), path.rend(), Role::Note, &Message::role);
  return path.subspan(static_cast<std::size_t>(path.rend() - last_note));
}

std::vector<chat::Message> prompt_messages(std::string_view system, std::span<const Message> path,
                                           std::size_t left_out) {
  std::vector<chat::Message> out;
  if (!system.empty()) {
    out.push_back(text_message(chat::Role::System, std::string(system)));
  }
  const std::span<const Message> behind = behind_last_note(path);
  const std::size_t known = path.size() - behind.size();
  if (known > 0 && !path[known - 1].summary.empty()) {
    out.push_back(text_message(chat::Role::System,
                               "What was said before, in short:\n" + path[known - 1].summary));
  }
  for (const Message& message : behind.subspan(std::min(left_out, behind.size()))) {
    if (message.role == Role::User) {
      out.push_back(text_message(chat::Role::User, text_with_files(message)));
    } else {
      add_answer(message.answer, out);
    }
  }
  return out;
}

}  // namespace smol::store

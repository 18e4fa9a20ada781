// llama-server's web UI (llama.cpp, tools/ui, read in November 2026): a session's line, then a line
// per message. Earlier versions wrote a JSON list of {"conv": ..., "messages": [...]}.
//
// There an answer that calls tools is a chain of messages (assistant, tool, tool, assistant ...);
// here it is one, whose parts follow each other.
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "store/import_readers.h"

namespace smol::store {
namespace {

// Where a foreign message has gone, and how far its answer had come then.
struct Place {
  std::optional<std::size_t> entry;  // nothing: above all entries
  std::size_t parts = 0;
  Figures figures;
  bool is_tool = false;
};

std::size_t bytes_of(const Part& part) {
  if (const auto* tool = std::get_if<ToolPart>(&part)) {
    return sizeof(Part) + tool->arguments.size() + tool->result.size();
  }
  const auto* thinking = std::get_if<ThinkingPart>(&part);
  return sizeof(Part) + (thinking ? thinking->text : std::get<TextPart>(part).text).size();
}

class LlamaSession {
 public:
  LlamaSession(const Field& header, ImportJob& job)
      : job_(job), transcript_(add_session(job, header.text("name"))) {
    Session& session = transcript_.session;
    session.updated_at = foreign_time(header, "lastModified", session.updated_at);
    leaf_ = header.text("currNode");
  }

  void add(const Field& message) {
    job_.count.add(message);
    nodes_.push_back({message.at("id").text(), message.text("parent"), message});
  }

  void finish() {
    std::vector<Place> places(nodes_.size());
    std::optional<std::size_t> leaf;
    for (const ForeignOrder& order : parents_first(nodes_)) {
      const Field& field = nodes_[order.node].field;
      const Place above = order.parent ? places[*order.parent] : Place{};
      const Place place = put(field, above);
      places[order.node] = place;
      if (nodes_[order.node].id == leaf_) {
        leaf = place.entry;
      }
    }
    if (!transcript_.entries.empty()) {
      transcript_.leaf = leaf.value_or(transcript_.entries.size() - 1);
    }
    set_first_time();
  }

 private:
  Place put(const Field& field, const Place& above) {
    const std::string role = field.at("role").text();
    if (field.text("type") == "root") {
      return above;
    }
    if (role == "system") {
      std::string& system = transcript_.session.settings.system;
      system += (system.empty() ? "" : "\n\n") + field.text("content");
      return above;
    }
    if (role == "user") {
      return put_user(field, above);
    }
    if (role == "tool") {
      return put_result(field, above);
    }
    if (role != "assistant") {
      field.at("role").refuse("one of system, user, assistant, tool", "\"" + role + "\"");
    }
    return put_answer(field, above);
  }

  Place put_user(const Field& field, const Place& above) {
    Message message;
    message.role = Role::User;
    message.answer.state = AnswerState::Done;
    message.created_at = foreign_time(field, "timestamp", job_.defaults.now);
    message.text = field.text("content");
    if (const auto extra = field.find("extra")) {
      extra->each([&](const Field& file) { add_file(message, file); });
    }
    return new_entry(std::move(message), above.entry);
  }

  void add_file(Message& message, const Field& file) {
    const auto content = file.find("content");
    if (content && content->is_text()) {
      attach(message, file.text("name"), content->text(), job_);
    } else {
      ++job_.result.left_out;
    }
  }

  // The result of a call in the answer above it.
  Place put_result(const Field& field, const Place& above) {
    if (!above.entry) {
      field.refuse("an answer above a tool's result", "none");
    }
    const std::string id = field.text("toolCallId");
    auto& parts = transcript_.entries[*above.entry].message.answer.parts;
    for (std::size_t i = 0; i < above.parts; ++i) {
      auto* call = std::get_if<ToolPart>(&parts[i]);
      if (call != nullptr && call->call_id == id && call->result.empty()) {
        call->result = field.text("content");
        break;
      }
    }
    return {above.entry, above.parts, above.figures, true};
  }

  // A new answer, or (behind a tool's result) more of the one above.
  Place put_answer(const Field& field, const Place& above) {
    std::size_t entry = 0;
    if (!above.is_tool) {
      Message message;
      message.role = Role::Assistant;
      message.created_at = foreign_time(field, "timestamp", job_.defaults.now);
      message.answer.state = AnswerState::Done;
      entry = *new_entry(std::move(message), above.entry).entry;
    } else {
      entry = continued(field, above);
    }
    Answer& answer = transcript_.entries[entry].message.answer;
    add_parts(field, answer);
    return {entry, answer.parts.size(), answer.figures, false};
  }

  // The entry above, or a sibling with the same beginning if it goes on already.
  std::size_t continued(const Field& field, const Place& above) {
    const Transcript::Entry& first = transcript_.entries[*above.entry];
    if (first.message.answer.parts.size() == above.parts) {
      return *above.entry;
    }
    for (const Part& part : first.message.answer.parts) {
      job_.copied_bytes += bytes_of(part);
    }
    if (job_.copied_bytes > job_.limits.text_bytes) {
      field.refuse("answers that go on in a few ways", "one that goes on in many");
    }
    Transcript::Entry copy = first;
    copy.message.answer.parts.resize(above.parts);
    copy.message.answer.figures = above.figures;
    transcript_.entries.push_back(std::move(copy));
    return transcript_.entries.size() - 1;
  }

  void add_parts(const Field& field, Answer& answer) {
    std::string thoughts = field.text("reasoningContent");
    if (thoughts.empty()) {
      thoughts = field.text("thinking");
    }
    if (!thoughts.empty()) {
      answer.parts.emplace_back(ThinkingPart{std::move(thoughts)});
    }
    if (std::string text = field.text("content"); !text.empty()) {
      answer.parts.emplace_back(TextPart{std::move(text)});
    }
    add_calls(field, answer);
    if (const auto timings = field.find("timings"); timings && timings->is_object()) {
      answer.figures.tokens += timings->figure("predicted_n");
      answer.figures.time += Milliseconds(timings->figure("predicted_ms"));
      answer.figures.prompt_tokens += timings->figure("prompt_n");
      answer.figures.cached_tokens += timings->figure("cache_n");
      answer.figures.prompt_time += Milliseconds(timings->figure("prompt_ms"));
    }
  }

  // A list, or (in the database and earlier exports) its JSON text.
  void add_calls(const Field& field, Answer& answer) {
    const auto calls = field.find("toolCalls");
    if (!calls || (calls->is_text() && calls->text().empty())) {
      return;
    }
    const Json parsed = calls->is_text() ? job_.parse(calls->text(), calls->path()) : calls->json();
    const Field list(parsed, calls->path());
    check_items(list, job_);
    list.each([&](const Field& call) {
      const Field function = call.at("function");
      const auto arguments = function.find("arguments");
      answer.parts.emplace_back(ToolPart{call.text("id"), function.at("name").text(),
                                         arguments ? call_arguments(*arguments) : "{}",
                                         ToolState::Done, "", std::nullopt});
    });
  }

  Place new_entry(Message message, std::optional<std::size_t> parent) {
    transcript_.entries.push_back({std::move(message), parent});
    return {transcript_.entries.size() - 1, 0, {}, false};
  }

  void set_first_time() {
    Session& session = transcript_.session;
    session.created_at = session.updated_at;
    for (const auto& entry : transcript_.entries) {
      session.created_at = std::min(session.created_at, entry.message.created_at);
    }
  }

  ImportJob& job_;
  Transcript& transcript_;
  std::string leaf_;
  std::vector<ForeignNode> nodes_;
};

void read_session(const Field& field, ImportJob& job) {
  LlamaSession session(field.at("conv"), job);
  field.at("messages").each([&](const Field& message) { session.add(message); });
  session.finish();
}

std::string_view header_line(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  text.remove_prefix(begin == text.npos ? text.size() : begin);
  return text.substr(0, text.find('\n'));
}

}  // namespace

void read_llama(const Field& document, ImportJob& job) {
  if (document.is_list()) {
    document.each([&](const Field& field) { read_session(field, job); });
  } else {
    read_session(document, job);
  }
}

bool is_llama_lines(std::string_view text) {
  constexpr std::size_t kMostHeader = 65536;
  const std::string_view line = header_line(text);
  if (!line.starts_with('{') || line.size() > kMostHeader) {
    return false;
  }
  const Json first = Json::parse(line, nullptr, false);
  return first.is_object() && first.contains("type") && first["type"] == "session";
}

void read_llama_lines(std::string_view text, const std::string& name, ImportJob& job) {
  // The lines' documents must outlive the session that reads them.
  std::deque<Json> documents;
  std::unique_ptr<LlamaSession> session;
  const auto finish = [&] {
    if (session) {
      session->finish();
    }
    session.reset();
  };
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) {
      continue;
    }
    const std::string path = name + "line " + std::to_string(number);
    documents.push_back(job.parse(line, path));
    const Field record(documents.back(), path);
    const std::string type = record.text("type");
    if (type == "session") {
      finish();
      session = std::make_unique<LlamaSession>(record, job);
    } else if (type == "message") {
      if (!session) {
        record.refuse("a session's line before the messages'", "none");
      }
      session->add(record.at("message"));
    }
  }
  finish();
}

}  // namespace smol::store

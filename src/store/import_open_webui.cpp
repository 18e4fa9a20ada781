// Open WebUI's export (read from its sources of November 2026, version 0.11): a list of rows, each
// with a `chat` whose history.messages are keyed by id. Early versions wrote the chats alone.
//
// Only parentId is believed: childrenIds are often missing there.
#include <algorithm>
#include <utility>

#include "store/import_readers.h"
#include "store/open_webui_content.h"

namespace smol::store {
namespace {

std::string error_text(const Field& error) {
  if (error.is_text()) {
    return error.text();
  }
  const auto content = error.is_object() ? error.find("content") : std::nullopt;
  return content && content->is_text() ? content->text() : "The answer failed.";
}

Answer foreign_answer(const Field& field, const ImportJob& job) {
  Answer answer;
  answer.state = field.flag("done", true) ? AnswerState::Done : AnswerState::Interrupted;
  const auto error = field.find("error");
  if (error && error->json() != false) {
    answer.state = AnswerState::Error;
    answer.error.text = error_text(*error);
  }
  answer.parts = open_webui_parts(field, job);
  if (const auto usage = field.find("usage"); usage && usage->is_object()) {
    answer.figures.tokens =
        std::max(usage->figure("completion_tokens"), usage->figure("eval_count"));
    answer.figures.prompt_tokens =
        std::max(usage->figure("prompt_tokens"), usage->figure("prompt_eval_count"));
  }
  return answer;
}

void add_file(Message& message, const Field& field, ImportJob& job) {
  const auto file = field.is_object() ? field.find("file") : std::nullopt;
  const auto data = file && file->is_object() ? file->find("data") : std::nullopt;
  const auto content = data && data->is_object() ? data->find("content") : std::nullopt;
  if (!content || !content->is_text()) {
    ++job.result.left_out;
    return;
  }
  const std::string name = field.text("name");
  attach(message, name.empty() ? file->text("filename") : name, content->text(), job);
}

Message read_message(const Field& field, bool is_user, ImportJob& job) {
  Message message;
  message.role = is_user ? Role::User : Role::Assistant;
  message.created_at = foreign_time(field, "timestamp", job.defaults.now);
  if (!is_user) {
    message.answer = foreign_answer(field, job);
    return message;
  }
  message.answer.state = AnswerState::Done;
  message.text = open_webui_text(field);
  if (const auto files = field.find("files")) {
    files->each([&](const Field& file) { add_file(message, file, job); });
  }
  return message;
}

// The messages of a chat, and the last one of its active path.
struct History {
  std::vector<ForeignNode> nodes;
  std::string leaf;
};

History history_of(const Field& chat, ImportJob& job) {
  History history;
  const auto tree = chat.find("history");
  if (tree && tree->find("messages")) {
    history.leaf = tree->text("currentId");
    tree->at("messages").each_member([&](const std::string& id, const Field& message) {
      job.count.add(message);
      history.nodes.push_back({id, message.text("parentId"), message});
    });
    return history;
  }
  // Without a tree each message follows the one before.
  chat.at("messages").each([&](const Field& message) {
    job.count.add(message);
    history.nodes.push_back({std::to_string(history.nodes.size()), history.leaf, message});
    history.leaf = history.nodes.back().id;
  });
  return history;
}

void fill(Transcript& transcript, const History& history, ImportJob& job) {
  // Where a foreign message has gone; nothing: above all entries.
  std::vector<std::optional<std::size_t>> places(history.nodes.size());
  std::optional<std::size_t> leaf;
  for (const ForeignOrder& order : parents_first(history.nodes)) {
    const ForeignNode& node = history.nodes[order.node];
    const auto above = order.parent ? places[*order.parent] : std::nullopt;
    const std::string role = node.field.at("role").text();
    if (role == "system") {
      transcript.session.settings.system += open_webui_text(node.field);
      places[order.node] = above;
    } else if (role == "user" || role == "assistant") {
      transcript.entries.push_back({read_message(node.field, role == "user", job), above});
      places[order.node] = transcript.entries.size() - 1;
    } else {
      node.field.at("role").refuse("one of system, user, assistant", "\"" + role + "\"");
    }
    if (node.id == history.leaf) {
      leaf = places[order.node];
    }
  }
  if (!transcript.entries.empty()) {
    transcript.leaf = leaf.value_or(transcript.entries.size() - 1);
  }
}

void read_chat(const Field& row, ImportJob& job) {
  const auto inner = row.find("chat");
  const Field chat = inner.value_or(row);
  std::string title = chat.text("title");
  Transcript& transcript = add_session(job, title.empty() ? row.text("title") : std::move(title));
  Session& session = transcript.session;
  session.created_at = foreign_time(row, "created_at", session.created_at);
  session.updated_at = foreign_time(row, "updated_at", session.created_at);
  session.pinned = row.flag("pinned", false);
  session.archived = row.flag("archived", false);
  if (const auto params = chat.find("params"); params && params->is_object()) {
    session.settings.system = params->text("system");
  }
  fill(transcript, history_of(chat, job), job);
}

}  // namespace

void read_open_webui(const Field& document, ImportJob& job) {
  if (document.is_list()) {
    document.each([&](const Field& row) { read_chat(row, job); });
  } else {
    read_chat(document, job);
  }
}

}  // namespace smol::store

// The form, version 1: {"format": "smolbot", "version": 1, "sessions": [{..., "messages": [...]}]}.
// Messages name their parent by its index; absent fields have their plain values.
#include <utility>

#include "base/json.h"
#include "store/calendar.h"
#include "store/export.h"
#include "store/names.h"

namespace smol::store {
namespace {

void put_text(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) {
    object[key] = text;
  }
}

void put_number(Json& object, const char* key, std::int64_t number) {
  if (number != 0) {
    object[key] = number;
  }
}

template <class Value>
void put_maybe(Json& object, const char* key, const std::optional<Value>& value) {
  if (value) {
    object[key] = *value;
  }
}

Json settings_json(const Settings& settings) {
  Json out = {{"think", settings.think}};
  if (settings.tools) {
    out["tools"] = true;
  }
  put_text(out, "system", settings.system);
  put_maybe(out, "temperature", settings.temperature);
  put_maybe(out, "top_p", settings.top_p);
  put_maybe(out, "top_k", settings.top_k);
  put_maybe(out, "min_p", settings.min_p);
  put_maybe(out, "repetition_penalty", settings.repetition_penalty);
  put_maybe(out, "seed", settings.seed);
  put_maybe(out, "max_tokens", settings.max_tokens);
  put_maybe(out, "thinking_budget", settings.thinking_budget);
  return out;
}

Json part_json(const Part& part) {
  if (const auto* thinking = std::get_if<ThinkingPart>(&part)) {
    Json out = {{"kind", "thinking"}, {"text", thinking->text}};
    put_number(out, "tokens", thinking->tokens);
    put_number(out, "ms", thinking->time.count());
    return out;
  }
  if (const auto* tool = std::get_if<ToolPart>(&part)) {
    Json out = {{"kind", "tool"},
                {"id", tool->call_id},
                {"name", tool->name},
                {"arguments", tool->arguments},
                {"state", name_of(tool->state)},
                {"result", tool->result}};
    put_maybe(out, "ms", tool->time ? std::optional(tool->time->count()) : std::nullopt);
    return out;
  }
  return {{"kind", "text"}, {"text", std::get<TextPart>(part).text}};
}

Json written_json(const std::vector<std::vector<chat::Piece>>& written) {
  Json rounds = Json::array();
  for (const auto& pieces : written) {
    Json round = Json::array();
    for (const chat::Piece& piece : pieces) {
      round.push_back(Json{{piece.is_tag ? "tag" : "text", piece.text}});
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

void put_answer(Json& out, const Answer& answer) {
  out["state"] = name_of(answer.state);
  Json parts = Json::array();
  for (const Part& part : answer.parts) {
    parts.push_back(part_json(part));
  }
  out["parts"] = std::move(parts);
  put_number(out, "tokens", answer.figures.tokens);
  put_number(out, "ms", answer.figures.time.count());
  put_number(out, "prompt_tokens", answer.figures.prompt_tokens);
  put_number(out, "cached_tokens", answer.figures.cached_tokens);
  put_number(out, "prompt_ms", answer.figures.prompt_time.count());
  put_number(out, "limit", answer.limit);
  put_text(out, "error", answer.error.text);
  put_text(out, "hint", answer.error.hint);
  if (!answer.written.empty()) {
    out["written"] = written_json(answer.written);
  }
}

void put_input(Json& out, const Message& message) {
  out["text"] = message.text;
  put_text(out, "summary", message.summary);
  if (message.attachments.empty()) {
    return;
  }
  Json files = Json::array();
  for (const Attachment& file : message.attachments) {
    files.push_back({{"name", file.name}, {"tokens", file.tokens}, {"text", file.text}});
  }
  out["attachments"] = std::move(files);
}

Json message_json(const Transcript::Entry& entry) {
  const Message& message = entry.message;
  Json out = {{"role", name_of(message.role)}, {"created", time_text(message.created_at)}};
  put_maybe(out, "parent", entry.parent);
  if (message.role != Role::Note) {
    out["think"] = message.think;
  }
  if (message.role == Role::Assistant) {
    put_answer(out, message.answer);
  } else {
    put_input(out, message);
  }
  return out;
}

Json session_json(const Transcript& transcript) {
  const Session& session = transcript.session;
  Json out = {{"title", session.title},
              {"title_origin", name_of(session.title_origin)},
              {"created", time_text(session.created_at)},
              {"updated", time_text(session.updated_at)},
              {"date", date_text(session.date)},
              {"pinned", session.pinned},
              {"archived", session.archived},
              {"settings", settings_json(session.settings)}};
  put_maybe(out, "leaf", transcript.leaf);
  Json messages = Json::array();
  for (const Transcript::Entry& entry : transcript.entries) {
    messages.push_back(message_json(entry));
  }
  out["messages"] = std::move(messages);
  return out;
}

}  // namespace

std::string to_json(const std::vector<Transcript>& transcripts) {
  Json sessions = Json::array();
  for (const Transcript& transcript : transcripts) {
    sessions.push_back(session_json(transcript));
  }
  const Json out = {{"format", "smolbot"}, {"version", 1}, {"sessions", std::move(sessions)}};
  return out.dump(1) + "\n";
}

}  // namespace smol::store

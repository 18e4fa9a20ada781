// Our own export, version 1 (export_json.cpp).
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "store/calendar.h"
#include "store/import_readers.h"
#include "store/names.h"
#include "store/title.h"

namespace smol::store {
namespace {

template <class Enum>
Enum enum_at(const Field& object, const char* key) {
  const Field field = object.at(key);
  const auto value = named<Enum>(field.text());
  if (!value) {
    field.refuse("one of " + std::string(names_of<Enum>()), "\"" + field.text() + "\"");
  }
  return *value;
}

Time time_at(const Field& object, const char* key) {
  const Field field = object.at(key);
  const auto time = parse_time(field.text());
  if (!time) {
    field.refuse("a time such as 2026-11-28T13:20:38.123Z", "\"" + field.text() + "\"");
  }
  return *time;
}

Settings read_settings(const Field& field) {
  constexpr double kMostTemperature = 2;
  constexpr double kLeastPenalty = 0.01;
  constexpr double kMostPenalty = 100;
  Settings settings;
  settings.think = field.flag("think", true);
  settings.tools = field.flag("tools", false);
  settings.system = field.text("system");
  const auto real = [&](const char* key, double least, double most) -> std::optional<double> {
    const auto found = field.find(key);
    return found ? std::optional(found->real(least, most)) : std::nullopt;
  };
  const auto whole = [&](const char* key) -> std::optional<std::int64_t> {
    const auto found = field.find(key);
    return found ? std::optional(found->whole()) : std::nullopt;
  };
  settings.temperature = real("temperature", 0, kMostTemperature);
  settings.top_p = real("top_p", 0, 1);
  settings.min_p = real("min_p", 0, 1);
  settings.repetition_penalty = real("repetition_penalty", kLeastPenalty, kMostPenalty);
  settings.top_k = whole("top_k");
  settings.seed = whole("seed");
  settings.max_tokens = whole("max_tokens");
  settings.thinking_budget = whole("thinking_budget");
  return settings;
}

Session read_session_fields(const Field& field) {
  Session session;
  session.title = title_line(field.at("title").text());
  if (session.title.empty()) {
    field.at("title").refuse("some text", "none");
  }
  session.title_origin = enum_at<TitleOrigin>(field, "title_origin");
  session.created_at = time_at(field, "created");
  session.updated_at = time_at(field, "updated");
  const auto date = parse_date(field.at("date").text());
  if (!date) {
    field.at("date").refuse("a date such as 2026-11-28", "\"" + field.at("date").text() + "\"");
  }
  session.date = *date;
  session.pinned = field.flag("pinned", false);
  session.archived = field.flag("archived", false);
  session.settings = read_settings(field.at("settings"));
  return session;
}

ToolPart read_tool(const Field& field) {
  ToolPart tool{field.at("id").text(),        field.at("name").text(),
                field.at("arguments").text(), enum_at<ToolState>(field, "state"),
                field.text("result"),         std::nullopt};
  if (const auto ms = field.find("ms")) {
    tool.time = Milliseconds(ms->whole());
  }
  return tool;
}

Part read_part(const Field& field) {
  const std::string kind = field.at("kind").text();
  if (kind == "text") {
    return TextPart{field.at("text").text()};
  }
  if (kind == "thinking") {
    return ThinkingPart{field.at("text").text(), field.whole("tokens"),
                        Milliseconds(field.whole("ms"))};
  }
  if (kind != "tool") {
    field.at("kind").refuse("one of text, thinking, tool", "\"" + kind + "\"");
  }
  return read_tool(field);
}

chat::Piece read_piece(const Field& field) {
  const auto tag = field.find("tag");
  return tag ? chat::Piece{tag->text(), true} : chat::Piece{field.at("text").text(), false};
}

Answer read_answer(const Field& field) {
  Answer answer;
  answer.state = enum_at<AnswerState>(field, "state");
  if (answer.state == AnswerState::Running) {
    field.at("state").refuse("the state of an answer that has ended", "\"running\"");
  }
  field.at("parts").each([&](const Field& part) { answer.parts.push_back(read_part(part)); });
  answer.figures = {field.whole("tokens"), Milliseconds(field.whole("ms")),
                    field.whole("prompt_tokens"), field.whole("cached_tokens"),
                    Milliseconds(field.whole("prompt_ms"))};
  answer.limit = field.whole("limit");
  answer.error = {field.text("error"), field.text("hint")};
  if (const auto written = field.find("written")) {
    written->each([&](const Field& round) {
      auto& pieces = answer.written.emplace_back();
      round.each([&](const Field& piece) { pieces.push_back(read_piece(piece)); });
    });
  }
  return answer;
}

Message read_message_fields(const Field& field) {
  Message message;
  message.role = enum_at<Role>(field, "role");
  message.created_at = time_at(field, "created");
  message.think = field.flag("think", true);
  if (message.role == Role::Assistant) {
    message.answer = read_answer(field);
    return message;
  }
  message.text = field.at("text").text();
  message.summary = field.text("summary");
  message.answer.state = AnswerState::Done;
  if (const auto files = field.find("attachments")) {
    files->each([&](const Field& file) {
      message.attachments.push_back(
          {file.at("name").text(), file.at("text").text(), file.whole("tokens")});
    });
  }
  return message;
}

}  // namespace

void read_own(const Field& document, ImportJob& job) {
  if (document.at("format").text() != "smolbot") {
    document.at("format").refuse("\"smolbot\"", "\"" + document.at("format").text() + "\"");
  }
  if (document.at("version").whole() != 1) {
    throw Error(ErrorCode::Unsupported, "version: expected 1, found " +
                                            document.at("version").json().dump() +
                                            ", written by a newer smolbot");
  }
  document.at("sessions").each([&](const Field& field) {
    Transcript transcript;
    transcript.session = read_session_fields(field);
    field.at("messages").each([&](const Field& message) {
      job.count.add(message);
      const auto parent = message.find("parent");
      const std::size_t earlier = transcript.entries.size();
      transcript.entries.push_back({read_message_fields(message),
                                    parent ? std::optional(parent->index(earlier)) : std::nullopt});
    });
    if (const auto leaf = field.find("leaf")) {
      transcript.leaf = leaf->index(transcript.entries.size());
    }
    job.result.transcripts.push_back(std::move(transcript));
  });
}

}  // namespace smol::store

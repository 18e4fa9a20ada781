#include "store/part_rows.h"

#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "store/names.h"

namespace smol::store {
namespace {

// One row; what a kind does not use stays as it is.
struct PartRow {
  std::string_view kind;
  std::string_view text;
  std::int64_t tokens = 0;
  std::optional<std::int64_t> ms = std::nullopt;
  std::string_view name = "";
  std::optional<std::string_view> call_id = std::nullopt;
  std::string_view arguments = "";
  std::string_view state = "";
  bool searchable = false;
};

constexpr std::string_view kText = "text";
constexpr std::string_view kThinking = "thinking";
constexpr std::string_view kTool = "tool";
constexpr std::string_view kFile = "file";
constexpr std::string_view kSummary = "summary";

void write(Connection& db, MessageId message, std::size_t position, const PartRow& row) {
  db.execute(
      "INSERT INTO parts (message_id, position, kind, text, tokens, ms, name, call_id, arguments,"
      " state, searchable) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
      " ON CONFLICT (message_id, position) DO UPDATE SET kind = ?3, text = ?4, tokens = ?5,"
      " ms = ?6, name = ?7, call_id = ?8, arguments = ?9, state = ?10, searchable = ?11"
      " WHERE text <> ?4 OR searchable <> ?11 OR kind <> ?3 OR state <> ?10 OR tokens <> ?5"
      " OR ms IS NOT ?6 OR name <> ?7 OR call_id IS NOT ?8 OR arguments <> ?9",
      message, position, row.kind, row.text, row.tokens, row.ms, row.name, row.call_id,
      row.arguments, row.state, row.searchable);
}

PartRow row_of(const Part& part, bool has_ended) {
  if (const auto* thinking = std::get_if<ThinkingPart>(&part)) {
    return {.kind = kThinking,
            .text = thinking->text,
            .tokens = thinking->tokens,
            .ms = thinking->time.count()};
  }
  if (const auto* tool = std::get_if<ToolPart>(&part)) {
    return {.kind = kTool,
            .text = tool->result,
            .ms = tool->time ? std::optional(tool->time->count()) : std::nullopt,
            .name = tool->name,
            .call_id = tool->call_id,
            .arguments = tool->arguments,
            .state = name_of(has_ended && is_open(tool->state) ? ToolState::Failed : tool->state)};
  }
  return {.kind = kText, .text = std::get<TextPart>(part).text, .searchable = has_ended};
}

ToolPart tool_of(const Connection& db, const Rows& row) {
  ToolPart tool;
  tool.result = row.text(1);
  if (const auto ms = row.maybe_integer(3)) {
    tool.time = Milliseconds(*ms);
  }
  tool.name = row.text(4);
  tool.call_id = row.text(5);
  tool.arguments = row.text(6);
  const auto state = named<ToolState>(row.text(7));
  if (!state) {
    throw Error(ErrorCode::Io, db.file().string() + ": expected one of " +
                                   std::string(names_of<ToolState>()) + ", found \"" + row.text(7) +
                                   "\"");
  }
  tool.state = *state;
  return tool;
}

}  // namespace

void read_parts(Connection& db, Message& message) {
  Rows row = db.query(
      "SELECT kind, text, tokens, ms, name, call_id, arguments, state FROM parts"
      " WHERE message_id = ?1 ORDER BY position",
      message.id);
  while (row.next()) {
    const std::string kind = row.text(0);
    if (kind == kFile) {
      message.attachments.push_back({row.text(4), row.text(1), row.integer(2)});
    } else if (kind == kSummary) {
      message.summary = row.text(1);
    } else if (kind == kThinking) {
      message.answer.parts.emplace_back(
          ThinkingPart{row.text(1), row.integer(2), Milliseconds(row.integer(3))});
    } else if (kind == kTool) {
      message.answer.parts.emplace_back(tool_of(db, row));
    } else if (message.role == Role::Assistant) {
      message.answer.parts.emplace_back(TextPart{row.text(1)});
    } else {
      message.text = row.text(1);
    }
  }
}

void write_input_parts(Connection& db, MessageId id, const Message& message) {
  std::size_t position = 0;
  for (const Attachment& file : message.attachments) {
    write(db, id, position++,
          {.kind = kFile,
           .text = file.text,
           .tokens = file.tokens,
           .name = file.name,
           .searchable = true});
  }
  write(db, id, position++,
        {.kind = kText, .text = message.text, .searchable = message.role == Role::User});
  if (!message.summary.empty()) {
    write(db, id, position, {.kind = kSummary, .text = message.summary});
  }
}

void write_answer_parts(Connection& db, MessageId id, const std::vector<Part>& parts,
                        bool has_ended) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    write(db, id, i, row_of(parts[i], has_ended));
  }
  db.execute("DELETE FROM parts WHERE message_id = ?1 AND position >= ?2", id, parts.size());
}

std::string packed(const std::vector<std::vector<chat::Piece>>& written) {
  if (written.empty()) {
    return "";
  }
  Json rounds = Json::array();
  for (const auto& pieces : written) {
    Json round = Json::array();
    for (const chat::Piece& piece : pieces) {
      round.push_back(Json::array({piece.text, piece.is_tag}));
    }
    rounds.push_back(std::move(round));
  }
  // What a model wrote need not be whole characters.
  return rounds.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::vector<chat::Piece>> unpacked_written(std::string_view text) {
  std::vector<std::vector<chat::Piece>> written;
  if (text.empty()) {
    return written;
  }
  for (const Json& round : parse_json(text, "written")) {
    auto& pieces = written.emplace_back();
    for (const Json& piece : round) {
      pieces.push_back({piece.at(0).get<std::string>(), piece.at(1).get<bool>()});
    }
  }
  return written;
}

std::string packed(const UserInput& input) {
  Json files = Json::array();
  for (const Attachment& file : input.attachments) {
    files.push_back({{"name", file.name}, {"text", file.text}, {"tokens", file.tokens}});
  }
  return Json{{"text", input.text}, {"think", input.think}, {"attachments", std::move(files)}}
      .dump();
}

UserInput unpacked_input(std::string_view text) {
  const Json json = parse_json(text, "queued message");
  UserInput input{json.at("text").get<std::string>(), {}, json.at("think").get<bool>()};
  for (const Json& file : json.at("attachments")) {
    input.attachments.push_back({file.at("name").get<std::string>(),
                                 file.at("text").get<std::string>(),
                                 file.at("tokens").get<std::int64_t>()});
  }
  return input;
}

}  // namespace smol::store

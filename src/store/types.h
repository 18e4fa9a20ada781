// What a session is made of: plain data without a database in it.
//
// The messages of a session form a tree: an edit or a new answer is a sibling of what it replaces.
// The active path leads from a root to the session's leaf and is what a reader sees.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "chat/message.h"

namespace smol::store {

using SessionId = std::string;    // 32 hexadecimal digits: 128 random bits
using MessageId = std::int64_t;   // positive, never given twice; a child's is above its parent's
using TurnId = std::int64_t;      // positive, never given twice
using DeletionId = std::int64_t;  // positive, never given twice
using Milliseconds = std::chrono::milliseconds;
using Time = std::chrono::sys_time<Milliseconds>;

// An absent value follows the model's authors.
struct Settings {
  bool think = true;
  std::string system;  // the system prompt; "" if there is none
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<std::int64_t> top_k, seed, max_tokens, thinking_budget;
  bool tools = false;  // whether the model may call the built-in ones
  bool operator==(const Settings&) const = default;
};

enum class TitleOrigin {
  FirstLine,  // of the first message, until there is a better one
  Model,
  Person
};

struct Session {
  SessionId id;
  std::string title;
  TitleOrigin title_origin = TitleOrigin::FirstLine;
  Time created_at, updated_at;
  std::chrono::year_month_day date;  // what the model is told, so that a prefix outlives midnight
  bool pinned = false;
  bool archived = false;
  Settings settings;
};

struct SessionSummary {
  SessionId id;
  std::string title;
  Time updated_at;
  bool pinned = false;
  bool archived = false;
  bool is_running = false;
};

struct Attachment {
  std::string name;
  std::string text;
  std::int64_t tokens = 0;
  bool operator==(const Attachment&) const = default;
};

// What a person sends.
struct UserInput {
  std::string text;
  std::vector<Attachment> attachments;
  bool think = true;
  bool operator==(const UserInput&) const = default;
};

struct TextPart {
  std::string text;
  bool operator==(const TextPart&) const = default;
};

struct ThinkingPart {
  std::string text;
  std::int64_t tokens = 0;
  Milliseconds time{0};
  bool operator==(const ThinkingPart&) const = default;
};

enum class ToolState { Asking, Running, Done, Denied, Failed };

// Whether it still waits for its result.
constexpr bool is_open(ToolState state) noexcept {
  return state == ToolState::Asking || state == ToolState::Running;
}

struct ToolPart {
  std::string call_id;  // unique in the store, so that its card is found by it
  std::string name;
  std::string arguments;  // JSON text of an object
  ToolState state = ToolState::Running;
  std::string result;  // or what went wrong
  std::optional<Milliseconds> time;
  bool operator==(const ToolPart&) const = default;
};

using Part = std::variant<TextPart, ThinkingPart, ToolPart>;

enum class Role { User, Assistant, Note };

enum class AnswerState {
  Running,
  Done,
  Stopped,
  Limit,
  ThinkingLimit,
  Context,
  Interrupted,  // the program ended during the answer
  Error
};

struct Figures {
  std::int64_t tokens = 0;  // generated, thoughts included
  Milliseconds time{0};     // spent on them
  std::int64_t prompt_tokens = 0;
  std::int64_t cached_tokens = 0;  // of the prompt's, those not read again
  Milliseconds prompt_time{0};
  bool operator==(const Figures&) const = default;
};

// 0 where nothing was measured.
double tokens_per_second(const Figures& figures) noexcept;

struct AnswerError {
  std::string text;
  std::string hint;
  bool operator==(const AnswerError&) const = default;
};

// An answer as far as it has come.
struct Answer {
  AnswerState state = AnswerState::Running;
  std::vector<Part> parts;  // in the order written; a call is open only while the answer runs
  Figures figures;
  std::int64_t limit = 0;  // the tokens that were reached in Limit, ThinkingLimit and Context
  AnswerError error;       // in Error
  // Per round (what the model wrote before, between and after tool calls) chat::Message::written,
  // so that the next prompt repeats it exactly; may be empty.
  std::vector<std::vector<chat::Piece>> written;
  bool operator==(const Answer&) const = default;
};

// `< index/count >`: a message among its siblings.
struct Branch {
  std::size_t index = 1;  // from 1
  std::size_t count = 1;
  std::optional<MessageId> previous, next;
};

struct Message {
  MessageId id = 0;
  SessionId session;
  std::optional<MessageId> parent;
  Role role = Role::User;
  Time created_at;
  // Of a user: what was sent. Of a note: the line that is shown.
  std::string text;
  std::vector<Attachment> attachments;
  bool think = true;  // of a user and an assistant
  // Of a note: the model reads this in place of everything above; "" lets it forget all of it.
  std::string summary;
  // Of an assistant.
  Answer answer;
  TurnId turn = 0;  // the last one that wrote it
  Branch branch;
};

// Some messages of a path, the oldest first.
struct Page {
  std::vector<Message> messages;
  std::optional<MessageId> older_than;  // the first one's id, where there are older ones
};

// A running turn: its answer is being written.
struct Turn {
  TurnId id = 0;
  SessionId session;
  std::optional<MessageId> question;  // the user's message, where the turn made one
  MessageId answer = 0;
};

}  // namespace smol::store

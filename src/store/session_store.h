// Conversations on disk, in one SQLite file of the data folder (WAL, synchronous=FULL): what a
// function did is on the disk when it returns, and each function is all or nothing.
//
// Any thread: one connection, one mutex. Besides what is said below every function throws
// Error{NotFound} for an id that is unknown or deleted, Error{BadInput} for text that is no UTF-8,
// and Error{Io} where the disk fails or is full, which leaves the file as it was.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/data_folder.h"
#include "store/transcript.h"
#include "store/types.h"

namespace smol::store {

class Connection;

struct NewSession {
  Settings settings;
  std::chrono::year_month_day date;  // today, where the person is
};

// A line of a path, where the model forgets what stands above or reads a summary of it.
struct NewNote {
  std::string text;          // what is shown
  std::string summary = {};  // "": all is forgotten
};

struct Counts {
  std::size_t sessions = 0;  // archived ones included
  std::size_t archived = 0;
};

// A tool's call, its message, and its place among the message's parts.
struct FoundCall {
  MessageId message = 0;
  std::size_t index = 0;
  ToolPart call;
};

// Something deleted that undo() brings back.
struct Deletion {
  DeletionId id = 0;
  SessionId session;
  std::optional<MessageId> message;  // the first of those deleted; nothing: the whole session
};

// Where a search found its words: a message, or (without `message`) a title.
struct SearchHit {
  SessionId session;
  std::string title;
  std::optional<MessageId> message;
  std::string before, match, after;  // some words around the place, in one line
};

struct SearchResult {
  std::vector<SearchHit> hits;  // titles first, then the newest messages
  std::size_t total = 0;        // those beyond the limit included
};

class SessionStore {
 public:
  using Clock = std::function<Time()>;

  // How long undo() works; what was deleted is out of all files with the first purge() after it.
  static constexpr std::chrono::seconds kUndoTime{30};

  // Opens `sessions.db` in the folder, made if missing, migrates it, and marks the answers that
  // were running as interrupted and their calls without a result as failed. Throws what DataFolder
  // throws (another process has it), Error{Unsupported} if a newer version wrote it,
  // Error{BadInput} if it is another program's.
  explicit SessionStore(const std::filesystem::path& folder, Clock clock = system_time);
  ~SessionStore();
  SessionStore(const SessionStore&) = delete;
  SessionStore& operator=(const SessionStore&) = delete;
  SessionStore(SessionStore&&) = delete;
  SessionStore& operator=(SessionStore&&) = delete;

  static Time system_time();

  // --- Sessions
  Session session(const SessionId& id) const;
  std::optional<Session> newest_session() const;              // by its last change
  std::vector<SessionSummary> sessions(bool archived) const;  // pinned ones first, then the newest
  std::vector<SessionId> session_ids() const;                 // all, the newest first
  Counts counts() const;
  // Reads the settings, lets `change` alter them and keeps the result, which is returned.
  Settings change_settings(const SessionId& id, const std::function<void(Settings&)>& change);
  // The same for those that the next new session is to have (NewSession).
  Settings next_settings() const;
  Settings change_next_settings(const std::function<void(Settings&)>& change);
  // A title is one line of at most 200 characters; what is longer is cut. Throws Error{BadInput}
  // for an empty one.
  void rename(const SessionId& id, std::string_view title);
  // Sets a title that a model made, unless a person gave one (false).
  bool set_automatic_title(const SessionId& id, std::string_view title);
  void pin(const SessionId& id, bool pinned);
  void archive(const SessionId& id, bool archived);
  // The message that is to be sent when the running answer has ended.
  std::optional<UserInput> queued(const SessionId& id) const;
  // Behind what is queued already: one message, with the files of both.
  void add_queued(const SessionId& id, const UserInput& input);
  // What was queued, which is then queued no longer.
  std::optional<UserInput> take_queued(const SessionId& id);

  // --- Messages
  Message message(MessageId id) const;
  // The last message of the active path.
  std::optional<MessageId> last_message(const SessionId& id) const;
  // The newest `limit` messages of the active path.
  Page newest_messages(const SessionId& id, std::size_t limit) const;
  // The `limit` messages above this one.
  Page messages_before(MessageId id, std::size_t limit) const;
  // Those of the active path behind this one; nothing: it is not on the active path.
  std::optional<std::vector<Message>> messages_after(MessageId id) const;
  // All messages from the root to this one.
  std::vector<Message> messages_up_to(MessageId id) const;
  // Nothing: no tool was called by that id.
  std::optional<FoundCall> find_call(std::string_view call_id) const;
  // Makes the path through this message, and on to the newest leaf below it, the active one.
  void select(MessageId id);
  // Appends a note to the active path. Nothing: a turn is running.
  std::optional<MessageId> add_note(const SessionId& id, const NewNote& note);

  // --- Turns. One at a time in a session: those that begin one return nothing while one runs.
  // A new session with its first turn; its title is the first line of the text.
  Turn begin_session(const NewSession& session, const UserInput& input);
  // Appends a message and its answer to the active path.
  std::optional<Turn> begin_turn(const SessionId& id, const UserInput& input);
  // The same with the queued message, which is then queued no longer. Nothing: there is none, too.
  std::optional<Turn> begin_queued_turn(const SessionId& id);
  // A sibling of a user's message, with its answer. Error{BadInput}: it is no user's message.
  std::optional<Turn> begin_edit(MessageId id, const UserInput& input);
  // A new answer: beside this one, or below a user's message. Error{BadInput}: it is a note.
  std::optional<Turn> begin_regeneration(MessageId id, bool think);
  // This answer goes on. Error{BadInput}: it is no answer, or messages stand below it.
  std::optional<Turn> begin_continuation(MessageId id);
  std::optional<Turn> running_turn(const SessionId& id) const;
  // Saves the answer as far as it has come; a state other than Running ends the turn, and calls
  // that have no result by then failed. The caller saves at least once a second. Error{NotFound}:
  // the turn has ended, or its session is gone.
  void save(TurnId turn, const Answer& answer);
  // The same for its end, with a note below the answer, whose id is returned. Requires: a state
  // other than Running.
  MessageId save_with_note(TurnId turn, const Answer& answer, const NewNote& note);

  // --- Deleting
  Deletion erase_session(const SessionId& id);
  // The message and all below it; the active path then leads to the newest leaf that is left. A
  // title from the first message's line follows the first one that is left.
  Deletion erase_message(MessageId id);
  // Nothing: it was brought back before, the time is over, or what it belonged to is deleted.
  std::optional<Deletion> undo(DeletionId id);
  // What was deleted, and no purge() has removed yet.
  std::vector<Deletion> deletions() const;
  // Removes what can no longer be brought back from messages, search index, free pages and WAL.
  // False: nothing was there to remove, now or later. Takes as long as copying the file; to be
  // called every few seconds, since another program that is reading the file holds it up.
  bool purge();

  // --- Search: all words of the query, parts of words too, in any script, without regard to case.
  SearchResult search(std::string_view query, std::size_t limit) const;

  // --- Export and import
  // A running answer counts as interrupted.
  Transcript transcript(const SessionId& id) const;
  // New sessions, all or none, in their order. Requires: what import.h returned.
  std::vector<SessionId> insert(const std::vector<Transcript>& transcripts);

 private:
  using Lock = std::scoped_lock<std::mutex>;

  std::optional<Turn> begin_below(const SessionId& session, std::optional<MessageId> parent,
                                  const UserInput& input);
  Turn start_answer(const SessionId& session, std::optional<MessageId> parent, bool think);
  Turn start_turn(const SessionId& session, MessageId answer);
  std::pair<SessionId, MessageId> write_saved(TurnId turn, const Answer& answer);
  MessageId insert_note(const SessionId& id, std::optional<MessageId> parent, const NewNote& note);
  Page page_up_from(std::optional<MessageId> leaf, std::size_t limit) const;
  bool is_running(const SessionId& id) const;
  void mark_interrupted();
  void remove_expired();
  void scrub();

  mutable std::mutex mutex_;
  DataFolder folder_;
  std::unique_ptr<Connection> connection_;
  Clock clock_;
};

}  // namespace smol::store

// A store in a folder of its own whose clock stands still until it is moved.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/error.h"
#include "store/session_store.h"
#include "support/temp_folder.h"

namespace smol::store {

inline constexpr std::chrono::year_month_day kDate{std::chrono::year{2026}, std::chrono::month{11},
                                                   std::chrono::day{28}};
inline constexpr Time kStart = std::chrono::sys_days(kDate) + std::chrono::hours(13);

inline UserInput says(std::string_view text) {
  return {std::string(text), {}, true};
}

class TestStore {
 public:
  TestStore() { reopen(); }

  SessionStore* operator->() { return store_.get(); }

  SessionStore& operator*() { return *store_; }

  void close() { store_.reset(); }

  void reopen() {
    store_.reset();
    store_ = std::make_unique<SessionStore>(path(), [this] { return now; });
  }

  std::filesystem::path path() const { return folder_.path() / "data"; }

  // A session with one finished turn.
  Turn talk(std::string_view question, std::string_view answer) {
    Turn turn = store_->begin_session({{}, kDate}, says(question));
    finish(turn, answer);
    return turn;
  }

  // Appends a finished turn.
  Turn talk(const SessionId& session, std::string_view question, std::string_view answer) {
    Turn turn = store_->begin_turn(session, says(question)).value();
    finish(turn, answer);
    return turn;
  }

  void finish(const Turn& turn, std::string_view answer) {
    Answer done;
    done.state = AnswerState::Done;
    done.parts.emplace_back(TextPart{std::string(answer)});
    store_->save(turn.id, done);
  }

  // The texts of the active path, "/" between them.
  std::string path_text(const SessionId& session) {
    std::string out;
    for (const Message& message : store_->newest_messages(session, kAll).messages) {
      out += (out.empty() ? "" : "/") + text_of(message);
    }
    return out;
  }

  static std::string text_of(const Message& message) {
    std::string out = message.text;
    for (const Part& part : message.answer.parts) {
      if (const auto* text = std::get_if<TextPart>(&part)) {
        out += text->text;
      }
    }
    return out;
  }

  Time now = kStart;
  static constexpr std::size_t kAll = 1'000'000;

 private:
  test::TempFolder folder_;
  std::unique_ptr<SessionStore> store_;
};

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Whether any file of the folder holds these bytes.
inline bool folder_holds(const std::filesystem::path& folder, std::string_view text) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && bytes_of(entry.path()).find(text) != std::string::npos) {
      return true;
    }
  }
  return false;
}

// The code of the Error that `action` throws, and its message in `message`.
template <class Action>
std::optional<ErrorCode> error_of(const Action& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message != nullptr) {
      *message = error.what();
    }
    return error.code();
  }
  return std::nullopt;
}

template <class Action>
std::string message_of(const Action& action) {
  std::string message;
  error_of(action, &message);
  return message;
}

}  // namespace smol::store

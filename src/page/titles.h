// Titles of conversations, by the model: made while it has nothing else to do, without the
// thoughts.
#pragma once

#include <deque>
#include <mutex>
#include <stop_token>

#include "chat/assistant.h"
#include "store/session_store.h"

namespace smol::page {

// Any thread.
class Titles {
 public:
  Titles(chat::Assistant& assistant, store::SessionStore& store)
      : assistant_(assistant), store_(store) {}

  // An answer of the session has ended. Only its first one leads to a title.
  void want(const store::SessionId& session);
  // Whether a title is wanted.
  bool waits() const;
  // Makes the next one, if the model is idle. Takes its time.
  void make_one() noexcept;
  // Someone needs the model: what is under way ends early.
  void give_way();

 private:
  void make(const store::SessionId& session, const std::stop_token& stop);

  chat::Assistant& assistant_;
  store::SessionStore& store_;
  mutable std::mutex mutex_;
  std::deque<store::SessionId> wanted_;
  std::stop_source stop_;
};

}  // namespace smol::page

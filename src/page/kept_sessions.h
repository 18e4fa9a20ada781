// What was computed for the latest sessions, on disk from one run to the next: their next message
// is answered without reading the conversation again. What was deleted is in no such file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "chat/assistant.h"
#include "page/prompts.h"
#include "store/session_store.h"

namespace smol::page {

struct KeptFile {
  std::filesystem::path path;
  std::size_t max_bytes = 0;                           // 0: nothing is kept
  std::function<void(const std::string& error)> tell;  // why it is not taken, or not written
};

// Any thread, but save() and forget() of one at a time. What it is given must outlive it.
class KeptSessions {
 public:
  // How a session's next turn would be asked for.
  using WishOf = std::function<TurnWish(const store::Settings& settings, bool think)>;

  KeptSessions(chat::Assistant& assistant, const store::SessionStore& store, KeptFile file,
               WishOf wish_of);

  // Brings back what the file holds of sessions that are there.
  void restore() const noexcept;
  // Writes the file anew. Where `goes_on` ends that, the earlier one stays.
  void save(const std::function<bool()>& goes_on) const noexcept;
  // What was deleted leaves memory and file. False: not yet, since `goes_on` ended it.
  bool forget(const std::vector<store::Deletion>& deletions,
              const std::function<bool()>& goes_on) const;

 private:
  bool write(const std::function<bool()>& goes_on) const;
  std::vector<engine::OwnedPrompt> prompts() const;
  engine::OwnedPrompt prompt_of(const store::SessionId& id) const;

  chat::Assistant& assistant_;
  const store::SessionStore& store_;
  const KeptFile file_;
  const WishOf wish_of_;
};

}  // namespace smol::page

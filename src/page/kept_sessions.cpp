#include "page/kept_sessions.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace smol::page {
namespace {

constexpr std::size_t kMostSessions = 64;

}  // namespace

KeptSessions::KeptSessions(chat::Assistant& assistant, const store::SessionStore& store,
                           KeptFile file, WishOf wish_of)
    : assistant_(assistant), store_(store), file_(std::move(file)), wish_of_(std::move(wish_of)) {}

// The beginning of whatever is asked next.
engine::OwnedPrompt KeptSessions::prompt_of(const store::SessionId& id) const {
  const store::Session session = store_.session(id);
  std::vector<store::Message> path;
  if (const auto last = store_.last_message(id)) {
    path = store_.messages_up_to(*last);
  }
  path.emplace_back();
  auto ids = turn_request(assistant_.builder(), session, path,
                          wish_of_(session.settings, session.settings.think))
                 .prompt.ids;
  ids.resize(std::min(ids.size(), assistant_.model().context));
  return {owner_of(id), std::move(ids)};
}

// The latest session first.
std::vector<engine::OwnedPrompt> KeptSessions::prompts() const {
  std::vector<store::SessionId> ids = store_.session_ids();
  ids.resize(std::min(ids.size(), kMostSessions));
  std::vector<engine::OwnedPrompt> found;
  for (const store::SessionId& id : ids) {
    try {
      found.push_back(prompt_of(id));
    } catch (const Error&) {
      // It was deleted meanwhile, or is one that the template does not take.
    }
  }
  return found;
}

void KeptSessions::restore() const noexcept {
  try {
    if (file_.max_bytes == 0) {
      std::filesystem::remove(file_.path);
    } else if (std::filesystem::exists(file_.path)) {
      assistant_.restore_cache(file_.path, prompts());
    }
  } catch (const std::exception& error) {
    file_.tell(std::string(error.what()) + "; conversations are read anew");
  }
}

bool KeptSessions::write(const std::function<bool()>& goes_on) const {
  const std::vector<engine::OwnedPrompt> wanted = prompts();
  return assistant_
      .save_cache(file_.path, {.prompts = wanted, .max_bytes = file_.max_bytes, .goes_on = goes_on})
      .has_value();
}

void KeptSessions::save(const std::function<bool()>& goes_on) const noexcept {
  try {
    if (file_.max_bytes > 0 && goes_on()) {
      write(goes_on);
    }
  } catch (const std::exception& error) {
    file_.tell(error.what());
  }
}

bool KeptSessions::forget(const std::vector<store::Deletion>& deletions,
                          const std::function<bool()>& goes_on) const {
  for (const store::Deletion& deletion : deletions) {
    if (!deletion.message) {
      assistant_.forget(owner_of(deletion.session));
    }
  }
  if (deletions.empty() || file_.max_bytes == 0) {
    return true;
  }
  try {
    return write(goes_on);
  } catch (const std::exception& error) {  // rather none than one that holds what was deleted
    file_.tell(error.what());
    std::error_code ignored;
    std::filesystem::remove(file_.path, ignored);
    return !std::filesystem::exists(file_.path, ignored);
  }
}

}  // namespace smol::page

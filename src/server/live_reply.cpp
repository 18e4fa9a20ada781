#include "server/live_reply.h"

#include <utility>

namespace smol::server {

// Requires the mutex.
void LiveReply::tell() {
  if (!told_ && listener_ && (begun_ || ended_)) {
    told_ = true;
    listener_();
  }
}

void LiveReply::respond(HttpResponse response) {
  const std::lock_guard lock(mutex_);
  if (ended_ || begun_ || abandoned_) {
    return;
  }
  news_.whole = std::move(response);
  news_.finished = ended_ = true;
  tell();
}

void LiveReply::begin(StreamHead head) {
  const std::lock_guard lock(mutex_);
  if (begun_ || abandoned_) {
    return;
  }
  news_.streamed = std::move(head);
  begun_ = true;
  tell();
}

bool LiveReply::append(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (!ended_ && !abandoned_) {
    news_.bytes += bytes;
    tell();
  }
  return !abandoned_;
}

void LiveReply::finish() {
  const std::lock_guard lock(mutex_);
  if (!ended_ && !abandoned_) {
    news_.finished = ended_ = true;
    tell();
  }
}

void LiveReply::set_cancel_action(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  cancel_action_ = std::move(action);
}

void LiveReply::set_listener(std::function<void()> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
  tell();
}

LiveReply::News LiveReply::take() {
  const std::lock_guard lock(mutex_);
  told_ = false;
  if (!begun_ && !ended_) {
    return {};
  }
  News news = std::exchange(news_, {});
  news.finished = ended_;
  return news;
}

void LiveReply::cancel() {
  std::function<void()> action;
  {
    const std::lock_guard lock(mutex_);
    action = std::exchange(cancel_action_, nullptr);
  }
  if (action) {
    action();
  }
}

void LiveReply::abandon() {
  cancel();
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  news_ = {};
  listener_ = nullptr;
}

}  // namespace smol::server

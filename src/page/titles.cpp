#include "page/titles.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "chat/blocking_turn.h"
#include "store/prompt_messages.h"

namespace smol::page {
namespace {

constexpr std::size_t kTitleTokens = 24, kTitleBytes = 2000, kTitleLetters = 60;

// The beginning of a text, cut between characters.
std::string beginning(const std::string& text) {
  std::string out = text.substr(0, kTitleBytes);
  while (!out.empty() && !utf8::is_valid(out)) {
    out.pop_back();
  }
  return out;
}

// The first line, without quotes and a full stop; "" where it is no title.
std::string cleaned(std::string text) {
  const auto strip = [&text](std::string_view unwanted) {
    text.erase(0, text.find_first_not_of(unwanted));
    text.erase(text.find_last_not_of(unwanted) + 1);
  };
  strip(" \t\r\n");
  text.erase(std::min(text.find_first_of("\r\n"), text.size()));
  strip(" \t\"'*#.“”");
  return utf8::length(text) > kTitleLetters ? "" : text;
}

std::string request_of(const std::vector<chat::Message>& messages) {
  std::string out =
      "Write a title for this conversation, of at most five words. Answer with the title alone.\n";
  for (const chat::Message& message : messages) {
    if (message.role == chat::Role::User || message.role == chat::Role::Assistant) {
      out += message.role == chat::Role::User ? "\nPerson: " : "\nAssistant: ";
      out += beginning(message.content) + "\n";
    }
  }
  return out;
}

}  // namespace

void Titles::want(const store::SessionId& session) {
  if (assistant_.model().is_demo) {
    return;  // it has nothing to say
  }
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(wanted_, session) == wanted_.end()) {
    wanted_.push_back(session);
  }
}

bool Titles::waits() const {
  const std::lock_guard lock(mutex_);
  return !wanted_.empty();
}

void Titles::give_way() {
  const std::lock_guard lock(mutex_);
  stop_.request_stop();
}

void Titles::make_one() noexcept {
  try {
    const chat::AssistantStats stats = assistant_.stats();
    if (stats.running + stats.waiting > 0) {
      return;
    }
    store::SessionId session;
    std::stop_token stop;
    {
      const std::lock_guard lock(mutex_);
      if (wanted_.empty()) {
        return;
      }
      session = wanted_.front();
      wanted_.pop_front();
      stop_ = {};
      stop = stop_.get_token();
    }
    make(session, stop);
    if (stop.stop_requested()) {
      want(session);
    }
  } catch (const std::exception&) {
    // The first line stays the title.
  }
}

void Titles::make(const store::SessionId& session, const std::stop_token& stop) {
  if (store_.session(session).title_origin != store::TitleOrigin::FirstLine) {
    return;
  }
  const store::Page page = store_.newest_messages(session, 2);
  if (page.older_than || page.messages.size() < 2) {
    return;
  }
  chat::Message question;
  question.content = request_of(store::prompt_messages("", page.messages));
  chat::TurnOptions options;
  options.prompt.think = chat::ThinkMode::Off;
  options.prompt.now = chat::local_now();
  options.answer.sampling.temperature = 0;
  options.answer.max_tokens = kTitleTokens;
  options.answer.cache_prompt = false;
  const std::vector<chat::Message> messages{question};
  const chat::TurnFinished finished = chat::reply(assistant_, messages, options, {}, stop);
  const std::string title = cleaned(finished.message.content);
  if (finished.end == chat::TurnEnd::EndOfTurn && !title.empty()) {
    store_.set_automatic_title(session, title);
  }
}

}  // namespace smol::page

// POST /api/compact: a turn whose answer, a summary, takes the place of what was said, for the
// model.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "page/message_routes.h"
#include "page/turn_begin.h"
#include "store/prompt_messages.h"

namespace smol::page {
namespace {

constexpr std::size_t kSummaryTokens = 400;
constexpr const char* kQuestion =
    "Summarize our conversation so far in one paragraph: what was asked, what was found, what is "
    "still open. It will take the place of the conversation.";

// Where turns begin among the messages behind the last note.
std::vector<std::size_t> beginnings(std::span<const store::Message> messages) {
  std::vector<std::size_t> out{0};
  for (std::size_t i = 1; i < messages.size(); ++i) {
    if (messages[i].role == store::Role::User) {
      out.push_back(i);
    }
  }
  return out;
}

// Leaves out as many of the oldest turns as it takes to let prompt and summary fit; where the last
// one alone is too long, its middle. `path` ends with the question.
void make_room(const Call& call, const store::Session& about, std::span<const store::Message> path,
               TurnWish& wish) {
  const chat::Assistant& assistant = call.house.assistant;
  std::vector<std::size_t> begins = beginnings(store::behind_last_note(path));
  begins.pop_back();  // the question's
  const auto is_too_long = [&](std::size_t left_out) {
    wish.left_out = left_out;
    const std::size_t size = turn_request(assistant.builder(), about, path, wish).prompt.ids.size();
    return size + wish.answer.max_tokens > assistant.model().context;
  };
  const auto fits = std::ranges::partition_point(begins, is_too_long);
  wish.left_out = fits == begins.end() ? begins.back() : *fits;
  wish.note = "What stands above was replaced by a summary.";
  if (fits == begins.end()) {
    wish.answer.overflow = chat::ContextOverflow::Roll;
    wish.note += " Not all of it fitted into the summary.";
  } else if (wish.left_out > 0) {
    wish.note += " The oldest " + std::to_string(wish.left_out) + " messages did not fit into it.";
  }
}

}  // namespace

server::Reply post_compact(const Call& call) {
  House& house = call.house;
  const store::Session about = house.store.session(call.some_session());
  if (house.store.running_turn(about.id)) {
    throw Refusal{409, "warn", "An answer is still being written.", "Stop it first."};
  }
  const auto last = house.store.last_message(about.id);
  std::vector<store::Message> path;
  if (last) {
    path = house.store.messages_up_to(*last);
  }
  if (store::behind_last_note(path).empty()) {
    throw Refusal{400, "info", "There is nothing to replace yet."};
  }
  // As the session's other turns, so that what was read for them is read no more.
  const store::UserInput question{kQuestion, {}, about.settings.think};
  TurnWish wish = wish_of(call, about.settings, question.think);
  wish.answer.max_tokens = std::min(kSummaryTokens, house.assistant.model().context / 4);
  wish.answer.thinking_budget = 0;
  path.emplace_back().text = question.text;
  make_room(call, about, path, wish);
  check_queue(call);
  const auto turn = house.store.begin_turn(about.id, question);
  if (!turn) {
    throw Refusal{409, "warn", "An answer is still being written.", "Stop it first."};
  }
  return answer_and_start(call, *turn, wish, [&] { return turn_fragment(call, *turn, false); });
}

}  // namespace smol::page

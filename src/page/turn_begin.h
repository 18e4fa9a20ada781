// From a request to a running turn.
#pragma once

#include <functional>
#include <span>

#include "page/house.h"
#include "page/prompts.h"
#include "store/types.h"

namespace smol::page {

// What the form's person sends: message and files. Throws Refusal where both are missing.
store::UserInput input_of(const Call& call, bool think);

// The session's settings, with what the request says for this turn alone: sampling fields, grammar,
// tools. Throws Error{BadInput} with the field's name.
TurnWish wish_of(const Call& call, const store::Settings& settings, bool think);

// Throws Refusal where the prompt of `path` leaves no room for an answer.
void check_length(const Call& call, const store::Session& about,
                  std::span<const store::Message> path, const TurnWish& wish);

// Throws Refusal where as many turns wait as may.
void check_queue(const Call& call);

// Throws Refusal: an answer is being written.
[[noreturn]] void refuse_busy();

// The fragments of a turn that began with a message. `is_new`: the turn made the session.
server::HttpResponse turn_fragment(const Call& call, const store::Turn& turn, bool is_new);

// Starts a turn that the store has begun, after `answer` was made: what the page is shown must not
// hold what the turn's events will say. `answer` may throw; the turn runs nevertheless.
server::HttpResponse answer_and_start(const Call& call, const store::Turn& turn,
                                      const TurnWish& wish,
                                      const std::function<server::HttpResponse()>& answer);

}  // namespace smol::page

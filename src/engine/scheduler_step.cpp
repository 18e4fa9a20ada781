// One step of the scheduler: who takes part with how many tokens, and what becomes of the logits.
#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "engine/scheduler.h"

namespace smol::engine {
namespace {

// Beyond so many tokens a step costs about as much for each further one as for the first: drafts
// fill steps up to here, no further.
constexpr std::size_t kCheapTokens = 8;
// A prompt's least share of a step, where so many fit it.
constexpr std::size_t kLeastShare = 16;
constexpr double kReadingPace = 10;  // of EngineOptions::pace

std::chrono::nanoseconds duration_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

}  // namespace

std::vector<Scheduler::Part> Scheduler::plan(Clock::time_point now) {
  std::vector<Part> parts;
  std::vector<Place*> readers;
  std::size_t n_writing = 0;
  for (const auto& place : places_) {
    if (!is_working(*place) || place->due > now) {
      continue;
    }
    const std::size_t n_pending = place->sequence->pending().size();
    if (place->sequence->reads_chunks()) {
      readers.push_back(place.get());
    } else if (n_writing + n_pending <= decoder_.options().max_batch) {
      parts.push_back({place.get(), n_pending, false, {}});
      n_writing += n_pending;
    }
  }
  for (Part& part : parts) {
    const std::size_t most = std::min(kCheapTokens, decoder_.options().max_batch);
    part.drafts = part.place->sequence->draft(most - std::min(most, n_writing), n_writing, speed_);
    n_writing += part.drafts.size();
  }
  plan_reading(parts, readers, n_writing);
  return parts;
}

// Prompts share the chunk, each time beginning with another one.
void Scheduler::plan_reading(std::vector<Part>& parts, std::vector<Place*>& readers,
                             std::size_t n_writing) {
  if (readers.empty()) {
    return;
  }
  std::size_t chunk = options_.prefill_chunk != 0
                          ? options_.prefill_chunk
                          : speed_.chunk(readers.size(), parts.size(), n_writing);
  chunk = std::min(chunk, decoder_.options().max_batch - n_writing);
  std::size_t share = std::max(chunk / readers.size(), std::min(chunk, kLeastShare));
  if (options_.pace > 0) {
    const double most = options_.pace * kReadingPace * kPaceStepSeconds;
    share = std::min(share, static_cast<std::size_t>(std::max(most, 1.0)));
  }
  // Not of std::ranges, whose rotate clang 14 does not compile.
  std::rotate(readers.begin(),
              readers.begin() + static_cast<std::ptrdiff_t>(turn_++ % readers.size()),
              readers.end());
  for (Place* const place : readers) {
    const std::size_t size = std::min({place->sequence->pending().size(), share, chunk});
    if (size > 0) {
      parts.push_back({place, size, true, {}});
      chunk -= size;
    }
  }
}

// A plan for which there are blocks: without drafts if need be, then without the youngest.
std::vector<Scheduler::Part> Scheduler::plan_that_fits(Clock::time_point now) {
  const auto needed = [&](const std::vector<Part>& parts) {
    return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                           [&](std::size_t sum, const Part& part) {
                             const std::size_t n_tokens = part.n_tokens + part.drafts.size();
                             return sum + decoder_.blocks_needed(*part.place->slot, n_tokens);
                           });
  };
  while (true) {
    std::vector<Part> parts = plan(now);
    if (parts.empty() || space_.make_room(needed(parts))) {
      return parts;
    }
    for (Part& part : parts) {
      part.drafts.clear();
    }
    // What went may have left blocks to one holder, who then needs no copy.
    if (space_.make_room(needed(parts))) {
      return parts;
    }
    suspend(*youngest_working(), now);
  }
}

Scheduler::Place* Scheduler::youngest_working() {
  Place* youngest = nullptr;
  for (const auto& place : places_) {
    if (is_working(*place) && (youngest == nullptr || place->admitted > youngest->admitted)) {
      youngest = place.get();
    }
  }
  SMOL_CHECK(youngest != nullptr);
  return youngest;
}

void Scheduler::fill_batch() {
  batch_.clear();
  std::size_t n_rows = 0;
  for (Part& part : parts_) {
    const Sequence& sequence = *part.place->sequence;
    const bool wants_logits = sequence.request().task == Task::Answer && part.reaches_end();
    part.first = batch_.size();
    part.first_row = n_rows;
    n_rows += (wants_logits ? 1 : 0) + part.drafts.size();
    auto position = static_cast<std::uint32_t>(sequence.n_done());
    for (const TokenId token : sequence.pending().first(part.n_tokens)) {
      batch_.push_back({token, position++, *part.place->slot, false});
    }
    batch_.back().wants_logits = wants_logits;
    for (const TokenId token : part.drafts) {
      batch_.push_back({token, position++, *part.place->slot, true});
    }
  }
}

// Nobody waits for what the step computes. A paused answer gets the token that is on its way.
bool Scheduler::is_unwanted() const {
  return !parts_.empty() && std::ranges::all_of(parts_, [](const Part& part) {
    const Ticket& ticket = part.place->sequence->ticket();
    return ticket.wants_cancel() || (part.is_reading && ticket.wants_pause());
  });
}

// Asked while a step runs. It is remembered: a pause may be taken back before the step returns.
bool Scheduler::gives_up() {
  gave_up_ = gave_up_ || is_unwanted();
  return gave_up_;
}

// Only what a step has finished counts as held.
void Scheduler::forget_step() {
  for (const Part& part : parts_) {
    space_.advance(*part.place->slot, {});
  }
}

void Scheduler::run(Clock::time_point now) {
  fill_batch();
  gave_up_ = false;
  std::span<const float> values;
  try {
    values = decoder_.forward(batch_);
  } catch (...) {
    for (const Part& part : parts_) {
      part.place->failure = std::current_exception();
    }
    forget_step();
    return;
  }
  if (gave_up_) {
    forget_step();
    return;
  }
  const LogitRows logits(values, decoder_.logit_maxima(), decoder_.config().vocab_size);
  const std::uint64_t generated_before = stats_.generated_tokens;
  std::size_t n_reading = 0;
  for (Part& part : parts_) {
    n_reading += part.is_reading ? part.n_tokens : 0;
    take(part, logits);
  }
  const Clock::time_point end = Clock::now();
  const std::size_t n_writing = batch_.size() - n_reading;
  speed_.took(n_writing, n_reading, end - now);
  stats_.computed_tokens += batch_.size();
  ++stats_.n_steps;
  if (n_writing > 0) {
    constexpr double kSmoothing = 0.1;
    const double seconds = std::chrono::duration<double>(end - now).count();
    const auto written = static_cast<double>(stats_.generated_tokens - generated_before);
    double& rate = stats_.generated_tokens_per_second;
    rate = rate == 0 ? written / seconds : rate + (written / seconds - rate) * kSmoothing;
  }
  for (Part& part : parts_) {
    settle(part, end);
  }
}

// Gives a part its rows of the logits.
void Scheduler::take(Part& part, const LogitRows& logits) {
  Sequence& sequence = *part.place->sequence;
  const Result before = sequence.result();
  const auto read = sequence.pending().first(part.n_tokens);
  std::vector<TokenId> held(read.begin(), read.end());
  if (sequence.request().task == Task::Embed) {
    std::vector<float> hidden(decoder_.config().d_model);
    for (std::size_t i = 0; i < part.n_tokens; ++i) {
      decoder_.hidden_state(part.first + i, hidden);
      sequence.add_hidden(hidden);
    }
  }
  if (sequence.request().task == Task::Answer && part.reaches_end()) {
    try {
      const std::size_t n_kept =
          sequence.take(logits.part(part.first_row, 1 + part.drafts.size()), part.drafts);
      held.insert(held.end(), part.drafts.begin(),
                  part.drafts.begin() + static_cast<std::ptrdiff_t>(n_kept));
    } catch (...) {
      part.place->failure = std::current_exception();
    }
  } else {
    sequence.read(part.n_tokens);
    if (sequence.pending().empty()) {
      sequence.end_with(FinishReason::EndOfTurn);
    }
  }
  space_.advance(*part.place->slot, held);
  const Result& after = sequence.result();
  stats_.generated_tokens += after.generated_tokens - before.generated_tokens;
  stats_.drafted_tokens += after.drafted_tokens - before.drafted_tokens;
  stats_.accepted_tokens += after.accepted_tokens - before.accepted_tokens;
  const std::size_t n_written = after.generated_tokens - before.generated_tokens;
  pace(*part.place, part.is_reading ? part.n_tokens : 0, n_written, Clock::now());
}

void Scheduler::settle(Part& part, Clock::time_point now) {
  Sequence& sequence = *part.place->sequence;
  if (part.place->failure || sequence.end()) {
    return;
  }
  const bool begins_to_write = sequence.phase() != sequence.working_phase();
  if (begins_to_write) {
    sequence.enter(sequence.working_phase(), now);
  }
  part.place->has_news = part.place->has_news || part.is_reading || begins_to_write;
  if (sequence.restarts()) {
    suspend(*part.place, now);
  }
}

void Scheduler::pace(Place& place, std::size_t n_read, std::size_t n_written,
                     Clock::time_point now) const {
  if (options_.pace > 0) {
    const double seconds =
        (static_cast<double>(n_read) / kReadingPace + static_cast<double>(n_written)) /
        options_.pace;
    place.due = std::max(place.due, now) + duration_of(seconds);
  }
}

std::optional<Scheduler::Clock::time_point> Scheduler::next_due() const {
  std::optional<Clock::time_point> next;
  for (const auto& place : places_) {
    if (is_working(*place)) {
      next = std::min(next.value_or(place->due), place->due);
    }
  }
  return next;
}

}  // namespace smol::engine

#include "engine/scheduler.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace smol::engine {
namespace {

constexpr std::size_t kMostRemembered = 4096;  // clients

std::size_t blocks_of(std::size_t n_tokens) noexcept {
  return (n_tokens + model::kBlockTokens - 1) / model::kBlockTokens;
}

bool shares(const Request& request) noexcept {
  // Of tokens that are not computed there are no hidden states.
  return request.cache_prompt && request.task != Task::Embed;
}

void fail_with(Sequence& sequence, const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    sequence.fail(error);
  } catch (const std::exception& error) {
    sequence.fail(Error(ErrorCode::Device, error.what()));
  }
}

}  // namespace

Scheduler::Scheduler(model::Decoder& decoder, const EngineOptions& options, Publish publish)
    : decoder_(decoder), options_(options), publish_(std::move(publish)), space_(decoder) {
  SMOL_CHECK(options.max_running >= 1);
  SMOL_CHECK(decoder.options().n_slots <= decoder.options().max_batch);
  SMOL_CHECK(decoder.n_blocks() >= blocks_of(decoder.options().context));
  decoder.give_up_when([this] { return gives_up(); });
}

Scheduler::~Scheduler() {
  decoder_.give_up_when({});
}

Sequence::Limits Scheduler::limits() const noexcept {
  const auto paced = static_cast<std::size_t>(std::max(1.0, options_.pace * kPaceStepSeconds));
  return {decoder_.options().context, decoder_.config().vocab_size, options_.speculate,
          options_.pace > 0 ? paced : std::numeric_limits<std::size_t>::max()};
}

void Scheduler::add(std::unique_ptr<Sequence> sequence) {
  places_.push_back(std::make_unique<Place>());
  places_.back()->sequence = std::move(sequence);
}

std::optional<Scheduler::Clock::time_point> Scheduler::step() {
  const Clock::time_point now = Clock::now();
  heed_tickets(now);
  drop_ended();
  admit(now);
  publish_and_tell();
  parts_ = plan_that_fits(now);
  if (parts_.empty()) {
    return next_due();
  }
  run(now);
  publish_and_tell();
  drop_ended();
  return now;
}

void Scheduler::heed_tickets(Clock::time_point now) {
  for (const auto& place : places_) {
    Sequence& sequence = *place->sequence;
    const bool is_paused = sequence.phase() == Phase::Paused;
    if (sequence.ticket().wants_cancel()) {
      sequence.end_with(FinishReason::Cancelled);
    } else if (sequence.ticket().wants_pause() != is_paused) {
      const Phase working = place->slot ? sequence.working_phase() : Phase::Waiting;
      sequence.enter(is_paused ? working : Phase::Paused, now);
      place->has_news = true;
    }
  }
}

void Scheduler::drop_ended() {
  std::vector<std::unique_ptr<Place>> ended;
  for (auto& place : places_) {
    if (place->failure || place->sequence->end()) {
      if (place->slot) {
        space_.release(*place->slot);
      }
      const bool cancelled = place->sequence->end() == FinishReason::Cancelled;
      ++(place->failure ? stats_.failed : cancelled ? stats_.cancelled : stats_.finished);
      ended.push_back(std::move(place));
    }
  }
  if (ended.empty()) {
    return;
  }
  std::erase(places_, nullptr);
  publish();
  for (const auto& place : ended) {
    if (place->failure) {
      fail_with(*place->sequence, place->failure);
    } else {
      place->sequence->finish();
    }
  }
}

void Scheduler::cancel_all() {
  for (const auto& place : places_) {
    place->sequence->end_with(FinishReason::Cancelled);
  }
  drop_ended();
}

std::size_t Scheduler::n_working() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(places_, [](const auto& place) { return is_working(*place); }));
}

void Scheduler::admit(Clock::time_point now) {
  std::vector<Place*> waiting = waiting_in_order();
  while (!waiting.empty() && space_.has_slot() && n_working() < options_.max_running &&
         fits(*waiting.front())) {
    begin(*waiting.front(), now);
    waiting = waiting_in_order();
  }
  for (std::size_t ahead = 0; ahead < waiting.size(); ++ahead) {
    Place& place = *waiting[ahead];
    place.has_news = place.has_news || place.ahead != ahead;
    place.ahead = ahead;
  }
}

// Who had begun before comes first. A request waits behind as many of each client as there are of
// its own, at work or waiting longer; of equal ones the client's who was served longest ago.
std::vector<Scheduler::Place*> Scheduler::waiting_in_order() const {
  struct Turn {
    Place* place;
    std::pair<std::size_t, std::uint64_t> rank;
  };

  std::unordered_map<std::string_view, std::size_t> n_before;
  for (const auto& place : places_) {
    n_before[place->sequence->request().client] += is_working(*place) ? 1U : 0U;
  }
  std::vector<Turn> turns;
  for (const auto& place : places_) {
    if (!place->slot && place->sequence->phase() == Phase::Waiting) {
      const std::string& client = place->sequence->request().client;
      const std::size_t rank = n_before[client]++;
      const auto served = served_.find(client);
      turns.push_back(
          {place.get(),
           {place->has_begun ? 0 : rank + 1, served == served_.end() ? 0 : served->second}});
    }
  }
  std::ranges::stable_sort(turns, {}, &Turn::rank);
  std::vector<Place*> order;
  std::ranges::transform(turns, std::back_inserter(order), &Turn::place);
  return order;
}

// Whether there is room for its tokens and one more, beside what those at work need to read theirs.
bool Scheduler::fits(const Place& place) {
  const auto has_slot = [](const auto& other) { return other->slot.has_value(); };
  if (std::ranges::none_of(places_, has_slot)) {
    return true;
  }
  const std::span<const TokenId> window = place.sequence->window();
  std::size_t needed = blocks_of(window.size() + 1);
  needed -= shares(place.sequence->request()) ? space_.n_in_use(window) : 0;
  for (const auto& other : places_) {
    if (is_working(*other)) {
      needed += decoder_.blocks_needed(*other->slot, other->sequence->pending().size() + 1);
    }
  }
  return needed <= space_.n_available();
}

void Scheduler::begin(Place& place, Clock::time_point now) {
  Sequence& sequence = *place.sequence;
  const Request& request = sequence.request();
  const KvSpace::Claim claim = space_.claim(sequence.window(), shares(request), request.owner);
  place.slot = claim.slot;
  place.admitted = ++n_admitted_;
  sequence.start(claim.n_tokens);
  if (served_.size() >= kMostRemembered) {
    served_.clear();
  }
  served_[sequence.request().client] = n_admitted_;
  if (!place.has_begun) {
    place.has_begun = true;
    stats_.prompt_tokens += sequence.result().prompt_tokens;
    stats_.cached_tokens += claim.n_tokens;
  }
  sequence.enter(sequence.working_phase(), now);
  place.ahead = 0;
  place.has_news = true;
}

// What it computed is kept as long as there is room, and read anew where there was not.
void Scheduler::suspend(Place& place, Clock::time_point now) {
  space_.release(*place.slot);
  place.slot.reset();
  place.sequence->enter(Phase::Waiting, now);
  place.has_news = true;
}

void Scheduler::publish() {
  const std::size_t block_bytes =
      model::kv_block_bytes(decoder_.config(), decoder_.options().kv_type);
  stats_.running = n_working();
  stats_.paused = static_cast<std::size_t>(std::ranges::count_if(
      places_, [](const auto& place) { return place->sequence->phase() == Phase::Paused; }));
  stats_.waiting = places_.size() - stats_.running - stats_.paused;
  stats_.kv_bytes_max = decoder_.n_blocks() * block_bytes;
  stats_.kv_bytes = (decoder_.n_blocks() - decoder_.n_free_blocks()) * block_bytes;
  stats_.kept_bytes = space_.n_kept() * block_bytes;
  const double reading = speed_.reading_seconds_per_token();
  stats_.prompt_tokens_per_second = reading > 0 ? 1 / reading : 0;
  publish_(stats_);
}

void Scheduler::publish_and_tell() {
  publish();
  for (const auto& place : places_) {
    const bool has_ended = place->failure || place->sequence->end();
    if (place->has_news && !has_ended) {
      place->sequence->tell(place->ahead, speed_.reading_seconds_per_token());
    }
    place->has_news = false;
  }
}

}  // namespace smol::engine

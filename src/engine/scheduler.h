// Many sequences through one decoder (continuous batching, Yu 2022): each step takes the next
// tokens of all that write, and of prompts as much as leaves the answers flowing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/engine_options.h"
#include "engine/kv_space.h"
#include "engine/logit_rows.h"
#include "engine/sequence.h"
#include "engine/step_speed.h"
#include "model/decoder.h"

namespace smol::engine {

// The engine's thread.
class Scheduler {
 public:
  using Clock = std::chrono::steady_clock;

  // Receives the state of things after each change, before the sinks hear of it.
  using Publish = std::function<void(const EngineStats&)>;

  // The decoder must outlive it; nobody else may use it.
  Scheduler(model::Decoder& decoder, const EngineOptions& options, Publish publish);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  Scheduler(Scheduler&&) = delete;
  Scheduler& operator=(Scheduler&&) = delete;

  Sequence::Limits limits() const noexcept;

  // It waits until its turn comes.
  void add(std::unique_ptr<Sequence> sequence);

  // Heeds the tickets, lets sequences in, and runs one step if any has work. Returns when to come
  // again; nothing: after news only.
  std::optional<Clock::time_point> step();

  // All sequences end as cancelled.
  void cancel_all();

  KvSpace& space() noexcept { return space_; }

  const KvSpace& space() const noexcept { return space_; }

 private:
  // What a paced sequence does at once.
  static constexpr double kPaceStepSeconds = 0.2;

  // A sequence and what it has of the decoder.
  struct Place {
    std::unique_ptr<Sequence> sequence;
    std::optional<SlotId> slot;  // none: it waits
    bool has_begun = false;      // it had a slot before
    std::uint64_t admitted = 0;  // order in which slots were given
    Clock::time_point due{};     // no step for it before (EngineOptions::pace)
    std::size_t ahead = 0;
    bool has_news = false;  // that its sink has not heard
    std::exception_ptr failure;
  };

  // A sequence's share of a step: its next pending tokens, and drafts behind the last of them.
  struct Part {
    Place* place;
    std::size_t n_tokens;
    bool is_reading;
    std::vector<TokenId> drafts;
    std::size_t first = 0;      // in the batch
    std::size_t first_row = 0;  // of its logits

    bool reaches_end() const { return n_tokens == place->sequence->pending().size(); }
  };

  void heed_tickets(Clock::time_point now);
  void drop_ended();
  void admit(Clock::time_point now);
  std::vector<Place*> waiting_in_order() const;
  bool fits(const Place& place);
  std::size_t n_working() const;
  void begin(Place& place, Clock::time_point now);
  void suspend(Place& place, Clock::time_point now);

  std::vector<Part> plan(Clock::time_point now);
  void plan_reading(std::vector<Part>& parts, std::vector<Place*>& readers, std::size_t n_writing);
  std::vector<Part> plan_that_fits(Clock::time_point now);
  Place* youngest_working();
  void fill_batch();
  void run(Clock::time_point now);
  void take(Part& part, const LogitRows& logits);
  bool is_unwanted() const;
  bool gives_up();
  void forget_step();
  void settle(Part& part, Clock::time_point now);
  void pace(Place& place, std::size_t n_read, std::size_t n_written, Clock::time_point now) const;
  std::optional<Clock::time_point> next_due() const;
  void publish();
  void publish_and_tell();

  static bool is_working(const Place& place) {
    return place.slot.has_value() && place.sequence->phase() != Phase::Paused;
  }

  model::Decoder& decoder_;
  EngineOptions options_;
  Publish publish_;
  KvSpace space_;
  StepSpeed speed_;
  std::vector<std::unique_ptr<Place>> places_;  // in the order of arrival
  std::vector<model::BatchToken> batch_;
  std::vector<Part> parts_;  // of the latest step
  bool gave_up_ = false;     // the decoder left it
  std::uint64_t n_admitted_ = 0;
  std::unordered_map<std::string, std::uint64_t> served_;  // by client, the order of the latest
  std::size_t turn_ = 0;                                   // whose prompt is read first
  EngineStats stats_;
};

}  // namespace smol::engine

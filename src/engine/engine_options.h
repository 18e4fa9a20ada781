// How an engine is set up, and what it counts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace smol::engine {

struct EngineOptions {
  std::size_t max_running = 1;    // sequences at work; paused ones keep their slots beside them
  std::size_t max_waiting = 64;   // further ones are refused
  std::size_t prefill_chunk = 0;  // tokens of a prompt one step takes; 0: by the measured speed
  double pace = 0;  // most tokens a second of an answer, and ten times as many of a prompt; 0: any
  bool speculate = true;
  std::uint64_t model_fingerprint = 0;  // what saved caches must agree with
};

// Counts since the start; the first line and the bytes are of this moment.
struct EngineStats {
  std::size_t running = 0, waiting = 0, paused = 0;
  std::size_t kv_bytes = 0, kv_bytes_max = 0;  // in use; the budget
  std::size_t kept_bytes = 0;                  // of these, kept for later prompts only
  std::uint64_t prompt_tokens = 0;             // of requests that have begun
  std::uint64_t cached_tokens = 0;             // of these, not computed
  std::uint64_t computed_tokens = 0;           // that went through the model, all told
  std::uint64_t generated_tokens = 0, drafted_tokens = 0, accepted_tokens = 0;
  std::uint64_t n_steps = 0;
  std::uint64_t finished = 0, cancelled = 0, failed = 0;
  double prompt_tokens_per_second = 0, generated_tokens_per_second = 0;  // lately
};

}  // namespace smol::engine

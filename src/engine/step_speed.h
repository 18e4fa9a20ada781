// How fast steps go on this machine, measured while they run, and what follows: how many tokens of
// a prompt one step may take.
#pragma once

#include <chrono>
#include <cstddef>

namespace smol::engine {

class StepSpeed {
 public:
  // A step took this long: `n_writing` tokens of answers (drafts included), `n_reading` of prompts.
  void took(std::size_t n_writing, std::size_t n_reading, std::chrono::nanoseconds time) noexcept;

  // Tokens of `n_prompts` prompts, at least one, beside `n_writing` tokens (drafts included) of
  // `n_answers` answers. A step of one prompt alone takes about 1 s, since long steps cost less a
  // token: who comes anew waits for its end; who is cancelled or paused does not, since nobody else
  // needs the step (Decoder::give_up_when). With several requests it takes 0.4 s at most: who is
  // cancelled waits for it, too. Beside an answer it takes less than twice as long as without, so
  // that it flows; beside more requests a little longer: the more answers there are, the more
  // prompts follow.
  std::size_t chunk(std::size_t n_prompts, std::size_t n_answers,
                    std::size_t n_writing) const noexcept;

  // Of a step without prompt tokens, n_writing >= 1; 0: not known.
  double writing_seconds(std::size_t n_writing) const noexcept;

  // Cost of a step with `n` tokens in place of `base`; an estimate until it was measured.
  double relative_cost(std::size_t base, std::size_t n) const noexcept;

  // 0: not known.
  double reading_seconds_per_token() const noexcept { return reading_seconds_; }

 private:
  // A line through the times of latest steps by their tokens, older ones counting ever less.
  struct Line {
    double weight = 0, n = 0, nn = 0, t = 0, nt = 0;  // sums
    void add(double tokens, double seconds) noexcept;
    double at(double tokens) const noexcept;
  };

  Line writing_;
  double reading_seconds_ = 0;  // a token
};

}  // namespace smol::engine

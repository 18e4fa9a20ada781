// Logits -> the next token. Order and definitions are those of transformers' logits processors:
// logit_bias, repetition_penalty, presence and frequency penalty, temperature, top_k, top_p, min_p,
// softmax. Everything is computed in double with our own exp, in a fixed order: the same seed gives
// the same tokens on every CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "engine/random.h"

namespace smol::engine {

struct LogitBias {
  TokenId id;
  double bias;
};

// The default of each field switches it off.
struct SamplingSettings {
  double temperature = 1.0;                // [0, 100]; 0: always the largest logit
  std::size_t top_k = 0;                   // keep the k largest; 0: all
  double top_p = 1.0;                      // (0, 1]: smallest set whose probabilities reach it
  double min_p = 0.0;                      // [0, 1]: at least this share of the largest probability
  double repetition_penalty = 1.0;         // (0, 100]: once for each distinct id of the history
  double presence_penalty = 0.0;           // [-100, 100]: subtracted once for each distinct id
  double frequency_penalty = 0.0;          // [-100, 100]: subtracted once for each occurrence
  std::vector<LogitBias> logit_bias = {};  // added to the logit, [-100, 100]
  std::optional<std::uint64_t> seed = {};  // none: another one each time
};

// Throws Error{BadInput}: "top_p: expected more than 0 and at most 1, found 1.5".
void validate(const SamplingSettings& settings, std::size_t vocab_size);

// One sequence; one thread. Equal logits are ordered by id, smaller first.
class Sampler {
 public:
  // Throws as validate().
  Sampler(SamplingSettings settings, std::size_t vocab_size);

  // Requires (SMOL_CHECK): logits of vocab_size; `maxima` as Decoder::logit_maxima() gives them for
  // these logits, or none: they spare looking at all of them, and change nothing else. Ids of
  // `history` (prompt and answer so far) outside the vocabulary are ignored. Only tokens whose bit
  // is set in `mask` (bit t of word t / 64) are picked; an empty one allows all. Draws one random
  // number, at temperature 0 too. Throws Error{Device} if no logit that may be picked is a finite
  // number, or one is +infinity; NaN counts as -infinity.
  TokenId pick(std::span<const float> logits, std::span<const TokenId> history,
               std::span<const std::uint64_t> mask = {}, std::span<const float> maxima = {});
  // What pick() draws from: [vocab_size], 0 for the removed ones.
  std::vector<double> probabilities(std::span<const float> logits, std::span<const TokenId> history,
                                    std::span<const std::uint64_t> mask = {},
                                    std::span<const float> maxima = {});

  const SamplingSettings& settings() const noexcept { return settings_; }

  std::uint64_t seed() const noexcept { return seed_; }  // the one in use

 private:
  enum class Measure { Count, Weight };

  std::size_t most_kept() const noexcept;
  void choose_candidates(std::span<const float> maxima, std::size_t n_kept);
  void adjust(std::span<const float> logits, std::span<const TokenId> history);
  bool changes_logits() const noexcept;
  bool penalizes() const noexcept;
  void apply(std::span<const std::uint64_t> mask);
  void penalize(std::span<const TokenId> history);
  void scale(double largest);
  void keep_best(Measure measure, double enough);
  void filter(std::span<const float> logits, std::span<const TokenId> history,
              std::span<const std::uint64_t> mask, std::span<const float> maxima);
  double total_weight() const noexcept;

  std::size_t id_of(std::size_t candidate) const noexcept {
    return ids_.empty() ? candidate : ids_[candidate];
  }

  SamplingSettings settings_;
  std::uint64_t seed_;
  Random random_;
  std::size_t vocab_size_;
  std::vector<std::uint32_t> ids_;  // of the candidates, ascending; empty: all are
  std::vector<float> best_;         // maxima, in no order
  // Of the candidates.
  std::vector<double> scores_;   // after biases and penalties, then (score - largest) / temperature
  std::vector<double> weights_;  // exp(score); 0 for what is removed
  std::vector<std::uint16_t> groups_;  // of near scores, best group first
  std::vector<std::uint32_t> counts_;  // [vocab_size] all 0 between calls
};

}  // namespace smol::engine

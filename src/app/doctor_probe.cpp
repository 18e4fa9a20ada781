// A trained model predicts ordinary text best when it is read as it was trained. So the same text
// is scored with other readings of the file as well: one that does better shows what is wrong with
// the file.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/doctor_checks.h"
#include "base/thread_pool.h"
#include "kernels/kernel_table.h"
#include "model/decoder.h"

namespace smol::app {
namespace {

constexpr std::string_view kProbe =
    "<|im_start|>user\nWho are you?<|im_end|>\n<|im_start|>assistant\n"
    "I am a small language model. I can answer questions, write lists and tell stories.<|im_end|>\n"
    "<|im_start|>user\nWhat is 12 + 30?<|im_end|>\n<|im_start|>assistant\n12 + 30 = 42.<|im_end|>\n"
    "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"
    "The capital of France is Paris.<|im_end|>\n"
    "<|im_start|>user\nRepeat: one, two, three, four, five.<|im_end|>\n<|im_start|>assistant\n"
    "one, two, three, four, five.<|im_end|>\n";

constexpr std::size_t kChunk = 16;  // logits of a whole text would be large
// Another reading has to be better by this many nats a token: what noise and chance do not reach.
constexpr double kMargin = 0.1;

double negative_log_likelihood(std::span<const float> logits, TokenId next) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - static_cast<double>(largest));
  }
  return static_cast<double>(largest) + std::log(sum) -
         static_cast<double>(logits[static_cast<std::size_t>(next)]);
}

// Mean over all tokens but the first.
double mean_nll(model::Decoder& decoder, std::span<const TokenId> ids) {
  const std::size_t n_vocab = decoder.config().vocab_size;
  double sum = 0.0;
  for (std::size_t at = 0; at + 1 < ids.size(); at += kChunk) {
    const std::size_t count = std::min(kChunk, ids.size() - 1 - at);
    std::vector<model::BatchToken> batch;
    for (std::size_t i = at; i < at + count; ++i) {
      batch.push_back({ids[i], static_cast<std::uint32_t>(i), 0, true});
    }
    const std::span<const float> logits = decoder.forward(batch);
    for (std::size_t i = 0; i < count; ++i) {
      sum += negative_log_likelihood(logits.subspan(i * n_vocab, n_vocab), ids[at + i + 1]);
    }
  }
  return sum / static_cast<double>(ids.size() - 1);
}

struct Reading {
  std::string_view check;
  std::string suspicion;  // what is wrong with the file if this reading does better
  model::ModelConfig config;
};

Reading halves_reading(const model::ModelConfig& config) {
  Reading reading{"q/k rows",
                  "the rows of attn_q and attn_k are in Hugging Face's order, not permuted to "
                  "adjacent pairs",
                  config};
  reading.config.rope.pairs = model::RopePairs::Halves;
  return reading;
}

Reading nope_reading(const model::ModelConfig& config) {
  constexpr std::size_t kInterval = 4;
  const bool has_nope = config.architecture == "smollm3";
  Reading reading{"NoPE layers",
                  has_nope ? "the model was trained with RoPE on every layer"
                           : "the model was trained without RoPE on every fourth layer",
                  config};
  for (std::size_t i = 0; i < config.n_layers; ++i) {
    reading.config.layer_uses_rope[i] = has_nope || (i + 1) % kInterval != 0;
  }
  return reading;
}

}  // namespace

void check_behaviour(const model::Weights& weights, const text::Tokenizer& tokenizer,
                     ThreadPool& pool, Findings& findings) {
  const std::vector<TokenId> ids = tokenizer.encode(kProbe);
  if (ids.size() >= weights.config().context_length) {
    findings.note("behaviour", "not tried: the context is shorter than the probe");
    return;
  }
  const auto score = [&](const model::Weights& read) {
    const auto decoder =
        model::make_cpu_decoder(read, {.n_slots = 1, .context = ids.size(), .max_batch = kChunk},
                                pool, kernels::active_kernels());
    return mean_nll(*decoder, ids);
  };
  const double as_stated = score(weights);
  if (!std::isfinite(as_stated)) {
    findings.fault("behaviour", "the model's logits are not finite", "get another file");
    return;
  }
  const Reading* best = nullptr;
  double best_nll = as_stated - kMargin;
  const std::array readings{halves_reading(weights.config()), nope_reading(weights.config())};
  for (const Reading& reading : readings) {
    const double nll = score(weights.with_config(reading.config));
    if (nll < best_nll) {
      best_nll = nll;
      best = &reading;
    }
  }
  if (best == nullptr) {
    findings.good("behaviour", fmt::format("{:.2f} nats a token on a probe text, no other reading "
                                           "of the file does better",
                                           as_stated));
  } else {
    findings.fault(std::string(best->check),
                   fmt::format("a probe text costs {:.2f} nats a token as the file says, {:.2f} "
                               "otherwise: {}",
                               as_stated, best_nll, best->suspicion),
                   "convert the model again with a current converter, or get another file");
  }
}

}  // namespace smol::app

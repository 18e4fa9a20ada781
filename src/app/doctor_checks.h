// The single checks of `smolbot doctor`. Each appends what it found: at least one finding, good or
// bad.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/doctor.h"
#include "base/thread_pool.h"
#include "gguf/file.h"
#include "model/config.h"
#include "model/weights.h"
#include "text/tokenizer.h"

namespace smol::app {

// What helps when a model file's tokenizer is at fault.
constexpr std::string_view kConvertOrGiveTokenizer =
    "convert the model again with a current converter, or give --tokenizer tokenizer.json";

// tokenizer.ggml.token_type of a token of ordinary text.
constexpr std::int64_t kNormalToken = 1;

class Findings {
 public:
  void good(std::string check, std::string message) {
    all_.push_back({Finding::Level::Good, std::move(check), std::move(message), {}});
  }

  void note(std::string check, std::string message, std::string remedy = {}) {
    all_.push_back({Finding::Level::Note, std::move(check), std::move(message), std::move(remedy)});
  }

  void fault(std::string check, std::string message, std::string remedy) {
    all_.push_back(
        {Finding::Level::Fault, std::move(check), std::move(message), std::move(remedy)});
  }

  std::vector<Finding> take() { return std::move(all_); }

 private:
  std::vector<Finding> all_;
};

// What a model file is expected to be, by its architecture and vocabulary.
enum class Family : std::uint8_t { SmolLM3, SmolLM2, Llama3, Other };
Family family_of(const gguf::File& file);

// doctor_config.cpp: rope base and scaling, NoPE, epsilon, context length.
void check_config(const gguf::File& file, const model::ModelConfig& config, Findings& findings);
// doctor_tensors.cpp: NaN, infinity, all zeros, absurd sizes; tensors that take no part.
void check_tensors(const gguf::File& file, const model::Weights& weights, Findings& findings);
// doctor_vocabulary.cpp: pre-tokenizer, token types, special ids, BOS, bytes, duplicates.
void check_vocabulary(const gguf::File& file, Findings& findings);
// doctor_merges.cpp: every token can be made, no merge is missing, the order is that of the ids.
void check_merges(const gguf::File& file, Findings& findings);
// doctor_tokenizer.cpp: text -> ids -> text comes back, added tokens are found and hidden as they
// should be.
void check_tokenizer(const text::Tokenizer& tokenizer, Findings& findings);
// doctor_template.cpp: which official template it is, or how it differs from the closest.
void check_template(const gguf::File& file, Findings& findings);
// doctor_probe.cpp: whether the model predicts a text better when rotary pairs or NoPE layers are
// read in another way than the file says. Runs the model.
void check_behaviour(const model::Weights& weights, const text::Tokenizer& tokenizer,
                     ThreadPool& pool, Findings& findings);

}  // namespace smol::app

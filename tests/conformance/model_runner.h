// A model file ready to run token ids, for the kinds that compare numbers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/thread_pool.h"
#include "conformance/conformance.h"
#include "gguf/file.h"
#include "model/decoder.h"
#include "model/weights.h"

namespace smol::conformance {

struct RunnerSettings {
  model::KvCacheType kv_type = model::KvCacheType::F16;
  std::size_t threads = 1;
  std::size_t chunk = 512;
  bool has_others = false;  // there is room for run_beside_others()
  std::string mistake;      // planted in the configuration; empty: none
};

RunnerSettings settings_of(const Options& options);

// One sequence, and others that keep it company. One thread.
class ModelRunner {
 public:
  // At most this many positions are held (fewer where the file allows fewer).
  static constexpr std::size_t kMostContext = 8192;

  ModelRunner(const std::filesystem::path& path, const RunnerSettings& settings);

  const gguf::File& file() const noexcept { return file_; }

  std::size_t vocab_size() const noexcept { return weights_->config().vocab_size; }

  // The kind of tolerance that fits the file's matrices and the cache: "exact", "f16kv", "act16",
  // "int8", "int8_256" or "int8kv".
  std::string tolerance_kind() const;

  using Row = std::function<void(std::size_t position, std::span<const float> logits)>;
  // Starts over with `ids` in chunks of `chunk`; calls `row` for each position with
  // wanted[position], ascending.
  void run(std::span<const TokenId> ids, const std::vector<bool>& wanted, std::size_t chunk,
           const Row& row);
  // As run(), while three other sequences share every batch: one that reads a token, one that reads
  // as many as the chunk has, one that reads two. Requires settings.has_others.
  void run_beside_others(std::span<const TokenId> ids, const std::vector<bool>& wanted,
                         std::size_t chunk, const Row& row);
  // As run() in chunks of the settings, for the last position only.
  std::vector<float> last_logits(std::span<const TokenId> ids);
  // Appends one token. The logits are valid until the next call.
  std::span<const float> step(TokenId id);

 private:
  using Batch = std::vector<model::BatchToken>;

  // begin_batch() fills a batch up to where the `n_own` tokens of the sequence itself follow.
  void run_with(std::span<const TokenId> ids, const std::vector<bool>& wanted, std::size_t chunk,
                const Row& row,
                const std::function<void(std::size_t n_own, Batch& batch)>& begin_batch);
  void add_other(std::span<const TokenId> ids, SlotId slot, std::size_t n_tokens, Batch& batch);

  RunnerSettings settings_;
  gguf::File file_;
  ThreadPool pool_;
  std::unique_ptr<model::Weights> weights_;
  std::unique_ptr<model::Decoder> decoder_;
};

// Finds models by the names of records and keeps the last one loaded.
class ModelLibrary {
 public:
  ModelLibrary(std::vector<std::filesystem::path> folders, RunnerSettings settings);

  // The first folder that holds it, by its path in the record.
  std::optional<std::filesystem::path> find(const std::string& model) const;
  // nullptr, counted as skipped, where no folder holds it.
  ModelRunner* open(const std::string& model, const std::string& id, Report& report);

 private:
  std::vector<std::filesystem::path> folders_;
  RunnerSettings settings_;
  std::string loaded_;
  std::unique_ptr<ModelRunner> runner_;
};

// As for_each_record, only for those whose id holds --only.
void for_each_wanted(const Options& options, Report& report,
                     const std::function<void(const Json& record, const std::string& id)>& one);

// The folder that paths in records are relative to: the one that holds cases/.
std::filesystem::path record_root(const Options& options);

std::vector<TokenId> ids_of(const Json& ids);
// The largest logit; the first of equals.
TokenId best_token(std::span<const float> logits) noexcept;
// ln sum exp
double log_sum_exp(std::span<const float> logits) noexcept;
std::string number_text(double value);

}  // namespace smol::conformance

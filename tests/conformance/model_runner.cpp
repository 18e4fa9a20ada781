#include "conformance/model_runner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "conformance/mistakes.h"
#include "kernels/kernel_table.h"

namespace smol::conformance {

namespace {

model::ModelConfig config_with_mistake(const gguf::File& file, const std::string& mistake) {
  model::ModelConfig config = model::ModelConfig::from_gguf(file, std::nullopt);
  if (!mistake.empty()) {
    plant_mistake(config, mistake);
  }
  return config;
}

// Slot 0 is the sequence that is run.
constexpr std::size_t kOthers = 3;
// What two of the others read in every batch.
constexpr std::array<std::size_t, 2> kFewTokens{1, 2};

bool is_matrix(const gguf::TensorView& tensor) {
  return tensor.shape.size() == 2;
}

}  // namespace

RunnerSettings settings_of(const Options& options) {
  RunnerSettings settings;
  const std::string kv_type = options.kv_type.value_or("f16");
  if (kv_type == "f32") {
    settings.kv_type = model::KvCacheType::F32;
  } else if (kv_type == "int8") {
    settings.kv_type = model::KvCacheType::Int8;
  }
  settings.threads = options.threads.value_or(default_thread_count());
  settings.chunk = options.chunk.value_or(settings.chunk);
  settings.mistake = options.mistake;
  return settings;
}

ModelRunner::ModelRunner(const std::filesystem::path& path, const RunnerSettings& settings)
    : settings_(settings),
      file_(gguf::File::open(path)),
      pool_(settings.threads),
      weights_(std::make_unique<model::Weights>(file_, config_with_mistake(file_, settings.mistake),
                                                pool_)) {
  model::DecoderOptions options;
  options.context = std::min(weights_->config().context_length, kMostContext);
  options.kv_type = settings.kv_type;
  options.max_batch = std::max(settings.chunk, options.max_batch);
  if (settings.has_others) {
    options.n_slots = 1 + kOthers;
    options.max_batch = 2 * options.max_batch + kFewTokens[0] + kFewTokens[1];
  }
  decoder_ = model::make_cpu_decoder(*weights_, options, pool_, kernels::active_kernels());
}

std::string ModelRunner::tolerance_kind() const {
  if (settings_.kv_type == model::KvCacheType::Int8) {
    return "int8kv";
  }
  bool has_16_bit = false;
  bool has_small_blocks = false;
  for (const gguf::TensorView& tensor : file_.tensors()) {
    if (!is_matrix(tensor)) {
      continue;
    }
    switch (tensor.dtype) {
      case gguf::DType::F32:
        break;
      case gguf::DType::F16:
      case gguf::DType::BF16:
        has_16_bit = true;
        break;
      default:
        if (gguf::traits(tensor.dtype).block_elements == 256) {
          return "int8_256";
        }
        has_small_blocks = true;
    }
  }
  if (has_small_blocks) {
    return "int8";
  }
  if (has_16_bit) {
    return "act16";
  }
  return settings_.kv_type == model::KvCacheType::F32 ? "exact" : "f16kv";
}

void ModelRunner::run(std::span<const TokenId> ids, const std::vector<bool>& wanted,
                      std::size_t chunk, const Row& row) {
  run_with(ids, wanted, chunk, row, [](std::size_t, Batch&) {});
}

void ModelRunner::run_beside_others(std::span<const TokenId> ids, const std::vector<bool>& wanted,
                                    std::size_t chunk, const Row& row) {
  for (SlotId slot = 1; slot <= kOthers; ++slot) {
    decoder_->truncate(slot, 0);
  }
  run_with(ids, wanted, chunk, row, [&](std::size_t n_own, Batch& batch) {
    add_other(ids, 1, kFewTokens[0], batch);
    add_other(ids, 2, n_own, batch);
    add_other(ids, 3, kFewTokens[1], batch);
  });
}

void ModelRunner::run_with(
    std::span<const TokenId> ids, const std::vector<bool>& wanted, std::size_t chunk,
    const Row& row, const std::function<void(std::size_t n_own, Batch& batch)>& begin_batch) {
  decoder_->truncate(0, 0);
  Batch batch;
  for (std::size_t begin = 0; begin < ids.size(); begin += chunk) {
    const std::size_t end = std::min(begin + chunk, ids.size());
    batch.clear();
    begin_batch(end - begin, batch);
    for (std::size_t i = begin; i < end; ++i) {
      batch.push_back({ids[i], static_cast<std::uint32_t>(i), 0, wanted[i]});
    }
    std::span<const float> logits = decoder_->forward(batch);
    for (std::size_t i = begin; i < end; ++i) {
      if (wanted[i]) {
        row(i, logits.first(vocab_size()));
        logits = logits.subspan(vocab_size());
      }
    }
  }
}

// The slot's own tokens, unlike those at the same positions of other slots. A full slot starts
// over.
void ModelRunner::add_other(std::span<const TokenId> ids, SlotId slot, std::size_t n_tokens,
                            Batch& batch) {
  if (decoder_->n_tokens(slot) + n_tokens > decoder_->options().context) {
    decoder_->truncate(slot, 0);
  }
  const std::size_t first = decoder_->n_tokens(slot);
  for (std::size_t position = first; position < first + n_tokens; ++position) {
    const TokenId id = ids[(position + slot * ids.size() / (kOthers + 1)) % ids.size()];
    batch.push_back({id, static_cast<std::uint32_t>(position), slot, false});
  }
}

std::vector<float> ModelRunner::last_logits(std::span<const TokenId> ids) {
  std::vector<bool> wanted(ids.size(), false);
  wanted.back() = true;
  std::vector<float> last;
  run(ids, wanted, settings_.chunk, [&](std::size_t, std::span<const float> logits) {
    last.assign(logits.begin(), logits.end());
  });
  return last;
}

std::span<const float> ModelRunner::step(TokenId id) {
  const model::BatchToken token{id, decoder_->n_tokens(0), 0, true};
  return decoder_->forward({&token, 1});
}

ModelLibrary::ModelLibrary(std::vector<std::filesystem::path> folders, RunnerSettings settings)
    : folders_(std::move(folders)), settings_(std::move(settings)) {}

std::optional<std::filesystem::path> ModelLibrary::find(const std::string& model) const {
  for (const std::filesystem::path& folder : folders_) {
    if (std::filesystem::is_regular_file(folder / model)) {
      return folder / model;
    }
  }
  return std::nullopt;
}

ModelRunner* ModelLibrary::open(const std::string& model, const std::string& id, Report& report) {
  const std::optional<std::filesystem::path> path = find(model);
  if (!path) {
    report.skip(id, model + " is in none of the --models folders");
    return nullptr;
  }
  if (loaded_ != model) {
    runner_.reset();
    runner_ = std::make_unique<ModelRunner>(*path, settings_);
    loaded_ = model;
  }
  return runner_.get();
}

void for_each_wanted(const Options& options, Report& report,
                     const std::function<void(const Json&, const std::string&)>& one) {
  for_each_record(options.cases, report, [&](const Json& record, const std::string& id) {
    if (id.find(options.only) != std::string::npos) {
      one(record, id);
    }
  });
}

std::filesystem::path record_root(const Options& options) {
  return std::filesystem::absolute(options.cases).parent_path().parent_path();
}

std::vector<TokenId> ids_of(const Json& ids) {
  return ids.get<std::vector<TokenId>>();
}

TokenId best_token(std::span<const float> logits) noexcept {
  return static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

double log_sum_exp(std::span<const float> logits) noexcept {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - largest);
  }
  return largest + std::log(sum);
}

std::string number_text(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

}  // namespace smol::conformance

#include "app/bench_tests.h"

#include <algorithm>
#include <chrono>
#include <span>

#include <fmt/format.h>

#include "app/memory_plan.h"

namespace smol::app {

namespace {

// Ids that jump about the vocabulary, the same on every machine.
std::vector<TokenId> test_ids(std::size_t n, std::size_t vocab_size) {
  constexpr std::uint64_t kStep = 2654435761U;  // Knuth's multiplicative hash
  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < n; ++i) {
    ids.push_back(static_cast<TokenId>((i + 1) * kStep % vocab_size));
  }
  return ids;
}

// The same ids in slots 0 to `sequences` - 1, `chunk` of each in a step.
void feed(model::Decoder& decoder, std::span<const TokenId> ids, std::size_t chunk,
          std::size_t sequences) {
  std::vector<model::BatchToken> batch;
  for (std::size_t begin = 0; begin < ids.size(); begin += chunk) {
    const std::size_t end = std::min(begin + chunk, ids.size());
    batch.clear();
    for (SlotId slot = 0; slot < sequences; ++slot) {
      const std::uint32_t before = decoder.n_tokens(slot);
      for (std::size_t i = begin; i < end; ++i) {
        batch.push_back({.token = ids[i],
                         .position = before + static_cast<std::uint32_t>(i - begin),
                         .slot = slot,
                         .wants_logits = chunk == 1 || i + 1 == ids.size()});
      }
    }
    decoder.forward(batch);
  }
}

void truncate_all(model::Decoder& decoder, std::size_t sequences, std::size_t n_tokens) {
  for (SlotId slot = 0; slot < sequences; ++slot) {
    decoder.truncate(slot, static_cast<std::uint32_t>(n_tokens));
  }
}

void fill(model::Decoder& decoder, std::span<const TokenId> ids, const BenchTest& test) {
  truncate_all(decoder, decoder.options().n_slots, 0);
  const std::size_t chunk = std::max<std::size_t>(decoder.options().max_batch / test.sequences, 1);
  feed(decoder, ids, chunk, test.sequences);
}

void add(const kernels::Matrix& matrix, double& bytes, double& products) {
  bytes += static_cast<double>(matrix.n_rows * matrix.row_bytes);
  products += static_cast<double>(matrix.n_rows * matrix.n_cols);
}

}  // namespace

std::vector<BenchTest> tests_of(const BenchSettings& settings) {
  std::vector<BenchTest> tests;
  if (settings.prompt_tokens > 0) {
    tests.push_back(
        {fmt::format("pp{}", settings.prompt_tokens), settings.prompt_tokens, settings.chunk, 1});
  }
  if (settings.generated_tokens > 0) {
    for (const std::size_t sequences : settings.sequences) {
      tests.push_back({fmt::format("tg{}", settings.generated_tokens), settings.generated_tokens, 1,
                       sequences});
    }
  }
  return tests;
}

ModelCost cost_of(const model::Weights& weights, model::KvCacheType kv_type) {
  ModelCost cost{};
  for (const model::LayerWeights& layer : weights.layers()) {
    for (const kernels::Matrix* matrix :
         {&layer.wq, &layer.wk, &layer.wv, &layer.wo, &layer.w_gate, &layer.w_up, &layer.w_down}) {
      add(*matrix, cost.layer_bytes, cost.layer_products);
    }
  }
  add(weights.output(), cost.output_bytes, cost.output_products);
  const model::ModelConfig& config = weights.config();
  constexpr std::size_t kScoreAndValue = 2;
  cost.position_bytes = static_cast<double>(memory_need(config, kv_type, 0).bytes_per_position);
  cost.position_products =
      static_cast<double>(kScoreAndValue * config.n_layers * config.n_heads * config.head_dim);
  return cost;
}

Work work_of(const ModelCost& cost, const BenchTest& test, std::size_t depth) {
  Work work;
  const auto sequences = static_cast<double>(test.sequences);
  const bool wants_logits = test.chunk == 1;
  for (std::size_t begin = 0; begin < test.n_tokens; begin += test.chunk) {
    const std::size_t end = std::min(begin + test.chunk, test.n_tokens);
    const auto count = static_cast<double>(end - begin);
    const auto first =
        static_cast<double>(depth + begin + 1);  // positions that the first attends to
    const auto last = static_cast<double>(depth + end);
    work.bytes += cost.layer_bytes + (wants_logits ? cost.output_bytes : 0.0) +
                  sequences * last * cost.position_bytes;
    work.products += sequences * count *
                     (cost.layer_products + (wants_logits ? cost.output_products : 0.0) +
                      (first + last) / 2.0 * cost.position_products);
  }
  return work;
}

std::vector<double> run_test(model::Decoder& decoder, const BenchTest& test,
                             const BenchSettings& settings, Progress& progress) {
  const std::vector<TokenId> ids =
      test_ids(settings.depth + test.n_tokens, decoder.config().vocab_size);
  const auto timed = std::span(ids).subspan(settings.depth);
  fill(decoder, std::span(ids).first(settings.depth), test);
  // The first step touches memory for the first time.
  feed(decoder, timed.first(std::min(timed.size(), test.chunk)), test.chunk, test.sequences);
  std::vector<double> seconds;
  for (std::size_t run = 0; run < settings.repetitions; ++run) {
    progress.update(run, settings.repetitions);
    truncate_all(decoder, test.sequences, settings.depth);
    const auto begin = std::chrono::steady_clock::now();
    feed(decoder, timed, test.chunk, test.sequences);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return seconds;
}

}  // namespace smol::app

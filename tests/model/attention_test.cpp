// Attention of a prompt at once, where tiles of queries read all runs, and token by token, where
// runs are shared out and combined: the same bits.
#include "model/cpu/attention.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/thread_pool.h"

namespace smol::model {
namespace {

constexpr std::size_t kHeadDim = 64;
constexpr std::size_t kHeads = 4;
constexpr std::size_t kKvHeads = 2;
constexpr std::size_t kTokens = 4200;  // more runs than one call of the kernel takes
constexpr std::size_t kRow = kHeads * kHeadDim;

ModelConfig config() {
  ModelConfig config;
  config.n_layers = 1;
  config.n_heads = kHeads;
  config.n_kv_heads = kKvHeads;
  config.head_dim = kHeadDim;
  config.attention_scale = 0.125F;
  config.kv_head_of = {0, 0, 1, 1};
  return config;
}

std::vector<float> normal(std::mt19937& random, std::size_t n) {
  std::normal_distribution<float> distribution;
  std::vector<float> values(n);
  for (float& value : values) {
    value = distribution(random);
  }
  return values;
}

void fill(KvCache& cache) {
  std::mt19937 random(1);
  for (std::size_t position = 0; position < kTokens; ++position) {
    cache.append(0);
    for (std::size_t head = 0; head < kKvHeads; ++head) {
      const auto key = normal(random, kHeadDim);
      const auto value = normal(random, kHeadDim);
      kernels::active_kernels().kv_store(cache.format(), cache.tile(0, 0, head, position),
                                         position % kernels::kStep, key.data(), value.data());
    }
  }
}

std::vector<BatchToken> tokens_at(std::size_t first, std::size_t count) {
  std::vector<BatchToken> batch(count);
  for (std::size_t i = 0; i < count; ++i) {
    batch[i] = {0, static_cast<std::uint32_t>(first + i), 0, false};
  }
  return batch;
}

TEST(Attention, APromptHasTheSameBitsAsItsTokensOneByOne) {
  constexpr std::size_t kFirst = 4030;  // its tokens see eight runs, then nine
  constexpr std::size_t kBatch = 128;   // enough tiles for one thread
  const auto check = [](KvCacheType type) {
    DecoderOptions options;
    options.context = kTokens;
    options.kv_type = type;
    KvCache cache(config(), options);
    fill(cache);
    Attention attention(config(), options, kernels::active_kernels());
    ThreadPool pool(1);
    std::mt19937 random(2);
    const auto q = normal(random, kBatch * kRow);
    std::vector<float> together(kBatch * kRow);
    std::vector<float> alone(kBatch * kRow);
    attention.run(pool, cache, 0, tokens_at(kFirst, kBatch), q.data(), together.data());
    for (std::size_t i = 0; i < kBatch; ++i) {
      attention.run(pool, cache, 0, tokens_at(kFirst + i, 1), q.data() + i * kRow,
                    alone.data() + i * kRow);
    }
    EXPECT_EQ(together, alone);
  };
  for (const KvCacheType type : {KvCacheType::F16, KvCacheType::Int8}) {
    check(type);
  }
}

}  // namespace
}  // namespace smol::model

// Attention of the scalar table against a plain softmax in double precision.
#include <bitset>
#include <cmath>
#include <span>

#include <gtest/gtest.h>

#include "gguf/half.h"
#include "kernels/cache.h"
#include "kernels/support.h"
#include "kernels/tables.h"

namespace smol::kernels::test {
namespace {

// Roundings of scores (as large as 30 here) reach the weights as relative errors.
constexpr double kTolerance = 2e-5;
// Codes of queries move a score by 0.02 (root of the mean square), those of weights move values
// around 1 as much.
constexpr double kInt8Tolerance = 0.08;

struct Vectors {
  std::vector<std::vector<float>> keys, values;
};

Vectors fill(Random& random, Cache& cache, std::size_t n_positions) {
  Vectors vectors;
  for (std::size_t p = 0; p < n_positions; ++p) {
    vectors.keys.push_back(normal_floats(random, cache.format().head_dim));
    vectors.values.push_back(normal_floats(random, cache.format().head_dim));
    cache.store(scalar_table(), p, vectors.keys[p], vectors.values[p]);
  }
  return vectors;
}

float half(float value) {
  return gguf::f16_to_f32(gguf::f32_to_f16(value));
}

// H x / sqrt(n) by the definition of Sylvester: entry (i, j) is -1 to the number of common bits.
std::vector<double> transformed(const std::vector<double>& x) {
  std::vector<double> y(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      y[i] += std::bitset<16>(i & j).count() % 2 == 0 ? x[j] : -x[j];
    }
    y[i] /= std::sqrt(static_cast<double>(x.size()));
  }
  return y;
}

// What the cache remembers of a key or value.
std::vector<double> stored(KvType type, const std::vector<float>& values) {
  float amax = 0.0F;
  for (const float value : values) {
    amax = std::max(amax, std::abs(value));
  }
  const auto scale = static_cast<double>(half(amax / 127.0F));
  std::vector<double> found;
  for (const float value : values) {
    switch (type) {
      case KvType::F32:
        found.push_back(static_cast<double>(value));
        break;
      case KvType::F16:
        found.push_back(static_cast<double>(half(value)));
        break;
      case KvType::Int8:
        found.push_back(scale * std::nearbyint(static_cast<double>(value) / scale));
    }
  }
  return found;
}

// Keys of int8 are codes of the transformed key.
std::vector<double> stored_key(KvType type, const std::vector<float>& key) {
  if (type != KvType::Int8) {
    return stored(type, key);
  }
  const std::vector<double> spread = transformed({key.begin(), key.end()});
  return transformed(stored(type, {spread.begin(), spread.end()}));
}

std::vector<double> plain_softmax(const Vectors& vectors, KvType type, const float* q,
                                  double scale) {
  const std::size_t dim = vectors.keys[0].size();
  std::vector<double> y(dim, 0.0);
  double sum = 0.0;
  for (std::size_t p = 0; p < vectors.keys.size(); ++p) {
    const std::vector<double> key = stored_key(type, vectors.keys[p]);
    const std::vector<double> value = stored(type, vectors.values[p]);
    double score = 0.0;
    for (std::size_t d = 0; d < dim; ++d) {
      score += static_cast<double>(q[d]) * key[d];
    }
    const double weight = std::exp(scale * score);
    sum += weight;
    for (std::size_t d = 0; d < dim; ++d) {
      y[d] += weight * value[d];
    }
  }
  for (double& value : y) {
    value /= sum;
  }
  return y;
}

// All runs of 512 for every head, joined.
std::vector<float> attend_all(const Cache& cache, const std::vector<float>& q, std::size_t n_heads,
                              float scale, std::size_t n_positions) {
  const std::size_t dim = cache.format().head_dim;
  const std::size_t n_runs = (n_positions + kRun - 1) / kRun;
  std::vector<float> acc(n_runs * n_heads * dim);
  std::vector<Partial> partials(n_runs * n_heads);
  for (std::size_t i = 0; i < partials.size(); ++i) {
    partials[i].acc = acc.data() + i * dim;
  }
  for (std::size_t run = 0; run < n_runs; ++run) {
    const Queries queries{.q = q.data(),
                          .token_stride = 0,
                          .n_tokens = 1,
                          .n_heads = n_heads,
                          .n_visible = std::min(n_positions - run * kRun, kRun),
                          .n_runs = 1,
                          .scale = scale};
    scalar_table().attend(cache.run(run), queries, partials.data() + run * n_heads);
  }
  std::vector<float> y(n_heads * dim);
  for (std::size_t h = 0; h < n_heads; ++h) {
    std::vector<Partial> runs;
    for (std::size_t run = 0; run < n_runs; ++run) {
      runs.push_back(partials[run * n_heads + h]);
    }
    scalar_table().combine_runs(runs, dim, y.data() + h * dim);
  }
  return y;
}

void expect_near(std::span<const float> found, const std::vector<double>& expected,
                 double tolerance) {
  for (std::size_t d = 0; d < found.size(); ++d) {
    EXPECT_NEAR(static_cast<double>(found[d]), expected[d], tolerance);
  }
}

TEST(ScalarAttention, EqualsAPlainSoftmaxForEveryLength) {
  Random random(41);
  for (const KvType type : {KvType::F32, KvType::F16, KvType::Int8}) {
    for (const std::size_t n_positions :
         sizes({1, 2, 15, 16, 17, 63, 64, 65, 511, 512, 513, 1100})) {
      constexpr std::size_t kDim = 32;
      constexpr std::size_t kHeads = 3;
      Cache cache(type, kDim, n_positions);
      const Vectors vectors = fill(random, cache, n_positions);
      const auto q = normal_floats(random, kHeads * kDim, 3.0F);
      const float scale = 0.25F;
      const auto y = attend_all(cache, q, kHeads, scale, n_positions);
      SCOPED_TRACE(n_positions);
      for (std::size_t h = 0; h < kHeads; ++h) {
        const auto expected =
            plain_softmax(vectors, type, q.data() + h * kDim, static_cast<double>(scale));
        expect_near(std::span(y).subspan(h * kDim, kDim), expected,
                    type == KvType::Int8 ? kInt8Tolerance : kTolerance);
      }
    }
  }
}

TEST(ScalarAttention, JoinsTheRunsOfACallAsCombiningDoes) {
  Random random(46);
  constexpr std::size_t kDim = 32;
  constexpr std::size_t kPositions = 1100;
  for (const KvType type : {KvType::F16, KvType::Int8}) {
    Cache cache(type, kDim, kPositions);
    fill(random, cache, kPositions);
    const auto q = normal_floats(random, kDim, 3.0F);
    std::vector<float> acc(kDim);
    Partial all{0.0F, 0.0F, acc.data()};
    const Queries queries{.q = q.data(),
                          .token_stride = 0,
                          .n_tokens = 1,
                          .n_heads = 1,
                          .n_visible = kPositions,
                          .n_runs = 3,
                          .scale = 0.25F};
    scalar_table().attend(cache.run(0), queries, &all);
    std::vector<float> y(kDim);
    scalar_table().combine_runs({&all, 1}, kDim, y.data());
    EXPECT_EQ(y, attend_all(cache, q, 1, 0.25F, kPositions));
  }
}

TEST(ScalarAttention, ReturnsTheOnlyValueOfOnePosition) {
  Random random(42);
  Cache cache(KvType::F32, 64, 1);
  const Vectors vectors = fill(random, cache, 1);
  EXPECT_EQ(attend_all(cache, normal_floats(random, 64), 1, 1.0F, 1), vectors.values[0]);
}

TEST(ScalarAttention, ReturnsTheOnlyValueOfOnePositionFromInt8Too) {
  Random random(44);
  Cache cache(KvType::Int8, 64, 1);
  const Vectors vectors = fill(random, cache, 1);
  expect_near(attend_all(cache, normal_floats(random, 64), 1, 1.0F, 1),
              stored(KvType::Int8, vectors.values[0]), 1e-6);
}

// The first token has nearly all of the weight and nothing to say: what the others say must not
// vanish beside it.
TEST(ScalarAttention, AnAttentionSinkLeavesTheOtherValuesTheirWeight) {
  Random random(45);
  Cache cache(KvType::Int8, 32, 64);
  Vectors vectors;
  std::vector<float> q(32, 0.0F);
  q[0] = 8.0F;
  for (std::size_t p = 0; p < 64; ++p) {
    vectors.keys.push_back(normal_floats(random, 32, 0.1F));
    vectors.values.push_back(p == 0 ? std::vector<float>(32, 1e-3F) : normal_floats(random, 32));
    vectors.keys[p][0] = p == 0 ? 1.0F : 0.0F;
    cache.store(scalar_table(), p, vectors.keys[p], vectors.values[p]);
  }
  const auto expected = plain_softmax(vectors, KvType::Int8, q.data(), 1.0);
  expect_near(attend_all(cache, q, 1, 1.0F, 64), expected, 3e-4);
}

TEST(ScalarAttention, SurvivesScoresBeyondTheRangeOfExp) {
  Random random(43);
  Cache cache(KvType::F32, 32, 100);
  const Vectors vectors = fill(random, cache, 100);
  auto q = vectors.keys[70];
  for (float& value : q) {
    value *= 1000.0F;
  }
  EXPECT_EQ(attend_all(cache, q, 1, 1.0F, 100), vectors.values[70]);
}

TEST(KvStore, PutsAKeyInAColumnOfItsGroupAndAValueInARow) {
  Cache cache(KvType::F32, 32, 32);
  std::vector<float> key(32);
  std::vector<float> value(32);
  for (std::size_t d = 0; d < 32; ++d) {
    key[d] = static_cast<float>(d);
    value[d] = -static_cast<float>(d);
  }
  cache.store(scalar_table(), 19, key, value);
  const auto element = [&](std::size_t index) {
    float found = 0.0F;
    std::memcpy(&found, cache.bytes().data() + index * sizeof(float), sizeof(float));
    return found;
  };
  for (std::size_t d = 0; d < 32; ++d) {
    EXPECT_EQ(element(512 + d * 16 + 3), key[d]);
    EXPECT_EQ(element(kStep * 32 + 608 + d), value[d]);
  }
}

}  // namespace
}  // namespace smol::kernels::test

// Attention of the scalar table against a plain softmax in double precision.
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

// What the cache remembers of a value.
double stored(KvType type, float value) {
  return static_cast<double>(type == KvType::F32 ? value
                                                 : gguf::f16_to_f32(gguf::f32_to_f16(value)));
}

std::vector<double> plain_softmax(const Vectors& vectors, KvType type, const float* q,
                                  double scale) {
  const std::size_t dim = vectors.keys[0].size();
  std::vector<double> y(dim, 0.0);
  double sum = 0.0;
  for (std::size_t p = 0; p < vectors.keys.size(); ++p) {
    double score = 0.0;
    for (std::size_t d = 0; d < dim; ++d) {
      score += static_cast<double>(q[d]) * stored(type, vectors.keys[p][d]);
    }
    const double weight = std::exp(scale * score);
    sum += weight;
    for (std::size_t d = 0; d < dim; ++d) {
      y[d] += weight * stored(type, vectors.values[p][d]);
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
                          .scale = scale};
    scalar_table().attend_run(cache.run(run), queries, partials.data() + run * n_heads);
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

void expect_near(std::span<const float> found, const std::vector<double>& expected) {
  for (std::size_t d = 0; d < found.size(); ++d) {
    EXPECT_NEAR(static_cast<double>(found[d]), expected[d], kTolerance);
  }
}

TEST(ScalarAttention, EqualsAPlainSoftmaxForEveryLength) {
  Random random(41);
  for (const KvType type : {KvType::F32, KvType::F16}) {
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
        expect_near(std::span(y).subspan(h * kDim, kDim), expected);
      }
    }
  }
}

TEST(ScalarAttention, ReturnsTheOnlyValueOfOnePosition) {
  Random random(42);
  Cache cache(KvType::F32, 64, 1);
  const Vectors vectors = fill(random, cache, 1);
  EXPECT_EQ(attend_all(cache, normal_floats(random, 64), 1, 1.0F, 1), vectors.values[0]);
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

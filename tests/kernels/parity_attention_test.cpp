// Attention and the elementwise operations: each instruction set returns the bytes of the scalar
// table.
#include <array>

#include <gtest/gtest.h>

#include "kernels/cache.h"
#include "kernels/math.h"
#include "kernels/parity.h"
#include "kernels/support.h"

namespace smol::kernels::test {
namespace {

class AttentionParity : public ParityTest {};

constexpr std::array kAllKvTypes{KvType::F32, KvType::F16, KvType::Int8};

// Values that reach the edges of exp, and some that are not finite.
std::vector<float> wide_values(Random& random, std::size_t n) {
  std::vector<float> values = normal_floats(random, n, 40.0F);
  const std::array special{0.0F,
                           -0.0F,
                           ExpConstants::kLow,
                           ExpConstants::kHigh,
                           -ExpConstants::kLow,
                           -ExpConstants::kHigh,
                           87.5F,
                           -87.5F,
                           kInfinity,
                           -kInfinity,
                           1e-40F,
                           std::numeric_limits<float>::quiet_NaN()};
  for (std::size_t i = 0; i < std::size(special) && i < n; ++i) {
    values[i * (n / std::size(special))] = special[i];
  }
  return values;
}

TEST_P(AttentionParity, SwiGluHasTheSameBytes) {
  Random random(21);
  for (const std::size_t n : sizes({1, 7, 8, 9, 31, 100, 1000})) {
    const auto gate = wide_values(random, n);
    const auto up = normal_floats(random, n);
    std::vector<float> expected(n);
    std::vector<float> found(n);
    scalar().swiglu(gate, up, expected);
    table().swiglu(gate, up, found);
    EXPECT_TRUE(same_bits(expected, found)) << n;
  }
}

TEST_P(AttentionParity, AddHasTheSameBytes) {
  Random random(22);
  for (const std::size_t n : sizes({1, 7, 8, 15, 16, 17, 100})) {
    auto expected = normal_floats(random, n);
    auto found = expected;
    const auto y = normal_floats(random, n);
    scalar().add(expected, y);
    table().add(found, y);
    EXPECT_TRUE(same_bits(expected, found)) << n;
  }
}

TEST_P(AttentionParity, RmsNormHasTheSameBytes) {
  Random random(23);
  for (const std::size_t n : sizes({1, 8, 15, 16, 17, 64, 100, 576, 2048})) {
    for (const float sigma : {1.0F, 1e-25F, 1e18F}) {
      const auto x = normal_floats(random, n, sigma);
      const auto weight = normal_floats(random, n);
      std::vector<float> expected(n);
      std::vector<float> found(n);
      scalar().rms_norm(x, weight, 1e-5F, expected);
      table().rms_norm(x, weight, 1e-5F, found);
      EXPECT_TRUE(same_bits(expected, found)) << n;
    }
  }
}

TEST_P(AttentionParity, RopeHasTheSameBytesInBothOrders) {
  Random random(24);
  for (const std::size_t head_dim : sizes({2, 6, 24, 32, 64, 128})) {
    const auto cos = normal_floats(random, head_dim / 2);
    const auto sin = normal_floats(random, head_dim / 2);
    const auto x = normal_floats(random, 3 * head_dim);
    for (const auto member : {&KernelTable::rope_adjacent, &KernelTable::rope_halves}) {
      auto expected = x;
      auto found = x;
      (scalar().*member)(expected.data(), 3, head_dim, cos.data(), sin.data());
      (table().*member)(found.data(), 3, head_dim, cos.data(), sin.data());
      EXPECT_TRUE(same_bits(expected, found)) << head_dim;
    }
  }
}

struct AttendCase {
  KvType type;
  std::size_t head_dim, n_heads, n_visible;
  float sigma = 1.0F;
  std::size_t n_tokens = 1;
  std::size_t n_runs = 1;

  std::size_t n_positions() const { return std::min(n_visible + n_tokens - 1, n_runs * kRun); }
};

void PrintTo(const AttendCase& c, std::ostream* out) {
  *out << "type " << static_cast<int>(c.type) << " dim " << c.head_dim << " heads " << c.n_heads
       << " visible " << c.n_visible << " sigma " << c.sigma << " tokens " << c.n_tokens << " runs "
       << c.n_runs;
}

// [tokens, heads, head_dim] acc, then max and sum of each. All runs in one call, or one after the
// other.
std::vector<float> attend(const KernelTable& table, const Cache& cache, const AttendCase& c,
                          const std::vector<float>& q, bool run_by_run = false) {
  const std::size_t n = c.n_tokens * c.n_heads;
  std::vector<float> acc(n * c.head_dim, 5.0F);
  std::vector<Partial> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    out[i].acc = acc.data() + i * c.head_dim;
  }
  Queries queries{.q = q.data(),
                  .token_stride = c.n_heads * c.head_dim,
                  .n_tokens = c.n_tokens,
                  .n_heads = c.n_heads,
                  .n_visible = c.n_visible,
                  .n_runs = c.n_runs,
                  .scale = 1.0F / std::sqrt(static_cast<float>(c.head_dim))};
  if (run_by_run) {
    for (std::size_t run = 0; run < c.n_runs; ++run) {
      const std::size_t before = run * kRun;
      const std::size_t hidden = before < c.n_visible ? 0 : before + 1 - c.n_visible;
      Queries some = queries;
      some.q += hidden * queries.token_stride;
      some.n_tokens -= hidden;
      some.n_visible = std::min(c.n_visible + hidden - before, kRun);
      some.n_runs = 1;
      some.continues = run > 0;
      table.attend(cache.run(run), some, out.data() + hidden * c.n_heads);
    }
  } else {
    table.attend(cache.run(0), queries, out.data());
  }
  for (const Partial& partial : out) {
    acc.push_back(partial.max);
    acc.push_back(partial.sum);
  }
  return acc;
}

void fill_cache(const KernelTable& table, Random& random, Cache& cache, std::size_t end,
                float sigma) {
  for (std::size_t p = 0; p < end; ++p) {
    const auto key = normal_floats(random, cache.format().head_dim, sigma);
    const auto value = normal_floats(random, cache.format().head_dim);
    cache.store(table, p, key, value);
  }
}

TEST_P(AttentionParity, KvStoreHasTheSameBytes) {
  for (const KvType type : kAllKvTypes) {
    for (const std::size_t head_dim : sizes({32, 64, 128})) {
      Cache expected(type, head_dim, 64);
      Cache found(type, head_dim, 64);
      for (const float sigma : {1.0F, 1e-5F, 1e-7F, 1e4F, 1e6F}) {
        Random first(25);
        Random second(25);
        fill_cache(scalar(), first, expected, 53, sigma);
        fill_cache(table(), second, found, 53, sigma);
        EXPECT_EQ(expected.bytes(), found.bytes()) << head_dim << ", " << sigma;
      }
    }
  }
}

TEST_P(AttentionParity, KvStoreHasTheSameBytesForWhatIsNotFinite) {
  Random random(26);
  Cache expected(KvType::Int8, 64, 64);
  Cache found(KvType::Int8, 64, 64);
  std::size_t position = 0;
  for (const float odd : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 1e38F}) {
    const auto plain = normal_floats(random, 64);
    auto key = plain;
    key[position] = odd;
    for (const auto& [k, v] : {std::pair(key, plain), std::pair(plain, key)}) {
      expected.store(scalar(), position, k, v);
      found.store(table(), position, k, v);
      EXPECT_EQ(expected.bytes(), found.bytes()) << odd << " at " << position;
      ++position;
    }
  }
}

std::vector<AttendCase> attend_cases() {
  std::vector<AttendCase> cases;
  for (const KvType type : kAllKvTypes) {
    for (const std::size_t head_dim : sizes({32, 64, 128})) {
      for (const std::size_t n_heads : sizes({1, 2, 3, 4, 7, 8})) {
        cases.push_back({type, head_dim, n_heads, 65 + n_heads});
      }
      cases.push_back({type, head_dim, 4, 60, 1.0F, 16});
      cases.push_back({type, head_dim, 3, 1, 1.0F, 21});
      cases.push_back({type, head_dim, 1, 500, 3.0F, 64});
    }
    for (const std::size_t n_visible : sizes({1, 15, 16, 17, 63, 64, 128, 511, 512})) {
      cases.push_back({type, 32, 3, n_visible, 3.0F});
    }
    cases.push_back({type, 64, 4, 600, 3.0F, 1, 2});
    cases.push_back({type, 64, 4, 505, 3.0F, 16, 2});
    cases.push_back({type, 128, 3, 1020, 3.0F, 21, 3});
    for (const std::size_t n_tokens : sizes({1, 5, 16})) {
      cases.push_back({type, 64, 4, 200, 100.0F, n_tokens});
      cases.push_back({type, 64, 4, 200, 1e30F, n_tokens});
    }
  }
  return cases;
}

TEST_P(AttentionParity, AttendHasTheSameBytes) {
  Random random(26);
  for (const AttendCase& c : attend_cases()) {
    Cache cache(c.type, c.head_dim, c.n_positions());
    fill_cache(scalar(), random, cache, c.n_positions(), c.sigma);
    const auto q = normal_floats(random, c.n_tokens * c.n_heads * c.head_dim);
    EXPECT_TRUE(same_bits(attend(scalar(), cache, c, q), attend(table(), cache, c, q)))
        << ::testing::PrintToString(c);
  }
}

TEST_P(AttentionParity, RunsHaveTheSameBytesInOneCallAndInSeveral) {
  Random random(30);
  for (const KvType type : kAllKvTypes) {
    for (const std::size_t n_visible : sizes({1017, 1100})) {
      const AttendCase c{type, 64, 4, n_visible, 3.0F, 16, 3};
      Cache cache(type, c.head_dim, c.n_positions());
      fill_cache(table(), random, cache, c.n_positions(), c.sigma);
      const auto q = normal_floats(random, c.n_tokens * c.n_heads * c.head_dim);
      EXPECT_TRUE(same_bits(attend(table(), cache, c, q), attend(table(), cache, c, q, true)))
          << ::testing::PrintToString(c);
    }
  }
}

TEST_P(AttentionParity, AQueryHasTheSameBytesAloneAndAmongOthers) {
  constexpr std::size_t kTokens = 9;
  constexpr std::size_t kHeads = 3;
  Random random(28);
  const auto compare = [&](KvType type, std::ptrdiff_t dim) {
    const auto head_dim = static_cast<std::size_t>(dim);
    const AttendCase together{type, head_dim, kHeads, 59, 1.0F, kTokens};
    Cache cache(type, head_dim, together.n_positions());
    fill_cache(table(), random, cache, together.n_positions(), 1.0F);
    const auto q = normal_floats(random, kTokens * kHeads * head_dim);
    const auto expected = attend(table(), cache, together, q);
    for (std::size_t i = 0; i < kTokens * kHeads; ++i) {
      const AttendCase alone{type, head_dim, 1, 59 + i / kHeads};
      const auto begin = static_cast<std::ptrdiff_t>(i) * dim;
      const auto found =
          attend(table(), cache, alone, {q.begin() + begin, q.begin() + begin + dim});
      EXPECT_TRUE(same_bits({found.begin(), found.begin() + dim},
                            {expected.begin() + begin, expected.begin() + begin + dim}))
          << i;
    }
  };
  for (const KvType type : kAllKvTypes) {
    compare(type, 32);
    compare(type, 64);
  }
}

std::vector<float> filled(std::size_t n, float value, bool alternating) {
  std::vector<float> values(n, value);
  for (std::size_t i = 1; alternating && i < n; i += 2) {
    values[i] = -value;
  }
  return values;
}

// Products of bytes that are all as large as they can be: no sum of them may saturate.
TEST_P(AttentionParity, TheLargestCodesHaveTheSameBytes) {
  constexpr std::size_t kPositions = 100;
  constexpr std::size_t kTokens = 5;
  const auto compare = [&](std::size_t dim, float sign, bool alternating) {
    Cache cache(KvType::Int8, dim, kPositions);
    for (std::size_t p = 0; p < kPositions; ++p) {
      cache.store(scalar(), p, filled(dim, sign, alternating), filled(dim, sign, alternating));
    }
    const AttendCase c{KvType::Int8, dim, 4, kPositions + 1 - kTokens, 1.0F, kTokens};
    const std::size_t n = kTokens * 4 * dim;
    for (const auto& q :
         {filled(n, 1.0F, alternating), filled(n, -1.0F, false), filled(n, 0.0F, false)}) {
      EXPECT_TRUE(same_bits(attend(scalar(), cache, c, q), attend(table(), cache, c, q))) << dim;
    }
  };
  for (const std::size_t dim : sizes({32, 64, 128})) {
    for (const float sign : {1.0F, -1.0F}) {
      compare(dim, sign, false);
      compare(dim, sign, true);
    }
  }
}

// Of heads of 64 so many that they go through tiles, where there are any.
TEST_P(AttentionParity, WhatIsNotFiniteHasTheSameBytes) {
  constexpr std::size_t kPositions = 70;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Random random(29);
  const auto compare = [&](const AttendCase& c, float odd, bool in_key) {
    Cache cache(c.type, c.head_dim, kPositions);
    for (std::size_t p = 0; p < kPositions; ++p) {
      auto key = normal_floats(random, c.head_dim);
      auto value = normal_floats(random, c.head_dim);
      (in_key ? key : value)[3] = p == 66 ? odd : 0.5F;
      cache.store(scalar(), p, key, value);
    }
    auto q = normal_floats(random, c.n_heads * c.head_dim);
    EXPECT_TRUE(same_bits(attend(scalar(), cache, c, q), attend(table(), cache, c, q))) << odd;
    q[40] = odd;
    EXPECT_TRUE(same_bits(attend(scalar(), cache, c, q), attend(table(), cache, c, q))) << odd;
  };
  for (const KvType type : kAllKvTypes) {
    for (const float odd : {kInfinity, -kInfinity, nan, 1e30F, 1e-30F}) {
      for (const bool in_key : {false, true}) {
        compare({type, 32, 3, kPositions}, odd, in_key);
        compare({type, 64, 20, kPositions}, odd, in_key);
      }
    }
  }
}

TEST_P(AttentionParity, CombineRunsHasTheSameBytes) {
  Random random(27);
  for (const std::size_t head_dim : sizes({32, 64, 128})) {
    for (const std::size_t n_runs : sizes({1, 2, 5})) {
      auto acc = normal_floats(random, n_runs * head_dim);
      const auto maxima = normal_floats(random, n_runs, 30.0F);
      std::vector<Partial> runs;
      for (std::size_t r = 0; r < n_runs; ++r) {
        runs.push_back({maxima[r], 1.0F + static_cast<float>(r), acc.data() + r * head_dim});
      }
      std::vector<float> expected(head_dim);
      std::vector<float> found(head_dim);
      scalar().combine_runs(runs, head_dim, expected.data());
      table().combine_runs(runs, head_dim, found.data());
      EXPECT_TRUE(same_bits(expected, found)) << head_dim << " runs " << n_runs;
    }
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AttentionParity);
INSTANTIATE_TEST_SUITE_P(Isa, AttentionParity, ::testing::ValuesIn(tables_to_compare()),
                         table_name);

}  // namespace
}  // namespace smol::kernels::test

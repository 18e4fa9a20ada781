// Products in groups: every row once, and each group finished once, after all of its rows.
#include "model/cpu/multiplier.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "base/thread_pool.h"

namespace smol::model {
namespace {

using kernels::Activations;
using kernels::Matrix;

constexpr std::size_t kColumns = 8;

float row_value(std::size_t row) {
  return static_cast<float>(row + 1);
}

// A matrix of floats whose row r holds r + 1 everywhere, and its products with tokens of ones.
struct Case {
  Case(std::size_t n_rows, std::size_t n_tokens)
      : values(n_rows * kColumns), y(n_tokens * (n_rows + 16), -1.0F) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = row_value(i / kColumns);
    }
    w = {gguf::DType::F32, std::as_bytes(std::span(values)).data(), n_rows, kColumns,
         kColumns * sizeof(float)};
  }

  std::vector<float> values, y;
  Matrix w{};
};

Activations ones(const std::vector<float>& x, std::size_t n_tokens) {
  Activations all{};
  all.format = kernels::ActivationFormat::F32;
  all.n_tokens = n_tokens;
  all.n_cols = kColumns;
  all.f32 = x.data();
  return all;
}

// Where row r of a token is.
std::size_t place(const Product& product, std::size_t token, std::size_t r) {
  if (product.layout == ResultLayout::Rows) {
    return token * product.w->n_rows + r;
  }
  const std::size_t group = r / product.group_rows;
  return (group * product.x.n_tokens + token) * product.group_rows + r % product.group_rows;
}

bool is_done(const Product& product, std::size_t first, std::size_t last) {
  for (std::size_t t = 0; t < product.x.n_tokens; ++t) {
    for (std::size_t r = first; r < std::min(last, product.w->n_rows); ++r) {
      if (product.y[place(product, t, r)] != static_cast<float>(kColumns * (r + 1))) {
        return false;
      }
    }
  }
  return true;
}

constexpr std::size_t kGroups = 9;
constexpr std::size_t kWide = 64;  // rows of a group
constexpr std::size_t kNarrow = 16;

void expect_groups_finish_once(Multiplier& multiplier, std::size_t n_tokens, ResultLayout layout) {
  const std::vector<float> x(n_tokens * kColumns, 1.0F);
  Case wide(kGroups * kWide - 5, n_tokens);
  Case narrow(kGroups * kNarrow, n_tokens);
  const std::array products{Product{&wide.w, ones(x, n_tokens), wide.y.data(), kWide, layout},
                            Product{&narrow.w, ones(x, n_tokens), narrow.y.data(), kNarrow}};
  std::vector<std::atomic<int>> finished(kGroups);
  std::atomic<int> unfinished{0};
  multiplier.run(products, [&](std::size_t group) {
    ++finished[group];
    const bool done = is_done(products[0], kWide * group, kWide * group + kWide) &&
                      is_done(products[1], kNarrow * group, kNarrow * group + kNarrow);
    unfinished += done ? 0 : 1;
  });
  EXPECT_EQ(unfinished, 0);
  for (const std::atomic<int>& count : finished) {
    EXPECT_EQ(count, 1);
  }
}

TEST(Multiplier, FinishesEachGroupOnceWhenItsRowsOfEveryProductAreDone) {
  for (const std::size_t threads : {1U, 2U, 5U}) {
    ThreadPool pool(threads);
    Multiplier multiplier(pool, kernels::active_kernels(), kGroups);
    for (const std::size_t n_tokens : {1U, 3U, 40U, 1U}) {
      expect_groups_finish_once(multiplier, n_tokens, ResultLayout::Rows);
      expect_groups_finish_once(multiplier, n_tokens, ResultLayout::Groups);
    }
  }
}

TEST(Multiplier, MultipliesAMatrixWithoutAnythingToFollow) {
  ThreadPool pool(2);
  Multiplier multiplier(pool, kernels::active_kernels(), 3);
  const std::vector<float> x(2 * kColumns, 1.0F);
  Case matrix(33, 2);
  const Product product{&matrix.w, ones(x, 2), matrix.y.data(), 16};
  multiplier.run(product);
  EXPECT_TRUE(is_done(product, 0, 33));
}

}  // namespace
}  // namespace smol::model

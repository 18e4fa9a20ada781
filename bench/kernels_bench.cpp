// Speed of the matrix products on one thread, for each table that runs here: GB/s of weights for
// one token, GMAC/s for a batch. The matrices are larger than most caches (the second shape) or fit
// into them (the first).
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernel_table.h"
#include "kernels/panel.h"

namespace smol {
namespace {

struct Case {
  gguf::DType dtype;
  std::size_t n_rows, n_cols, n_tokens;
};

struct Operands {
  std::vector<std::byte> bytes;
  std::vector<std::int8_t> codes;
  std::vector<float> values, scales;
  std::vector<std::int16_t> sums, joined;
  std::vector<float> y;
};

constexpr int kRepeats = 5;

// Panels where the type has them.
kernels::Matrix matrix_of(const Case& c, Operands& operands) {
  const gguf::DTypeTraits& traits = gguf::traits(c.dtype);
  const std::size_t row_bytes = c.n_cols / traits.block_elements * traits.block_bytes;
  operands.bytes.resize(kernels::matrix_bytes(c.dtype, c.n_rows, row_bytes) +
                        kernels::kPanelAlignment);
  std::mt19937 random(1);
  // Bytes below 64 keep every float of every type finite and moderate.
  std::generate(operands.bytes.begin(), operands.bytes.end(),
                [&] { return static_cast<std::byte>(random() % 64); });
  void* start = operands.bytes.data();
  std::size_t space = operands.bytes.size();
  const void* aligned = std::align(kernels::kPanelAlignment, 1, start, space);
  return {c.dtype, static_cast<const std::byte*>(aligned), c.n_rows, c.n_cols, row_bytes};
}

kernels::Activations activations_of(const Case& c, Operands& operands) {
  const std::size_t n = c.n_tokens * c.n_cols;
  const auto format = kernels::activation_format(c.dtype);
  operands.codes.assign(n, 3);
  operands.values.assign(n, 0.5F);
  operands.scales.assign(n / 32, 0.01F);
  operands.sums.assign(n / kernels::kSumBlock, 48);
  operands.joined.assign(n / kernels::kJoinedBlock, 96);
  return {format,
          c.n_tokens,
          c.n_cols,
          operands.values.data(),
          operands.codes.data(),
          operands.scales.data(),
          operands.sums.data(),
          operands.joined.data()};
}

// The fastest of some repeats, each of at least 50 ms of processor time (so other programs count
// less).
double seconds_of(const kernels::KernelTable& table, const Case& c) {
  Operands operands;
  const kernels::Matrix w = matrix_of(c, operands);
  const kernels::Activations x = activations_of(c, operands);
  operands.y.resize(c.n_tokens * c.n_rows);
  double best = 1e9;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const std::clock_t start = std::clock();
    int calls = 0;
    double elapsed = 0.0;
    do {
      table.matmul(c.dtype)(w, x, operands.y.data(), c.n_rows, {0, c.n_rows});
      ++calls;
      elapsed = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    } while (elapsed < 0.05);
    best = std::min(best, elapsed / calls);
  }
  return best;
}

void report(const kernels::KernelTable& table, const Case& c) {
  const gguf::DTypeTraits& traits = gguf::traits(c.dtype);
  const double seconds = seconds_of(table, c);
  const std::size_t n_blocks = c.n_rows * c.n_cols / traits.block_elements;
  const auto bytes = static_cast<double>(n_blocks * traits.block_bytes);
  const auto products = static_cast<double>(c.n_rows * c.n_cols * c.n_tokens);
  std::printf("%-7s %-7s %6zu x %-6zu %4zu tokens %9.2f GB/s %8.2f GMAC/s\n",
              std::string(table.isa).c_str(), std::string(traits.name).c_str(), c.n_rows, c.n_cols,
              c.n_tokens, bytes / seconds * 1e-9, products / seconds * 1e-9);
  std::fflush(stdout);
}

void report_all() {
  using gguf::DType;
  const std::vector<Case> cases = {
      {DType::Q4_K, 2048, 2048, 1},  {DType::Q6_K, 2048, 2048, 1},  {DType::Q4_K, 11008, 2048, 1},
      {DType::Q6_K, 11008, 2048, 1}, {DType::Q8_0, 11008, 2048, 1}, {DType::F16, 11008, 2048, 1},
      {DType::Q4_K, 11008, 2048, 2}, {DType::Q4_K, 11008, 2048, 4}, {DType::Q4_K, 11008, 2048, 8},
      {DType::Q4_K, 256, 2048, 512}, {DType::Q6_K, 256, 2048, 512}, {DType::Q8_0, 256, 2048, 512},
      {DType::Q4_0, 256, 2048, 512}, {DType::Q4_1, 256, 2048, 512}, {DType::Q5_0, 256, 2048, 512},
      {DType::F16, 256, 2048, 512},
  };
  for (const kernels::KernelTable* table : kernels::compiled_kernels()) {
    if (!table->runs_on_this_cpu()) {
      std::printf("%s: not on this processor\n", std::string(table->isa).c_str());
      continue;
    }
    for (const Case& c : cases) {
      report(*table, c);
    }
  }
}

}  // namespace
}  // namespace smol

int main() {
  smol::report_all();
  return 0;
}

// Speed of the matrix products on one thread, for each table that runs here: GB/s of weights for
// one token, GMAC/s for a batch. The matrices are larger than most caches (the second shape) or fit
// into them (the first). Usage: kernels_bench [TABLE], one of all tables by its name (avx512, say).
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
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
  std::vector<std::int16_t> sums, joined, peaks;
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

// Normal numbers: as codes they are what a model's activations are like.
kernels::Activations activations_of(const kernels::KernelTable& table, const Case& c,
                                    Operands& operands) {
  const std::size_t n = c.n_tokens * c.n_cols;
  const auto format = kernels::activation_format(c.dtype);
  const std::size_t block = format == kernels::ActivationFormat::Q8x256 ? 256 : 32;
  operands.values.resize(n);
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  std::generate(operands.values.begin(), operands.values.end(), [&] { return normal(random); });
  operands.codes.resize(n);
  operands.scales.resize(n / block);
  operands.sums.resize(n / kernels::kSumBlock);
  operands.joined.resize(n / kernels::kJoinedBlock);
  operands.peaks.resize(n / block);
  const kernels::Quantize quantize = block == 256 ? table.quantize_q8x256 : table.quantize_q8x32;
  for (std::size_t t = 0; t < c.n_tokens; ++t) {
    quantize(std::span(operands.values).subspan(t * c.n_cols, c.n_cols),
             {operands.codes.data() + t * block, operands.scales.data() + t,
              operands.sums.data() + t * (block / kernels::kSumBlock),
              operands.joined.data() + t * (block / kernels::kJoinedBlock),
              operands.peaks.data() + t, c.n_tokens});
  }
  return {format,
          c.n_tokens,
          c.n_cols,
          operands.values.data(),
          operands.codes.data(),
          operands.scales.data(),
          operands.sums.data(),
          operands.joined.data(),
          operands.peaks.data()};
}

// The fastest of some repeats, each of at least 50 ms of processor time (so other programs count
// less).
double seconds_of(const kernels::KernelTable& table, const Case& c) {
  Operands operands;
  const kernels::Matrix w = matrix_of(c, operands);
  const kernels::Activations x = activations_of(table, c, operands);
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

//   isa: the only table, or none for all. Returns whether there is one.
bool report_all(std::string_view isa) {
  using gguf::DType;
  const std::vector<Case> cases = {
      {DType::Q4_K, 2048, 2048, 1},  {DType::Q6_K, 2048, 2048, 1},  {DType::Q4_K, 11008, 2048, 1},
      {DType::Q6_K, 11008, 2048, 1}, {DType::Q8_0, 11008, 2048, 1}, {DType::F16, 11008, 2048, 1},
      {DType::Q4_K, 11008, 2048, 2}, {DType::Q4_K, 11008, 2048, 4}, {DType::Q4_K, 11008, 2048, 8},
      {DType::Q4_K, 256, 2048, 512}, {DType::Q6_K, 256, 2048, 512}, {DType::Q8_0, 256, 2048, 512},
      {DType::Q4_0, 256, 2048, 512}, {DType::Q4_1, 256, 2048, 512}, {DType::Q5_0, 256, 2048, 512},
      {DType::F16, 256, 2048, 512},
  };
  bool found = false;
  for (const kernels::KernelTable* table : kernels::compiled_kernels()) {
    if (!isa.empty() && table->isa != isa) {
      continue;
    }
    found = true;
    if (!table->runs_on_this_cpu()) {
      std::printf("%s: not on this processor\n", std::string(table->isa).c_str());
      continue;
    }
    for (const Case& c : cases) {
      report(*table, c);
    }
  }
  return found;
}

}  // namespace
}  // namespace smol

int main(int argc, char** argv) {
  const char* isa = argc > 1 ? argv[1] : "";
  if (!smol::report_all(isa)) {
    std::fprintf(stderr, "kernels_bench: there is no table %s\n", isa);
    return 1;
  }
  return 0;
}

// Speed of attention over one run of 512 positions on one thread, for each table that runs here and
// each kind of cache: GMAC/s where the run lies in the second-level cache, and GB/s of keys and
// values for one token (4 query heads a KV head) where they come from memory.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "base/huge_page_arena.h"
#include "kernels/kernel_table.h"
#include "kernels/kv_tile.h"

namespace smol {
namespace {

constexpr std::size_t kHeadDim = 128;
constexpr std::size_t kHeads = 4;
constexpr std::size_t kLargeCache = std::size_t{256} << 20U;
constexpr int kRepeats = 5;

struct Case {
  kernels::KvType type;
  const char* name;
  std::size_t n_tokens;  // that share each load
  bool from_memory;
};

// The fastest of some repeats, each of at least 50 ms of processor time (so other programs count
// less).
template <class Work>
double seconds_of(const Work& work) {
  double best = 1e9;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const std::clock_t start = std::clock();
    int calls = 0;
    double elapsed = 0.0;
    do {
      work();
      ++calls;
      elapsed = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    } while (elapsed < 0.05);
    best = std::min(best, elapsed / calls);
  }
  return best;
}

void report(const kernels::KernelTable& table, const Case& c) {
  const kernels::KvFormat format{c.type, kHeadDim};
  const std::size_t run_bytes = kernels::tile_bytes(format) * kernels::kTilesPerRun;
  const std::size_t n_runs = c.from_memory ? kLargeCache / run_bytes : 1;
  const HugePageArena memory(n_runs * run_bytes);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> row(kHeadDim);
  std::vector<const std::byte*> tiles;
  for (std::size_t tile = 0; tile < n_runs * kernels::kTilesPerRun; ++tile) {
    std::byte* at = memory.data() + tile * kernels::tile_bytes(format);
    std::generate(row.begin(), row.end(), [&] { return normal(random); });
    for (std::size_t i = 0; i < kernels::kStep; ++i) {
      table.kv_store(format, at, i, row.data(), row.data());
    }
    tiles.push_back(at);
  }
  const std::size_t n = c.n_tokens * kHeads;
  std::vector<float> q(n * kHeadDim);
  std::generate(q.begin(), q.end(), [&] { return normal(random); });
  std::vector<float> acc(n * kHeadDim);
  std::vector<kernels::Partial> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    out[i].acc = acc.data() + i * kHeadDim;
  }
  const kernels::Queries queries{q.data(), kHeads * kHeadDim, c.n_tokens, kHeads, kernels::kRun, 1,
                                 0.088F};
  const double seconds = seconds_of([&] {
    for (std::size_t run = 0; run < n_runs; ++run) {
      const std::size_t first = run * kernels::kTilesPerRun;
      table.attend({format, tiles.data() + first, tiles.size() - first}, queries, out.data());
    }
  });
  const auto products = static_cast<double>(n_runs * kernels::kRun * n * kHeadDim * 2);
  std::printf("%-7s %-5s %2zu tokens %-11s %8.2f GMAC/s", std::string(table.isa).c_str(), c.name,
              c.n_tokens, c.from_memory ? "from memory" : "", products / seconds * 1e-9);
  if (c.from_memory) {
    std::printf(" %8.2f GB/s", static_cast<double>(n_runs * run_bytes) / seconds * 1e-9);
  }
  std::printf("\n");
  std::fflush(stdout);
}

void report_all() {
  using kernels::KvType;
  const std::vector<Case> cases = {
      {KvType::Int8, "int8", 1, false}, {KvType::Int8, "int8", 16, false},
      {KvType::Int8, "int8", 1, true},  {KvType::F16, "f16", 1, false},
      {KvType::F16, "f16", 16, false},  {KvType::F16, "f16", 1, true},
  };
  for (const kernels::KernelTable* table : kernels::compiled_kernels()) {
    if (!table->runs_on_this_cpu()) {
      std::printf("%s: not on this processor\n", std::string(table->isa).c_str());
    } else if (table->isa != "scalar") {
      std::for_each(cases.begin(), cases.end(), [&](const Case& c) { report(*table, c); });
    }
  }
}

}  // namespace
}  // namespace smol

int main() {
  smol::report_all();
  return 0;
}

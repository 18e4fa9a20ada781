#include "app/bench_machine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>

#include "kernels/probe.h"

namespace smol::app {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
  const Clock::time_point begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::uint64_t read_spans(const kernels::Probe& probe, const ByteSpans& spans) {
  std::uint64_t seen = 0;
  for (const auto& bytes : spans) {
    seen |= probe.read_all(bytes);
  }
  return seen;
}

}  // namespace

std::vector<ByteSpans> split_evenly(const ByteSpans& tensors, std::size_t n_parts) {
  std::size_t total = 0;
  for (const auto& tensor : tensors) {
    total += tensor.size();
  }
  std::vector<ByteSpans> parts(n_parts);
  std::size_t part = 0;
  std::size_t used = 0;  // bytes handed out
  for (std::span<const std::byte> rest : tensors) {
    while (!rest.empty()) {
      const std::size_t part_end = total * (part + 1) / n_parts;
      const std::size_t take = std::min(rest.size(), part_end - used);
      if (take > 0) {
        parts[part].push_back(rest.first(take));
        rest = rest.subspan(take);
        used += take;
      }
      if (used == part_end && part + 1 < n_parts) {
        ++part;
      }
    }
  }
  return parts;
}

double bandwidth_gb_per_s(ThreadPool& pool, const ByteSpans& tensors, std::string_view isa,
                          std::size_t n_passes) {
  const kernels::Probe& probe = kernels::probe_of(isa);
  const std::vector<ByteSpans> parts = split_evenly(tensors, pool.size());
  std::size_t total = 0;
  for (const auto& tensor : tensors) {
    total += tensor.size();
  }
  // What is read must be used, or the compiler may leave it out.
  std::atomic<std::uint64_t> seen{0};
  double best = 0.0;
  for (std::size_t pass = 0; pass < n_passes; ++pass) {
    const double seconds = seconds_of([&] {
      pool.run([&](std::size_t worker) {
        seen.fetch_or(read_spans(probe, parts[worker]), std::memory_order_relaxed);
      });
    });
    best = std::max(best, static_cast<double>(total) / seconds / 1e9);
  }
  return best;
}

double int8_peak_gmac_per_s(ThreadPool& pool, std::string_view isa, std::size_t n_passes) {
  const kernels::Probe& probe = kernels::probe_of(isa);
  // About 20 ms a pass: long against the start of the threads, short against a change of clock
  // rate.
  constexpr double kPassSeconds = 0.02;
  constexpr std::size_t kTrialRounds = 1U << 20U;
  std::atomic<std::uint64_t> seen{0};
  const double trial = seconds_of([&] { seen.fetch_or(probe.int8_products(kTrialRounds)); });
  const auto rounds = static_cast<std::size_t>(
      std::max(1.0, static_cast<double>(kTrialRounds) * kPassSeconds / trial));
  const double products = static_cast<double>(rounds) * static_cast<double>(pool.size()) *
                          static_cast<double>(probe.products_per_round);
  double best = 0.0;
  for (std::size_t pass = 0; pass < n_passes; ++pass) {
    const double seconds = seconds_of(
        [&] { pool.run([&](std::size_t) { seen.fetch_or(probe.int8_products(rounds)); }); });
    best = std::max(best, products / seconds / 1e9);
  }
  return best;
}

std::uint64_t peak_resident_bytes() {
  constexpr std::uint64_t kKibi = 1024;
  std::ifstream status{"/proc/self/status"};
  std::string key;
  while (status >> key) {
    std::uint64_t kibibytes = 0;
    if (key == "VmHWM:" && status >> kibibytes) {
      return kibibytes * kKibi;
    }
    status.ignore(4096, '\n');
  }
  return 0;
}

}  // namespace smol::app

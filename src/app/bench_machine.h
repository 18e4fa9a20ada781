// What this machine can do at best: the measures that speeds are shares of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"

namespace smol::app {

using ByteSpans = std::vector<std::span<const std::byte>>;

// Each of `n_parts` gets a contiguous run of nearly the same number of bytes of `tensors`, joined.
std::vector<ByteSpans> split_evenly(const ByteSpans& tensors, std::size_t n_parts);

// Bytes a second, in 1e9, at which the pool's threads read `tensors`: the best of `n_passes`.
double bandwidth_gb_per_s(ThreadPool& pool, const ByteSpans& tensors, std::string_view isa,
                          std::size_t n_passes);

// int8 multiply-adds a second, in 1e9, on all threads of the pool, in registers only: the best of
// `n_passes`.
double int8_peak_gmac_per_s(ThreadPool& pool, std::string_view isa, std::size_t n_passes);

// Most bytes that were resident so far (VmHWM); 0 where the system does not tell.
std::uint64_t peak_resident_bytes();

}  // namespace smol::app

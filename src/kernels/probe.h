// How fast this machine can be, in one instruction set: what speeds are measured against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace smol::kernels {

struct Probe {
  std::string_view isa;  // as KernelTable::isa
  // OR of all whole 64-byte groups of `bytes`, read with the widest loads. Any alignment.
  std::uint64_t (*read_all)(std::span<const std::byte> bytes) noexcept;
  // `rounds` rounds of int8 products that are added to 32-bit sums, in registers only; returns a
  // value that depends on all of them.
  std::uint64_t (*int8_products)(std::size_t rounds) noexcept;
  std::size_t products_per_round;  // int8 multiply-adds
};

// The probe of an instruction set; of "scalar" where it has none of its own.
const Probe& probe_of(std::string_view isa) noexcept;

const Probe& scalar_probe() noexcept;
#if defined(__x86_64__)
const Probe& avx2_probe() noexcept;
const Probe& avxvnni_probe() noexcept;
const Probe& avx512_probe() noexcept;
const Probe& amx_probe() noexcept;
#endif

}  // namespace smol::kernels

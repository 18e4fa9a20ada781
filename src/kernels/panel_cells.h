// The cells of panels (panel.h), byte for byte. In an array [64], four bytes 4r .. 4r+3 belong to
// row r. Fields named d, dmin, m are half precision bits, one for each row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gguf/quant_blocks.h"

namespace smol::kernels {

using CellHalves = std::array<std::uint16_t, 16>;
using CellScales = std::array<std::uint8_t, 16>;  // one byte of each row
using CellGroup = std::array<std::uint8_t, 64>;   // four bytes of each row

struct CellQ4K {
  using Block = gguf::BlockQ4K;
  CellHalves d, dmin;
  // Scale and minimum of 6 bits, in pairs of sub-blocks 2p and 2p+1: low[2p] and low[2p+1] hold
  // scale & 15 | (min & 15) << 4; high[p] holds the upper two bits of both scales, then of both
  // minima, from bit 0.
  std::array<CellScales, 8> low;
  std::array<CellScales, 4> high;
  // qs[p][g]: bytes 4g .. 4g+3 of the block's qs[32 p ..]: columns 64p + 4g in the low nibbles, 32
  // columns further in the high ones.
  std::array<std::array<CellGroup, 8>, 4> qs;
};

struct CellQ6K {
  using Block = gguf::BlockQ6K;
  CellHalves d;
  std::array<CellScales, 16> scales;  // signed, one for 16 columns

  struct Group {
    CellGroup low0, low1, high;
  };

  // codes[n][g]: bytes 4g .. 4g+3 of the half n: of ql[64 n ..], ql[64 n + 32 ..] and qh[32 n ..].
  std::array<std::array<Group, 8>, 2> codes;
};

struct CellQ80 {
  using Block = gguf::BlockQ80;
  CellHalves d;
  std::array<CellGroup, 8> qs;  // group g: columns 4g .. 4g+3
};

struct CellQ40 {
  using Block = gguf::BlockQ40;
  CellHalves d;
  std::array<CellGroup, 4> qs;  // low nibbles: columns 4g .. 4g+3, high nibbles: 16 further
};

struct CellQ41 {
  using Block = gguf::BlockQ41;
  CellHalves d, m;
  std::array<CellGroup, 4> qs;
};

struct CellQ50 {
  using Block = gguf::BlockQ50;
  CellHalves d;
  CellGroup fifth;  // bit g of byte i of a row: the fifth bit of column 4g + i
  std::array<CellGroup, 4> qs;
};

static_assert(sizeof(CellQ4K) == 16 * sizeof(gguf::BlockQ4K));
static_assert(sizeof(CellQ6K) == 16 * sizeof(gguf::BlockQ6K));
static_assert(sizeof(CellQ80) == 16 * sizeof(gguf::BlockQ80));
static_assert(sizeof(CellQ40) == 16 * sizeof(gguf::BlockQ40));
static_assert(sizeof(CellQ41) == 16 * sizeof(gguf::BlockQ41));
static_assert(sizeof(CellQ50) == 16 * sizeof(gguf::BlockQ50));

// Writes the block of one row (0 to 15) into a cell.
void put_block(CellQ4K& cell, std::size_t row, const gguf::BlockQ4K& block) noexcept;
void put_block(CellQ6K& cell, std::size_t row, const gguf::BlockQ6K& block) noexcept;
void put_block(CellQ80& cell, std::size_t row, const gguf::BlockQ80& block) noexcept;
void put_block(CellQ40& cell, std::size_t row, const gguf::BlockQ40& block) noexcept;
void put_block(CellQ41& cell, std::size_t row, const gguf::BlockQ41& block) noexcept;
void put_block(CellQ50& cell, std::size_t row, const gguf::BlockQ50& block) noexcept;

// The block of one row, byte for byte what put_block() was given.
gguf::BlockQ4K block_of(const CellQ4K& cell, std::size_t row) noexcept;
gguf::BlockQ6K block_of(const CellQ6K& cell, std::size_t row) noexcept;
gguf::BlockQ80 block_of(const CellQ80& cell, std::size_t row) noexcept;
gguf::BlockQ40 block_of(const CellQ40& cell, std::size_t row) noexcept;
gguf::BlockQ41 block_of(const CellQ41& cell, std::size_t row) noexcept;
gguf::BlockQ50 block_of(const CellQ50& cell, std::size_t row) noexcept;

}  // namespace smol::kernels

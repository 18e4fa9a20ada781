#include "kernels/panel_cells.h"

#include <cstring>

namespace smol::kernels {
namespace {

// Bytes 4g .. 4g+3 of `bytes` to or from the place of a row in group g.
template <class Groups, class Bytes>
void put_groups(Groups& groups, std::size_t row, const Bytes& bytes) noexcept {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::memcpy(groups[g].data() + 4 * row, bytes.data() + 4 * g, 4);
  }
}

template <class Groups, class Bytes>
void get_groups(const Groups& groups, std::size_t row, Bytes& bytes) noexcept {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::memcpy(bytes.data() + 4 * g, groups[g].data() + 4 * row, 4);
  }
}

void put_four(CellGroup& group, std::size_t row, const std::uint8_t* bytes) noexcept {
  std::memcpy(group.data() + 4 * row, bytes, 4);
}

void get_four(const CellGroup& group, std::size_t row, std::uint8_t* bytes) noexcept {
  std::memcpy(bytes, group.data() + 4 * row, 4);
}

}  // namespace

void put_block(CellQ4K& cell, std::size_t row, const gguf::BlockQ4K& block) noexcept {
  cell.d[row] = block.d;
  cell.dmin[row] = block.dmin;
  for (std::size_t p = 0; p < 4; ++p) {
    const gguf::ScaleMin a = gguf::scale_min_k4(block.scales, 2 * p);
    const gguf::ScaleMin b = gguf::scale_min_k4(block.scales, 2 * p + 1);
    cell.low[2 * p][row] = static_cast<std::uint8_t>((a.scale & 15U) | (a.min & 15U) << 4U);
    cell.low[2 * p + 1][row] = static_cast<std::uint8_t>((b.scale & 15U) | (b.min & 15U) << 4U);
    const unsigned scales = (unsigned{a.scale} >> 4U) | (unsigned{b.scale} >> 4U) << 2U;
    const unsigned mins = (unsigned{a.min} >> 4U) | (unsigned{b.min} >> 4U) << 2U;
    cell.high[p][row] = static_cast<std::uint8_t>(scales | mins << 4U);
    for (std::size_t g = 0; g < 8; ++g) {
      put_four(cell.qs[p][g], row, block.qs.data() + 32 * p + 4 * g);
    }
  }
}

gguf::BlockQ4K block_of(const CellQ4K& cell, std::size_t row) noexcept {
  gguf::BlockQ4K block{};
  block.d = cell.d[row];
  block.dmin = cell.dmin[row];
  std::array<gguf::ScaleMin, 8> pairs{};
  for (std::size_t p = 0; p < 4; ++p) {
    const unsigned high = cell.high[p][row];
    for (std::size_t i = 0; i < 2; ++i) {
      const unsigned low = cell.low[2 * p + i][row];
      pairs[2 * p + i] = {
          static_cast<std::uint8_t>((low & 15U) | ((high >> (2 * i)) & 3U) << 4U),
          static_cast<std::uint8_t>((low >> 4U) | ((high >> (2 * i + 4)) & 3U) << 4U)};
    }
    for (std::size_t g = 0; g < 8; ++g) {
      get_four(cell.qs[p][g], row, block.qs.data() + 32 * p + 4 * g);
    }
  }
  block.scales = gguf::pack_k4(pairs);
  return block;
}

void put_block(CellQ6K& cell, std::size_t row, const gguf::BlockQ6K& block) noexcept {
  cell.d[row] = block.d;
  for (std::size_t s = 0; s < 16; ++s) {
    cell.scales[s][row] = static_cast<std::uint8_t>(block.scales[s]);
  }
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t g = 0; g < 8; ++g) {
      put_four(cell.codes[n][g].low0, row, block.ql.data() + 64 * n + 4 * g);
      put_four(cell.codes[n][g].low1, row, block.ql.data() + 64 * n + 32 + 4 * g);
      put_four(cell.codes[n][g].high, row, block.qh.data() + 32 * n + 4 * g);
    }
  }
}

gguf::BlockQ6K block_of(const CellQ6K& cell, std::size_t row) noexcept {
  gguf::BlockQ6K block{};
  block.d = cell.d[row];
  for (std::size_t s = 0; s < 16; ++s) {
    block.scales[s] = static_cast<std::int8_t>(cell.scales[s][row]);
  }
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t g = 0; g < 8; ++g) {
      get_four(cell.codes[n][g].low0, row, block.ql.data() + 64 * n + 4 * g);
      get_four(cell.codes[n][g].low1, row, block.ql.data() + 64 * n + 32 + 4 * g);
      get_four(cell.codes[n][g].high, row, block.qh.data() + 32 * n + 4 * g);
    }
  }
  return block;
}

void put_block(CellQ80& cell, std::size_t row, const gguf::BlockQ80& block) noexcept {
  cell.d[row] = block.d;
  put_groups(cell.qs, row, block.qs);
}

gguf::BlockQ80 block_of(const CellQ80& cell, std::size_t row) noexcept {
  gguf::BlockQ80 block{};
  block.d = cell.d[row];
  get_groups(cell.qs, row, block.qs);
  return block;
}

void put_block(CellQ40& cell, std::size_t row, const gguf::BlockQ40& block) noexcept {
  cell.d[row] = block.d;
  put_groups(cell.qs, row, block.qs);
}

gguf::BlockQ40 block_of(const CellQ40& cell, std::size_t row) noexcept {
  gguf::BlockQ40 block{};
  block.d = cell.d[row];
  get_groups(cell.qs, row, block.qs);
  return block;
}

void put_block(CellQ41& cell, std::size_t row, const gguf::BlockQ41& block) noexcept {
  cell.d[row] = block.d;
  cell.m[row] = block.m;
  put_groups(cell.qs, row, block.qs);
}

gguf::BlockQ41 block_of(const CellQ41& cell, std::size_t row) noexcept {
  gguf::BlockQ41 block{};
  block.d = cell.d[row];
  block.m = cell.m[row];
  get_groups(cell.qs, row, block.qs);
  return block;
}

// Bit 4g + i of the 32 bits <-> bit g of byte i.
void put_block(CellQ50& cell, std::size_t row, const gguf::BlockQ50& block) noexcept {
  cell.d[row] = block.d;
  put_groups(cell.qs, row, block.qs);
  for (std::size_t i = 0; i < 4; ++i) {
    unsigned bits = 0;
    for (std::size_t g = 0; g < 8; ++g) {
      const std::size_t column = 4 * g + i;
      bits |= ((static_cast<unsigned>(block.qh[column / 8]) >> (column % 8)) & 1U) << g;
    }
    cell.fifth[4 * row + i] = static_cast<std::uint8_t>(bits);
  }
}

gguf::BlockQ50 block_of(const CellQ50& cell, std::size_t row) noexcept {
  gguf::BlockQ50 block{};
  block.d = cell.d[row];
  get_groups(cell.qs, row, block.qs);
  for (std::size_t column = 0; column < 32; ++column) {
    const unsigned bits = cell.fifth[4 * row + column % 4];
    const unsigned bit = (bits >> (column / 4)) & 1U;
    block.qh[column / 8] = static_cast<std::uint8_t>(block.qh[column / 8] | bit << (column % 8));
  }
  return block;
}

}  // namespace smol::kernels

// Products of panels with many tokens in tiles: 16 tokens by 16 rows by 64 columns an instruction.
//
// The integer scale of a group is multiplied into its codes, so that a whole cell of 256 columns is
// one sum. A product of scale and code does not fit a byte: it is split into two, each a plane of
// the cell, and the two sums are joined when the cell ends. Two panels share each load of the
// tokens' columns, which come from the second-level cache; cells are unpacked once for a block of
// tokens, and asked for one ahead, since unpacking waits for them. Exact integers, then the floats
// in the canonical order: the bits are those of the other tables.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/amx/ops.h"
#include "kernels/avx512/ops.h"
#include "kernels/panel.h"
#include "kernels/x86/panel_factors.h"

SMOL_TARGET_BEGIN("amx-tile,amx-int8,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

#include "kernels/amx/planes.h"
#include "kernels/amx/tile_registers.h"

namespace smol::kernels::x86 {
namespace {

constexpr std::size_t kBlockTokens = 512;
constexpr std::size_t kStretchTokens = 4096;  // by cells: columns that fit the second-level cache
constexpr std::size_t kFewTokens = 20;        // up to as many, vectors are faster

// Integer sums of 16 tokens with a panel's 16 rows, one for each plane.
struct alignas(64) TileSums {
  std::array<std::array<std::int32_t, kPanelRows>, kTileRows> low, high;
};

constexpr std::size_t kTogether = 2;  // panels

using PairSums = std::array<TileSums, kTogether>;

// The sums of the cells of two panels and the columns of 16 tokens. The tiles work on their own:
// between(k) is done meanwhile, for k in [0, kTilesPerCell).
template <class Between>
[[gnu::always_inline]] inline void multiply_tiles(const std::array<Planes, kTogether>& planes,
                                                  const std::int8_t* x, PairSums& out,
                                                  const Between& between) noexcept {
  clear_sum_tiles();
  for (std::size_t k = 0; k < kTilesPerCell; ++k) {
    _tile_loadd(4, x + k * kTileColumns, kColumns);
    _tile_loadd(5, planes[0].low[k].data(), kTileRowBytes);
    _tile_loadd(6, planes[0].high[k].data(), kTileRowBytes);
    _tile_loadd(7, planes[1].low[k].data(), kTileRowBytes);
    _tile_dpbsud(0, 4, 5);
    _tile_loadd(5, planes[1].high[k].data(), kTileRowBytes);
    _tile_dpbssd(1, 4, 6);
    _tile_dpbsud(2, 4, 7);
    _tile_dpbssd(3, 4, 5);
    between(k);
  }
  _tile_stored(0, out[0].low.data(), kTileRowBytes);
  _tile_stored(1, out[0].high.data(), kTileRowBytes);
  _tile_stored(2, out[1].low.data(), kTileRowBytes);
  _tile_stored(3, out[1].high.data(), kTileRowBytes);
}

// The floats of a cell's rows, and what its minima are multiplied with.
template <class Format>
struct CellFloats {
  __m512 d, dmin;
  __m512i pairs[4];

  CellFloats(const typename Format::Cell& cell, const PanelFactors& factors) noexcept
      : d(_mm512_cvtph_ps(load256(cell.d.data()))), dmin(_mm512_setzero_ps()) {
    if constexpr (Format::kMinimum) {
      dmin = _mm512_cvtph_ps(load256(cell.dmin.data()));
      for (std::size_t p = 0; p < 4; ++p) {
        pairs[p] = load512(factors.pairs[p].data());
      }
    }
  }
};

// One token's sum of a cell to its accumulator: acc = fma(dx, fma(-dmin, M, d I), acc), or
// acc = fma(d dx, I, acc). `sums`: of each 32 codes.
template <class Format>
[[gnu::always_inline]] inline __m512 add_cell(const CellFloats<Format>& cell, const TileSums& tile,
                                              std::size_t row, float scale,
                                              const std::int16_t* sums, __m512 acc) noexcept {
  const __m512i high = _mm512_slli_epi32(load512(tile.high[row].data()), Format::kPlaneShift);
  const __m512 total = _mm512_cvtepi32_ps(_mm512_add_epi32(load512(tile.low[row].data()), high));
  const __m512 dx = _mm512_set1_ps(scale);
  if constexpr (Format::kMinimum) {
    __m512i mins = _mm512_setzero_si512();
    for (std::size_t p = 0; p < 4; ++p) {
      mins = _mm512_dpwssd_epi32(mins, cell.pairs[p], _mm512_set1_epi32(load_i32(sums + 2 * p)));
    }
    const __m512 term =
        _mm512_fnmadd_ps(cell.dmin, _mm512_cvtepi32_ps(mins), _mm512_mul_ps(cell.d, total));
    return _mm512_fmadd_ps(dx, term, acc);
  }
  return _mm512_fmadd_ps(_mm512_mul_ps(cell.d, dx), total, acc);
}

// What a block of tokens keeps while two panels pass over a stretch of columns.
struct alignas(64) Workspace {
  std::array<Planes, kTogether> planes;
  std::array<PairSums, 2> sums;
  std::array<std::array<std::array<float, kPanelRows>, kTogether>, kBlockTokens> acc;
  // The last columns of the last tokens, filled up to a whole tile.
  std::array<std::array<std::int8_t, kColumns>, kTileRows> rest;
};

// Tokens [first, first + count) and cells [begin, end) of their columns.
struct Block {
  const Activations& x;
  std::size_t first, count;
  std::size_t begin, end;

  [[nodiscard]] std::size_t at(std::size_t cell) const noexcept {
    return cell * x.n_tokens + first;
  }
};

// Where they end, a tile cannot be filled with what lies behind.
void copy_rest(const Block& block, Workspace& work) noexcept {
  const std::size_t whole = block.count / kTileRows * kTileRows;
  std::memcpy(work.rest.data(), block.x.codes + (block.at(block.end - 1) + whole) * kColumns,
              (block.count - whole) * kColumns);
}

// The columns of 16 tokens from `t`. Of fewer, others follow, whose sums nobody takes.
const std::int8_t* columns_of(const Block& block, const Workspace& work, std::size_t cell,
                              std::size_t t) noexcept {
  static_assert(2 * (kFewTokens + 1) >= kTileRows);  // so it is only the last cell that ends early
  const bool is_rest = t + kTileRows > block.count && cell + 1 == block.end;
  return is_rest ? work.rest[0].data() : block.x.codes + (block.at(cell) + t) * kColumns;
}

// One cell of each panel.
template <class Format>
struct CellPair {
  std::array<CellFloats<Format>, kTogether> floats;
  std::size_t index;
};

// Adds the cells' sums to tokens [tokens.begin, tokens.end) of the block.
template <class Format>
[[gnu::always_inline]] inline void add_tokens(const CellPair<Format>& cells, const PairSums& sums,
                                              const Block& block, RowRange tokens,
                                              Workspace& work) noexcept {
  const float* scales = block.x.scales + block.at(cells.index);
  const std::int16_t* joined = block.x.joined + 8 * block.at(cells.index);
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    for (std::size_t i = 0; i < kTogether; ++i) {
      float* acc = work.acc[t][i].data();
      _mm512_store_ps(acc, add_cell<Format>(cells.floats[i], sums[i], t % kTileRows, scales[t],
                                            joined + 8 * t, _mm512_load_ps(acc)));
    }
  }
}

// The cells of two panels that come next, asked for in parts.
template <class Cell>
class CellsAhead {
 public:
  CellsAhead(const std::array<const Cell*, kTogether>& cells, std::size_t n_parts) noexcept
      : cells_(cells), n_lines_((kLines + n_parts - 1) / n_parts) {}

  // Inlined early: g++ 12 takes a function that only asks for one without effects.
  [[gnu::always_inline]] void ask(std::size_t part) const noexcept {
    const std::size_t end = std::min((part + 1) * n_lines_, kLines);
    for (std::size_t line = part * n_lines_; line < end; ++line) {
      for (const Cell* cell : cells_) {
        _mm_prefetch(reinterpret_cast<const char*>(cell) + line * kLine, _MM_HINT_T1);
      }
    }
  }

 private:
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kLines = (sizeof(Cell) + kLine - 1) / kLine;

  std::array<const Cell*, kTogether> cells_;
  std::size_t n_lines_;  // of each cell
};

template <class Format>
CellFloats<Format> open_cell(const typename Format::Cell& cell, Planes& planes) noexcept {
  PanelFactors factors;
  FactorOps::unpack_factors(cell, factors);
  Format::unpack(cell, factors, planes);
  return {cell, factors};
}

// While the tiles multiply 16 tokens, the sums of those before become floats, one step late: what a
// tile stores can be loaded a while after only.
template <class Format>
void multiply_cells(const CellPair<Format>& cells,
                    const std::array<const typename Format::Cell*, kTogether>& next,
                    const Block& block, Workspace& work) noexcept {
  constexpr std::size_t kShare = kTileRows / kTilesPerCell;
  constexpr std::size_t kLag = kTilesPerCell + 1;
  const auto add_share = [&](std::size_t step) {
    if (step >= kLag) {
      const std::size_t begin = std::min((step - kLag) * kShare, block.count);
      add_tokens<Format>(cells, work.sums[begin / kTileRows % 2], block,
                         {begin, std::min(begin + kShare, block.count)}, work);
    }
  };
  const CellsAhead ahead(next, kTilesPerCell * (block.count > kTileRows ? 2 : 1));
  std::size_t step = 0;
  for (std::size_t t = 0; t < block.count; t += kTileRows) {
    const std::int8_t* x = columns_of(block, work, cells.index, t);
    multiply_tiles(work.planes, x, work.sums[t / kTileRows % 2], [&](std::size_t k) {
      const std::int8_t* following = x + (kTileRows + k * kTileColumns / kTileRows) * kColumns;
      for (std::size_t line = 0; line < kTileRows; ++line) {
        __builtin_prefetch(following + line * kTileRowBytes);
      }
      ahead.ask(step + k);
      add_share(step + k);
    });
    step += kTilesPerCell;
  }
  for (std::size_t late = 0; late < kLag; ++late) {
    add_share(step + late);
  }
}

// Two panels, and the columns of y that they give. Where there is only one, it stands for both and
// gives its columns once.
struct PanelPair {
  std::array<const std::byte*, kTogether> panels;
  float* y;  // of the first row and the block's first token
  std::size_t y_stride;
  std::array<__mmask16, kTogether> rows;

  PanelPair(const Matrix& w, float* columns, std::size_t stride, RowRange range) noexcept
      : y(columns + range.begin), y_stride(stride) {
    for (std::size_t i = 0; i < kTogether; ++i) {
      const std::size_t row = range.begin + i * kPanelRows;
      const std::size_t count = row < range.end ? std::min(kPanelRows, range.end - row) : 0;
      panels[i] = w.data + (count > 0 ? row : range.begin) / kPanelRows * panel_bytes(w.row_bytes);
      rows[i] = static_cast<__mmask16>((1U << count) - 1);
    }
  }

  template <class Cell>
  [[nodiscard]] std::array<const Cell*, kTogether> cells(std::size_t index) const noexcept {
    return {reinterpret_cast<const Cell*>(panels[0]) + index,
            reinterpret_cast<const Cell*>(panels[1]) + index};
  }
};

void load_sums(const PanelPair& pair, const Block& block, Workspace& work) noexcept {
  for (std::size_t t = 0; t < block.count; ++t) {
    const float* y = pair.y + t * pair.y_stride;
    for (std::size_t i = 0; i < kTogether; ++i) {
      _mm512_store_ps(work.acc[t][i].data(),
                      block.begin == 0 ? _mm512_setzero_ps()
                                       : _mm512_maskz_loadu_ps(pair.rows[i], y + i * kPanelRows));
    }
  }
}

void store_sums(const PanelPair& pair, const Block& block, const Workspace& work) noexcept {
  for (std::size_t t = 0; t < block.count; ++t) {
    float* y = pair.y + t * pair.y_stride;
    for (std::size_t i = 0; i < kTogether; ++i) {
      _mm512_mask_storeu_ps(y + i * kPanelRows, pair.rows[i],
                            _mm512_load_ps(work.acc[t][i].data()));
    }
  }
}

template <class Format>
void multiply_pair(const PanelPair& pair, const PanelPair& next, const Block& block,
                   Workspace& work) noexcept {
  using Cell = typename Format::Cell;
  load_sums(pair, block, work);
  for (std::size_t index = block.begin; index < block.end; ++index) {
    const auto now = pair.cells<Cell>(index);
    const CellPair<Format> cells{
        {open_cell<Format>(*now[0], work.planes[0]), open_cell<Format>(*now[1], work.planes[1])},
        index};
    finish_writes();
    const bool is_last = index + 1 == block.end;
    multiply_cells(cells, is_last ? next.cells<Cell>(block.begin) : pair.cells<Cell>(index + 1),
                   block, work);
  }
  store_sums(pair, block, work);
}

template <class Format>
void multiply_block(const Matrix& w, const Block& block, float* y, std::size_t y_stride,
                    RowRange rows, Workspace& work) noexcept {
  copy_rest(block, work);
  constexpr std::size_t kPairRows = kTogether * kPanelRows;
  const auto pair_at = [&](std::size_t row) {
    return PanelPair(w, y + block.first * y_stride, y_stride, {row, rows.end});
  };
  for (std::size_t row = rows.begin; row < rows.end; row += kPairRows) {
    const bool is_last = row + kPairRows >= rows.end;
    multiply_pair<Format>(pair_at(row), pair_at(is_last ? row : row + kPairRows), block, work);
  }
}

template <class Format>
void multiply_blocks(const Matrix& w, const Activations& x, float* y, std::size_t y_stride,
                     RowRange rows) noexcept {
  const TileRegisters registers;
  Workspace work;
  const std::size_t n_cells = x.n_cols / kColumns;
  for (std::size_t t = 0; t < x.n_tokens; t += kBlockTokens) {
    const std::size_t count = std::min(kBlockTokens, x.n_tokens - t);
    const std::size_t stretch = kStretchTokens / count;
    for (std::size_t cell = 0; cell < n_cells; cell += stretch) {
      const Block block{x, t, count, cell, std::min(cell + stretch, n_cells)};
      multiply_block<Format>(w, block, y, y_stride, rows, work);
    }
  }
}

template <class Format, gguf::DType kType>
void multiply(const Matrix& w, const Activations& x, float* y, std::size_t y_stride,
              RowRange rows) noexcept {
  if (x.n_tokens <= kFewTokens) {
    avx512::matmul_panels(kType)(w, x, y, y_stride, rows);
  } else {
    multiply_blocks<Format>(w, x, y, y_stride, rows);
  }
}

}  // namespace
}  // namespace smol::kernels::x86

SMOL_TARGET_END

namespace smol::kernels::amx {

MatMul matmul_panels(gguf::DType weights) noexcept {
  using gguf::DType;
  switch (weights) {
    case DType::Q4_K:
      return x86::multiply<x86::Q4KProducts, DType::Q4_K>;
    case DType::Q6_K:
      return x86::multiply<x86::Q6KProducts, DType::Q6_K>;
    default:
      return nullptr;
  }
}

}  // namespace smol::kernels::amx

#include "kernels/panel.h"

#include <algorithm>
#include <cstring>

#include "gguf/dequantize.h"
#include "kernels/panel_cells.h"

namespace smol::kernels {
namespace {

template <class Cell>
void pack_cells(std::span<const std::byte> rows, std::size_t row_bytes, std::byte* panel) noexcept {
  using Block = typename Cell::Block;
  const std::size_t n_rows = rows.size() / row_bytes;
  for (std::size_t b = 0; b < row_bytes / sizeof(Block); ++b) {
    Cell cell{};
    for (std::size_t r = 0; r < n_rows; ++r) {
      Block block;
      std::memcpy(&block, rows.data() + r * row_bytes + b * sizeof(Block), sizeof(Block));
      put_block(cell, r, block);
    }
    std::memcpy(panel + b * sizeof(Cell), &cell, sizeof(Cell));
  }
}

template <class Cell>
void gather_from_cells(const std::byte* panel, std::size_t row, std::span<float> out) noexcept {
  using Block = typename Cell::Block;
  const std::size_t n = gguf::traits(Block::kDType).block_elements;
  for (std::size_t b = 0; b < out.size() / n; ++b) {
    Cell cell;
    std::memcpy(&cell, panel + b * sizeof(Cell), sizeof(Cell));
    const Block block = block_of(cell, row);
    gguf::dequantize(Block::kDType, std::as_bytes(std::span(&block, 1)), out.subspan(b * n, n));
  }
}

struct PanelFunctions {
  void (*pack)(std::span<const std::byte> rows, std::size_t row_bytes, std::byte* panel) noexcept;
  void (*gather)(const std::byte* panel, std::size_t row, std::span<float> out) noexcept;
};

template <class Cell>
const PanelFunctions* functions() noexcept {
  static constexpr PanelFunctions kFunctions{pack_cells<Cell>, gather_from_cells<Cell>};
  return &kFunctions;
}

// nullptr for types that lie in rows.
const PanelFunctions* functions_of(gguf::DType dtype) noexcept {
  using gguf::DType;
  switch (dtype) {
    case DType::Q4_K:
      return functions<CellQ4K>();
    case DType::Q6_K:
      return functions<CellQ6K>();
    case DType::Q8_0:
      return functions<CellQ80>();
    case DType::Q4_0:
      return functions<CellQ40>();
    case DType::Q4_1:
      return functions<CellQ41>();
    case DType::Q5_0:
      return functions<CellQ50>();
    default:
      return nullptr;
  }
}

}  // namespace

bool has_panels(gguf::DType dtype) noexcept {
  return functions_of(dtype) != nullptr;
}

std::size_t matrix_bytes(gguf::DType dtype, std::size_t n_rows, std::size_t row_bytes) noexcept {
  if (!has_panels(dtype)) {
    return n_rows * row_bytes;
  }
  return (n_rows + kPanelRows - 1) / kPanelRows * panel_bytes(row_bytes);
}

void pack_panel(gguf::DType dtype, std::span<const std::byte> rows, std::size_t row_bytes,
                std::byte* panel) noexcept {
  functions_of(dtype)->pack(rows, row_bytes, panel);
  const std::size_t used = kPanelRows * row_bytes;
  std::fill(panel + used, panel + panel_bytes(row_bytes), std::byte{});
}

void gather_row(const Matrix& matrix, std::size_t row, std::span<float> out) noexcept {
  const PanelFunctions* panels = functions_of(matrix.dtype);
  if (panels == nullptr) {
    const std::span bytes(matrix.data + row * matrix.row_bytes, matrix.row_bytes);
    gguf::dequantize(matrix.dtype, bytes, out);
    return;
  }
  const std::byte* panel = matrix.data + row / kPanelRows * panel_bytes(matrix.row_bytes);
  panels->gather(panel, row % kPanelRows, out);
}

}  // namespace smol::kernels

// Panels: the order in which weights of the common types lie in memory. 16 rows of a matrix form a
// panel; a panel is a sequence of cells, one for each block of columns (256 for Q4_K and Q6_K, 32
// for Q8_0, Q4_0, Q4_1 and Q5_0), each holding the 16 blocks of its rows with their 4-byte groups
// interleaved: one vector load gives four columns of every row, and one row is one lane. A cell has
// the bytes of its blocks and nothing else, so a matrix keeps its size but for the end of its last
// panel, which zero rows fill. The cells stand in panel_cells.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gguf/dtype.h"
#include "kernels/kernel_table.h"

namespace smol::kernels {

inline constexpr std::size_t kPanelRows = 16;
// Every panel begins at a multiple of this, and so must the first.
inline constexpr std::size_t kPanelAlignment = 64;

// Raised with every change to where a byte lies, so that panels on disk are packed anew.
inline constexpr std::uint64_t kPanelLayout = 1;

// Whether matrices of a type lie in panels; the others lie in rows, as in the file.
bool has_panels(gguf::DType dtype) noexcept;

// From one panel to the next, for rows of `row_bytes` in the file.
constexpr std::size_t panel_bytes(std::size_t row_bytes) noexcept {
  return (kPanelRows * row_bytes + kPanelAlignment - 1) / kPanelAlignment * kPanelAlignment;
}

// Bytes of a matrix as the kernels want it: panels where the type has them, otherwise rows.
std::size_t matrix_bytes(gguf::DType dtype, std::size_t n_rows, std::size_t row_bytes) noexcept;

// Source rows (1 to 16, each of `row_bytes`, as in the file) -> one panel of panel_bytes(row_bytes)
// bytes, rows that are missing as zeros. Requires has_panels(dtype).
void pack_panel(gguf::DType dtype, std::span<const std::byte> rows, std::size_t row_bytes,
                std::byte* panel) noexcept;

// One row of a matrix of any type as floats [n_cols]: the embedding of a token.
void gather_row(const Matrix& matrix, std::size_t row, std::span<float> out) noexcept;

}  // namespace smol::kernels

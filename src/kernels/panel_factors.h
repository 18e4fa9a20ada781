// What the 16 rows of a cell of 256 columns have besides their codes, made ready for vectors.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/panel_cells.h"

namespace smol::kernels {

struct alignas(64) PanelFactors {
  // One byte of each row for each scale; Q6_K's are signed and stay in the cell.
  std::array<CellScales, 8> scales;
  // What the sums of two neighbouring groups are multiplied with: the pair of row r at 2r, 2r + 1.
  // Q4_K: four pairs of minima (sums of 32); Q6_K: eight pairs of scales (sums of 16).
  std::array<std::array<std::int16_t, 32>, 8> pairs;
};

}  // namespace smol::kernels

// Products of panels with sdot, one token at a time.
#include <algorithm>
#include <arm_neon.h>
#include <array>
#include <cstring>
#include <utility>

#include "kernels/neon/ops.h"
#include "kernels/panel.h"
#include "kernels/panel_factors.h"
#include "kernels/target_region.h"

SMOL_TARGET_BEGIN("arch=armv8.2-a+dotprod")

#include "kernels/neon/panel_ops.h"
#include "kernels/panel_formats.h"
#include "kernels/panel_products.h"

SMOL_TARGET_END

namespace smol::kernels::neon {

MatMul matmul_panels(gguf::DType weights) noexcept {
  return panel_products<NeonOps>(weights);
}

}  // namespace smol::kernels::neon

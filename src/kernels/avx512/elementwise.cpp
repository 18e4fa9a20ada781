// SwiGLU.
#include "kernels/avx2/ops.h"
#include "kernels/avx512/math.h"
#include "kernels/avx512/ops.h"

namespace smol::kernels::avx512 {

SMOL_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

void swiglu(std::span<const float> gate, std::span<const float> up, std::span<float> y) noexcept {
  std::size_t i = 0;
  for (; i + kLanes <= y.size(); i += kLanes) {
    const __m512 gated = avx512::silu(_mm512_loadu_ps(gate.data() + i));
    _mm512_storeu_ps(y.data() + i, _mm512_mul_ps(gated, _mm512_loadu_ps(up.data() + i)));
  }
  avx2::swiglu(gate.subspan(i), up.subspan(i), y.subspan(i));
}

SMOL_TARGET_END

}  // namespace smol::kernels::avx512

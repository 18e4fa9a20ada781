// Attention over a cache of int8 with vpdpbusd on 512 bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "kernels/avx512/math.h"
#include "kernels/avx512/ops.h"
#include "kernels/kv_tile.h"
#include "kernels/run_walk.h"
#include "kernels/x86/vectors.h"

SMOL_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

#include "kernels/avx512/attention_ops.h"
#include "kernels/x86/attention_int8.h"

SMOL_TARGET_END

namespace smol::kernels::avx512 {

void attend_int8(const KvRuns& run, const Queries& queries, Partial* out) noexcept {
  x86::attend_int8<x86::Avx512AttentionOps>(run, queries, out);
}

}  // namespace smol::kernels::avx512

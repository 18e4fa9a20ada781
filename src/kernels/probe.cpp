#include "kernels/probe.h"

#include <array>

namespace smol::kernels {

const Probe& probe_of(std::string_view isa) noexcept {
#if defined(__x86_64__)
  const std::array probes{&amx_probe(), &avx512_probe(), &avxvnni_probe(), &avx2_probe()};
#else
  const std::array<const Probe*, 0> probes{};
#endif
  for (const Probe* probe : probes) {
    if (probe->isa == isa) {
      return *probe;
    }
  }
  return scalar_probe();
}

}  // namespace smol::kernels

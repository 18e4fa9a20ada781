#include "base/tile_state.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace smol {

bool request_tile_state() noexcept {
#if defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace smol

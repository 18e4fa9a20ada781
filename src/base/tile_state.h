// The state of AMX's tile registers, which Linux keeps only for processes that ask
// (Documentation/arch/x86/xstate.rst).
#pragma once

namespace smol {

// Whether this process may use tiles, now and in all its threads.
bool request_tile_state() noexcept;

}  // namespace smol

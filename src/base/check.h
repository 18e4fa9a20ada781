// SMOL_CHECK(cond): a bug in this program, never reachable from input. On in every build.
#pragma once

namespace smol {

// Prints the condition with its place and aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace smol

#define SMOL_CHECK(cond) \
  ((cond) ? static_cast<void>(0) : ::smol::check_failed(#cond, __FILE__, __LINE__))

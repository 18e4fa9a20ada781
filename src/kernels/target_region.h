// Code for one instruction set inside a translation unit of the base set. After all includes:
//   SMOL_TARGET_BEGIN("avx2,fma,f16c")
//   ...
//   SMOL_TARGET_END
// Compiler flags like -mavx2 would also compile the standard library's inline functions for that
// set, and the linker may then pick those copies for the whole program; a region does not.
#pragma once

#define SMOL_PRAGMA(text) _Pragma(#text)

#if defined(SMOL_EMULATED_ISA)
// Tests run the code through an emulation of its intrinsics: nothing may be compiled for the real
// set.
#define SMOL_TARGET_BEGIN(isa)
#define SMOL_TARGET_END
#elif defined(__clang__)
#define SMOL_TARGET_BEGIN(isa) \
  SMOL_PRAGMA(clang attribute push(__attribute__((target(isa))), apply_to = function))
#define SMOL_TARGET_END SMOL_PRAGMA(clang attribute pop)
#else
#define SMOL_TARGET_BEGIN(isa)  \
  SMOL_PRAGMA(GCC push_options) \
  SMOL_PRAGMA(GCC target(isa))
#define SMOL_TARGET_END SMOL_PRAGMA(GCC pop_options)
#endif

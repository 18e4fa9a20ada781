# Compiler flags of every target: warnings as errors, sanitizers by preset, and one arithmetic.
add_library(smol_flags INTERFACE)
target_compile_features(smol_flags INTERFACE cxx_std_20)
target_compile_options(smol_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor -Werror
  # Fused multiply-adds are written out: contraction would round GEMV and GEMM differently.
  -ffp-contract=off -fno-omit-frame-pointer)
# g++ 12 sees overlapping copies in its own std::string, and overflows in its own std::vector, when it optimizes
# code that has neither; the sanitizers of the dev build look for real ones.
target_compile_options(smol_flags INTERFACE
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>")
target_include_directories(smol_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)

set(SMOL_SANITIZE "" CACHE STRING "sanitizers, as -fsanitize= takes them")
option(SMOL_FUZZ "build the libFuzzer targets" OFF)
if(SMOL_SANITIZE)
  target_compile_options(smol_flags INTERFACE -fsanitize=${SMOL_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(smol_flags INTERFACE -fsanitize=${SMOL_SANITIZE})
  # What AddressSanitizer finds as well; a fifth of the compile time.
  target_compile_options(smol_flags INTERFACE -fno-sanitize=null,vptr,object-size)
  # clang 14 cannot place what its sanitizer of function pointers needs where a coroutine is cut.
  target_compile_options(smol_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  # g++ 12 reports uninitialized values in its own library code under the sanitizers.
  target_compile_options(smol_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(SMOL_FUZZ)
  target_compile_options(smol_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1")

// What this process holds in memory.
#pragma once

#include <cstdint>

namespace smol {

// Bytes of memory that the program holds now (Linux: resident set); 0 where the system does not
// say.
std::uint64_t resident_bytes();

}  // namespace smol

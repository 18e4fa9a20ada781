#include "base/resident_memory.h"

#include <fstream>
#include <string>

namespace smol {

std::uint64_t resident_bytes() {
  constexpr std::uint64_t kUnit = 1024;
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::uint64_t size = 0;
    if (word == "VmRSS:" && status >> size) {
      return size * kUnit;
    }
  }
  return 0;
}

}  // namespace smol

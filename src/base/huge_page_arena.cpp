#include "base/huge_page_arena.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <sys/mman.h>

#include "base/error.h"

namespace smol {

namespace {

constexpr int kProtection = PROT_READ | PROT_WRITE;
constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
// In the kernel since 6.1; Debian 12's headers do not name it.
constexpr int kCollapse = 25;

[[noreturn]] void fail(std::size_t size_bytes) {
  throw Error(ErrorCode::Exhausted,
              "memory: " + std::to_string(size_bytes) + " bytes cannot be reserved");
}

std::uintptr_t address_of(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

std::size_t whole_pages(std::size_t size_bytes) noexcept {
  constexpr std::size_t kMask = HugePageArena::kAlignment - 1;
  return (size_bytes + kMask) & ~kMask;
}

struct Addresses {
  std::uintptr_t begin = 0, end = 0;
};

// "7f0000000000-7f0000200000 rw-p ..."; nothing where the line begins otherwise.
Addresses mapping_of(const std::string& line) {
  std::istringstream words(line);
  Addresses found;
  char dash = '\0';
  if (words >> std::hex >> found.begin >> dash >> found.end && dash == '-') {
    return found;
  }
  return {};
}

}  // namespace

HugePageArena::HugePageArena(std::size_t size_bytes) : size_(size_bytes) {
  if (size_bytes == 0) {
    return;
  }
  if (size_bytes > std::numeric_limits<std::size_t>::max() / 2) {
    fail(size_bytes);
  }
  const std::size_t kept = whole_pages(size_bytes);
  void* mapped = mmap(nullptr, kept + kAlignment, kProtection, kFlags, -1, 0);
  if (mapped == MAP_FAILED) {
    fail(size_bytes);
  }
  // The parts before and after the aligned piece go back.
  auto* start = static_cast<std::byte*>(mapped);
  const std::size_t before = (kAlignment - address_of(start) % kAlignment) % kAlignment;
  data_ = start + before;
  if (before > 0) {
    munmap(start, before);
  }
  munmap(data_ + kept, kAlignment - before);
  madvise(data_, kept, MADV_HUGEPAGE);  // refused: small pages
}

HugePageArena::~HugePageArena() {
  if (data_ != nullptr) {
    munmap(data_, whole_pages(size_));
  }
}

void HugePageArena::collapse() noexcept {
  if (data_ != nullptr) {
    madvise(data_, whole_pages(size_), kCollapse);  // refused: they stay as they are
  }
}

std::size_t huge_page_bytes(std::span<const std::byte> memory) {
  constexpr std::size_t kKibi = 1024;
  const Addresses own{address_of(memory.data()), address_of(memory.data()) + memory.size()};
  std::ifstream smaps("/proc/self/smaps");
  std::size_t bytes = 0;
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    const Addresses mapping = mapping_of(line);
    if (mapping.end != 0) {
      inside = mapping.begin < own.end && own.begin < mapping.end;
    }
    std::istringstream words(line);
    std::string key;
    std::size_t kibibytes = 0;
    if (inside && words >> key >> kibibytes &&
        (key == "AnonHugePages:" || key == "FilePmdMapped:")) {
      bytes += kibibytes * kKibi;
    }
  }
  return std::min(bytes, memory.size());
}

}  // namespace smol

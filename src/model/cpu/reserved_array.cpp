#include "model/cpu/reserved_array.h"

#include <string>
#include <sys/mman.h>

#include "base/error.h"

namespace smol::model {

ReservedBytes::ReservedBytes(std::size_t size_bytes) : size_(size_bytes) {
  if (size_bytes == 0) {
    return;
  }
  void* pages = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    throw Error(ErrorCode::Exhausted,
                "memory: " + std::to_string(size_bytes) + " bytes cannot be reserved");
  }
  data_ = static_cast<std::byte*>(pages);
}

ReservedBytes::~ReservedBytes() {
  if (data_ != nullptr) {
    munmap(data_, size_);
  }
}

}  // namespace smol::model

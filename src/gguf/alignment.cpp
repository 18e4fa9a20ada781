#include "gguf/alignment.h"

#include <string>
#include <string_view>

#include "base/error.h"

namespace smol::gguf {

std::uint64_t alignment_of(const Metadata& metadata) {
  constexpr std::string_view kKey = "general.alignment";
  constexpr std::uint64_t kDefault = 32;
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 32U;
  const std::uint64_t alignment = metadata.unsigned_integer(kKey).value_or(kDefault);
  if (alignment == 0 || alignment % 8 != 0 || alignment > kLargest) {
    const std::string file = metadata.source().empty() ? "" : metadata.source() + ": ";
    throw Error(ErrorCode::BadInput, file + std::string(kKey) +
                                         ": expected a multiple of 8 from 8 to 2^32, found " +
                                         std::to_string(alignment));
  }
  return alignment;
}

}  // namespace smol::gguf

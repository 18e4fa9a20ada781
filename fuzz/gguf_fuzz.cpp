// Any bytes as a GGUF file: either an Error, or every value and the first block of every tensor can
// be read.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "gguf/dequantize.h"
#include "gguf/file.h"
#include "gguf/printable.h"

namespace {

using smol::gguf::Metadata;
using smol::gguf::TensorView;

// Touches every byte of a string, so that a wrong view is seen by the sanitizer.
std::size_t touch(std::string_view text) {
  return smol::gguf::printable(text, text.size()).size();
}

template <typename Access>
std::size_t tolerate(Access access) {
  try {
    return access().has_value() ? 1 : 0;
  } catch (const smol::Error&) {
    return 0;
  }
}

std::size_t walk(const Metadata& metadata) {
  std::size_t seen = 0;
  for (const auto& [key, value] : metadata.entries()) {
    seen += touch(key) + touch(type_name(value));
    seen += tolerate([&, k = key] { return metadata.integer(k); });
    seen += tolerate([&, k = key] { return metadata.unsigned_integer(k); });
    seen += tolerate([&, k = key] { return metadata.number(k); });
    seen += tolerate([&, k = key] { return metadata.boolean(k); });
    seen += tolerate([&, k = key] { return metadata.integers(k); });
    seen += tolerate([&, k = key] { return metadata.numbers(k); });
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      seen += touch(*text);
    }
    if (tolerate([&, k = key] { return metadata.strings(k); }) != 0) {
      for (const std::string_view text : *metadata.strings(key)) {
        seen += touch(text);
      }
    }
  }
  return seen;
}

void read_first_block(const TensorView& tensor) {
  const smol::gguf::DTypeTraits& type = smol::gguf::traits(tensor.dtype);
  std::vector<float> values(type.block_elements);
  smol::gguf::dequantize(tensor.dtype, tensor.bytes.first(type.block_bytes), values);
  volatile std::byte last = tensor.bytes.back();
  static_cast<void>(last);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = smol::gguf::File::parse(std::as_bytes(std::span(data, size)), "fuzz");
    walk(file.metadata());
    for (const TensorView& tensor : file.tensors()) {
      if (file.find(tensor.name) != &tensor) {
        __builtin_trap();
      }
      read_first_block(tensor);
    }
  } catch (const smol::Error&) {
    return 0;
  }
  return 0;
}

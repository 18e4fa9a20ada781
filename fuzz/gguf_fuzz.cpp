// Any bytes as a GGUF file: either an Error, or every value and the first block of every tensor can
// be read.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
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

// Every typed access; how many of them succeed.
std::size_t read_as_all_types(const Metadata& metadata, std::string_view key) {
  std::size_t seen = tolerate([&] { return metadata.integer(key); });
  seen += tolerate([&] { return metadata.unsigned_integer(key); });
  seen += tolerate([&] { return metadata.number(key); });
  seen += tolerate([&] { return metadata.boolean(key); });
  seen += tolerate([&] { return metadata.string(key); });
  seen += tolerate([&] { return metadata.strings(key); });
  seen += tolerate([&] { return metadata.integers(key); });
  return seen + tolerate([&] { return metadata.numbers(key); });
}

std::size_t walk(const Metadata& metadata) {
  std::size_t seen = 0;
  for (const Metadata::Entry& entry : metadata.entries()) {
    seen += touch(entry.first) + touch(smol::gguf::type_name(entry.second));
    seen += read_as_all_types(metadata, entry.first);
    if (const auto* text = std::get_if<std::string_view>(&entry.second)) {
      seen += touch(*text);
    }
    const auto* array = std::get_if<smol::gguf::Array>(&entry.second);
    const auto* strings =
        array == nullptr ? nullptr : std::get_if<std::vector<std::string_view>>(array);
    for (std::size_t i = 0; strings != nullptr && i < strings->size(); ++i) {
      seen += touch((*strings)[i]);
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

#include <cstring>
#include <string_view>
#include <type_traits>
#include <variant>

#include "gguf/alignment.h"
#include "gguf/writer.h"

namespace smol::gguf {
namespace {

constexpr std::uint32_t kVersion = 3;
constexpr std::uint32_t kArrayType = 9;

class Bytes {
 public:
  template <typename T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }

  void value(std::string_view text) {
    number(static_cast<std::uint64_t>(text.size()));
    raw(text);
  }

  void value(bool truth) { number(static_cast<std::uint8_t>(truth ? 1 : 0)); }

  template <typename T>
  void value(T arithmetic) {
    number(arithmetic);
  }

  void raw(std::string_view text) {
    for (const char character : text) {
      bytes_.push_back(static_cast<std::byte>(character));
    }
  }

  void pad(std::uint64_t alignment) {
    bytes_.resize(bytes_.size() + padding_after(bytes_.size(), alignment));
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

void write_array(Bytes& out, const Array& array) {
  // Ids of element types are those of values: the array itself is left out of the variant.
  const auto index = static_cast<std::uint32_t>(array.index());
  out.number(index < kArrayType ? index : index + 1);
  std::visit(
      [&](const auto& elements) {
        using Element = typename std::decay_t<decltype(elements)>::value_type;
        out.number(static_cast<std::uint64_t>(elements.size()));
        for (const Element element : elements) {
          out.value(element);
        }
      },
      array);
}

void write_entry(Bytes& out, const Metadata::Entry& entry) {
  out.value(entry.first);
  out.number(static_cast<std::uint32_t>(entry.second.index()));
  std::visit(
      [&](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, Array>) {
          write_array(out, held);
        } else {
          out.value(held);
        }
      },
      entry.second);
}

}  // namespace

std::uint64_t TensorSpec::size_bytes() const noexcept {
  const DTypeTraits& type = traits(dtype);
  std::uint64_t size = shape.back() / type.block_elements * type.block_bytes;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    size *= shape[axis];
  }
  return size;
}

std::vector<std::byte> serialize_header(std::span<const Metadata::Entry> metadata,
                                        std::span<const TensorSpec> tensors) {
  const std::uint64_t alignment = alignment_of(Metadata({metadata.begin(), metadata.end()}));
  Bytes out;
  out.raw("GGUF");
  out.number(kVersion);
  out.number(static_cast<std::uint64_t>(tensors.size()));
  out.number(static_cast<std::uint64_t>(metadata.size()));
  for (const Metadata::Entry& entry : metadata) {
    write_entry(out, entry);
  }
  std::uint64_t offset = 0;
  for (const TensorSpec& tensor : tensors) {
    out.value(std::string_view(tensor.name));
    out.number(static_cast<std::uint32_t>(tensor.shape.size()));
    for (std::size_t axis = tensor.shape.size(); axis-- > 0;) {
      out.number(static_cast<std::uint64_t>(tensor.shape[axis]));
    }
    out.number(static_cast<std::uint32_t>(tensor.dtype));
    out.number(offset);
    offset += tensor.size_bytes() + padding_after(tensor.size_bytes(), alignment);
  }
  out.pad(alignment);
  return out.take();
}

}  // namespace smol::gguf

// A GGUF file put together from raw pieces, so that each field can be given a wrong value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smol::test {

template <typename T>
std::string raw(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

inline std::string raw_string(std::string_view text) {
  return raw(std::uint64_t{text.size()}) + std::string(text);
}

inline std::string raw_pair(std::string_view key, std::uint32_t type, std::string_view value) {
  return raw_string(key) + raw(type) + std::string(value);
}

inline std::string raw_array(std::string_view key, std::uint32_t element_type, std::uint64_t count,
                             std::string_view elements) {
  return raw_pair(key, 9, raw(element_type) + raw(count) + std::string(elements));
}

// `axes` in the file's order: the contiguous one first.
inline std::string raw_tensor(std::string_view name, std::initializer_list<std::uint64_t> axes,
                              std::uint32_t type, std::uint64_t offset) {
  std::string bytes = raw_string(name) + raw(static_cast<std::uint32_t>(axes.size()));
  for (const std::uint64_t axis : axes) {
    bytes += raw(axis);
  }
  return bytes + raw(type) + raw(offset);
}

struct RawGguf {
  std::string magic = "GGUF";
  std::uint32_t version = 3;
  std::optional<std::uint64_t> n_tensors, n_pairs;  // those of the lists unless given
  std::vector<std::string> pairs, tensors;
  std::size_t alignment = 32;  // of the padding before the data
  std::string data;

  std::string bytes() const {
    std::string out = magic + raw(version) + raw(n_tensors.value_or(tensors.size())) +
                      raw(n_pairs.value_or(pairs.size()));
    for (const std::string& pair : pairs) {
      out += pair;
    }
    for (const std::string& tensor : tensors) {
      out += tensor;
    }
    out.resize((out.size() + alignment - 1) / alignment * alignment);
    return out + data;
  }
};

}  // namespace smol::test

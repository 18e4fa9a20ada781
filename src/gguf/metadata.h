// Key-value metadata of a GGUF file, typed at the door. Strings are views into the file's bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace smol::gguf {

// One type per array, as the format has it. Integers keep their width and sign.
using Array =
    std::variant<std::vector<std::uint8_t>, std::vector<std::int8_t>, std::vector<std::uint16_t>,
                 std::vector<std::int16_t>, std::vector<std::uint32_t>, std::vector<std::int32_t>,
                 std::vector<float>, std::vector<bool>, std::vector<std::string_view>,
                 std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>>;

using MetadataValue = std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                                   std::uint32_t, std::int32_t, float, bool, std::string_view,
                                   Array, std::uint64_t, std::int64_t, double>;

class Metadata {
 public:
  // In file order; keys are unique (the reader proves it).
  using Entry = std::pair<std::string_view, MetadataValue>;

  Metadata() = default;
  // `source` (the file's name) stands before the key in messages.
  explicit Metadata(std::vector<Entry> entries, std::string source = {});

  std::span<const Entry> entries() const noexcept { return entries_; }

  // The file's name, or empty.
  const std::string& source() const noexcept { return source_; }

  // nullptr: no such key.
  const MetadataValue* find(std::string_view key) const noexcept;

  // Typed access. nullopt: no such key. Throws Error{BadInput} naming key, expected and found type
  // when the key has another type. Any integer width is accepted where the value fits; `number`
  // also takes integers and both float widths.
  std::optional<std::uint64_t> unsigned_integer(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string_view> string(std::string_view key) const;
  // Arrays: empty optional when absent.
  std::optional<std::span<const std::string_view>> strings(std::string_view key) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view key) const;
  std::optional<std::vector<double>> numbers(std::string_view key) const;

 private:
  template <typename T, typename Convert>
  std::optional<T> get(std::string_view key, std::string_view expected, Convert convert) const;
  // "FILE: KEY: "
  std::string prefix(std::string_view key) const;

  std::vector<Entry> entries_;
  std::string source_;
};

// "u32", "string", "array of i32" ...: for messages and reports.
std::string type_name(const MetadataValue& value);

}  // namespace smol::gguf

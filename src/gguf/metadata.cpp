#include "gguf/metadata.h"

#include <array>
#include <concepts>
#include <type_traits>

#include "base/error.h"
#include "gguf/printable.h"

namespace smol::gguf {
namespace {

template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

constexpr std::array<std::string_view, 13> kTypeNames{
    "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64"};

// The format's id of an array's element type: as those of values, without the array itself.
std::size_t element_type(const Array& array) noexcept {
  return array.index() < 9 ? array.index() : array.index() + 1;
}

// nullopt where the value does not fit.
template <typename To, typename From>
std::optional<To> narrow(From value) noexcept {
  return std::in_range<To>(value) ? std::optional(static_cast<To>(value)) : std::nullopt;
}

template <typename To>
struct ToInteger {
  std::optional<To> operator()(const MetadataValue& value) const {
    return std::visit(
        [](const auto& held) -> std::optional<To> {
          using From = std::decay_t<decltype(held)>;
          if constexpr (Integer<From>) {
            return narrow<To>(held);
          } else {
            return std::nullopt;
          }
        },
        value);
  }
};

std::optional<double> to_number(const MetadataValue& value) {
  return std::visit(
      [](const auto& held) -> std::optional<double> {
        using From = std::decay_t<decltype(held)>;
        if constexpr (Integer<From> || std::floating_point<From>) {
          return static_cast<double>(held);
        } else {
          return std::nullopt;
        }
      },
      value);
}

template <typename T>
std::optional<T> exactly(const MetadataValue& value) {
  const T* held = std::get_if<T>(&value);
  return held == nullptr ? std::nullopt : std::optional<T>(*held);
}

// Each element of an integer (or, for doubles, any number) array, or nullopt.
template <typename To, typename From>
std::optional<std::vector<To>> convert_elements(const std::vector<From>& from) {
  std::vector<To> result;
  result.reserve(from.size());
  for (const From element : from) {
    if constexpr (!std::floating_point<To>) {
      if (!std::in_range<To>(element)) {
        return std::nullopt;
      }
    }
    result.push_back(static_cast<To>(element));
  }
  return result;
}

template <typename To>
std::optional<std::vector<To>> to_vector(const MetadataValue& value) {
  const Array* array = std::get_if<Array>(&value);
  if (array == nullptr) {
    return std::nullopt;
  }
  return std::visit(
      [](const auto& held) -> std::optional<std::vector<To>> {
        using From = typename std::decay_t<decltype(held)>::value_type;
        constexpr bool kFloats = std::floating_point<To> && std::floating_point<From>;
        if constexpr (Integer<From> || kFloats) {
          return convert_elements<To, From>(held);
        } else {
          return std::nullopt;
        }
      },
      *array);
}

std::string describe(const MetadataValue& value) {
  std::string type = type_name(value);
  return std::visit(
      [&](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (Integer<Held>) {
          return type + " " + std::to_string(held);
        } else if constexpr (std::same_as<Held, std::string_view>) {
          return type + " \"" + printable(held) + "\"";
        } else {
          return type;
        }
      },
      value);
}

}  // namespace

std::string type_name(const MetadataValue& value) {
  if (const Array* array = std::get_if<Array>(&value)) {
    return "array of " + std::string(kTypeNames[element_type(*array)]);
  }
  return std::string(kTypeNames[value.index()]);
}

Metadata::Metadata(std::vector<Entry> entries, std::string source)
    : entries_(std::move(entries)), source_(std::move(source)) {}

const MetadataValue* Metadata::find(std::string_view key) const noexcept {
  for (const Entry& entry : entries_) {
    if (entry.first == key) {
      return &entry.second;
    }
  }
  return nullptr;
}

std::string Metadata::prefix(std::string_view key) const {
  return (source_.empty() ? "" : source_ + ": ") + std::string(key) + ": ";
}

template <typename T, typename Convert>
std::optional<T> Metadata::get(std::string_view key, std::string_view expected,
                               Convert convert) const {
  const MetadataValue* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  std::optional<T> converted = convert(*value);
  if (!converted) {
    throw Error(ErrorCode::BadInput,
                prefix(key) + "expected " + std::string(expected) + ", found " + describe(*value));
  }
  return converted;
}

std::optional<std::uint64_t> Metadata::unsigned_integer(std::string_view key) const {
  return get<std::uint64_t>(key, "a non-negative integer", ToInteger<std::uint64_t>{});
}

std::optional<std::int64_t> Metadata::integer(std::string_view key) const {
  return get<std::int64_t>(key, "an integer below 2^63", ToInteger<std::int64_t>{});
}

std::optional<double> Metadata::number(std::string_view key) const {
  return get<double>(key, "a number", to_number);
}

std::optional<bool> Metadata::boolean(std::string_view key) const {
  return get<bool>(key, "bool", exactly<bool>);
}

std::optional<std::string_view> Metadata::string(std::string_view key) const {
  return get<std::string_view>(key, "string", exactly<std::string_view>);
}

std::optional<std::span<const std::string_view>> Metadata::strings(std::string_view key) const {
  using Strings = std::span<const std::string_view>;
  return get<Strings>(key, "array of string", [](const MetadataValue& value) {
    const Array* array = std::get_if<Array>(&value);
    const auto* held =
        array == nullptr ? nullptr : std::get_if<std::vector<std::string_view>>(array);
    return held == nullptr ? std::nullopt : std::optional<Strings>(*held);
  });
}

std::optional<std::vector<std::int64_t>> Metadata::integers(std::string_view key) const {
  return get<std::vector<std::int64_t>>(key, "array of integers below 2^63",
                                        to_vector<std::int64_t>);
}

std::optional<std::vector<double>> Metadata::numbers(std::string_view key) const {
  return get<std::vector<double>>(key, "array of numbers", to_vector<double>);
}

}  // namespace smol::gguf

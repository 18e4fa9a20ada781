#include "gguf/read_metadata.h"

#include <string>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "gguf/printable.h"

namespace smol::gguf {
namespace {

constexpr std::size_t kMaxKeyBytes = 65535;  // the specification's limit
constexpr std::string_view kTypeRange = "a value type of 0 to 12";

enum class ValueType : std::uint32_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  Bool,
  String,
  Array,
  U64,
  I64,
  F64
};

std::vector<std::string_view> read_strings(Cursor& cursor, std::size_t count,
                                           const std::string& what) {
  std::vector<std::string_view> strings;
  strings.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    strings.push_back(cursor.read_string(what));
  }
  return strings;
}

std::vector<bool> read_bools(Cursor& cursor, std::size_t count, const std::string& what) {
  std::vector<bool> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(cursor.read_bool(what));
  }
  return values;
}

std::size_t least_bytes(ValueType type) noexcept {
  switch (type) {
    case ValueType::U8:
    case ValueType::I8:
    case ValueType::Bool:
      return 1;
    case ValueType::U16:
    case ValueType::I16:
      return 2;
    case ValueType::U32:
    case ValueType::I32:
    case ValueType::F32:
      return 4;
    default:
      return 8;
  }
}

Array read_array(Cursor& cursor, const std::string& key) {
  const auto id = cursor.read<std::uint32_t>(key + ": element type");
  if (id > static_cast<std::uint32_t>(ValueType::F64)) {
    cursor.fail(key + ": element type", kTypeRange, std::to_string(id));
  }
  const auto type = static_cast<ValueType>(id);
  if (type == ValueType::Array) {
    cursor.fail(key + ": element type", "no nested array", "an array of arrays");
  }
  const std::size_t count = cursor.read_count(least_bytes(type), key + ": array length");
  const std::string what = key + ": array elements";
  switch (type) {
    case ValueType::U8:
      return cursor.read_values<std::uint8_t>(count, what);
    case ValueType::I8:
      return cursor.read_values<std::int8_t>(count, what);
    case ValueType::U16:
      return cursor.read_values<std::uint16_t>(count, what);
    case ValueType::I16:
      return cursor.read_values<std::int16_t>(count, what);
    case ValueType::U32:
      return cursor.read_values<std::uint32_t>(count, what);
    case ValueType::I32:
      return cursor.read_values<std::int32_t>(count, what);
    case ValueType::F32:
      return cursor.read_values<float>(count, what);
    case ValueType::Bool:
      return read_bools(cursor, count, what);
    case ValueType::U64:
      return cursor.read_values<std::uint64_t>(count, what);
    case ValueType::I64:
      return cursor.read_values<std::int64_t>(count, what);
    case ValueType::F64:
      return cursor.read_values<double>(count, what);
    default:
      return read_strings(cursor, count, what);
  }
}

MetadataValue read_value(Cursor& cursor, const std::string& key) {
  const auto id = cursor.read<std::uint32_t>(key + ": value type");
  switch (static_cast<ValueType>(id)) {
    case ValueType::U8:
      return cursor.read<std::uint8_t>(key);
    case ValueType::I8:
      return cursor.read<std::int8_t>(key);
    case ValueType::U16:
      return cursor.read<std::uint16_t>(key);
    case ValueType::I16:
      return cursor.read<std::int16_t>(key);
    case ValueType::U32:
      return cursor.read<std::uint32_t>(key);
    case ValueType::I32:
      return cursor.read<std::int32_t>(key);
    case ValueType::F32:
      return cursor.read<float>(key);
    case ValueType::Bool:
      return cursor.read_bool(key);
    case ValueType::String:
      return cursor.read_string(key);
    case ValueType::Array:
      return read_array(cursor, key);
    case ValueType::U64:
      return cursor.read<std::uint64_t>(key);
    case ValueType::I64:
      return cursor.read<std::int64_t>(key);
    case ValueType::F64:
      return cursor.read<double>(key);
  }
  cursor.fail(key + ": value type", kTypeRange, std::to_string(id));
}

std::string_view read_key(Cursor& cursor, std::size_t index) {
  const std::string what = "metadata key " + std::to_string(index);
  const std::string_view key = cursor.read_string(what);
  if (key.empty() || key.size() > kMaxKeyBytes) {
    cursor.fail(what, "1 to " + std::to_string(kMaxKeyBytes) + " bytes",
                std::to_string(key.size()));
  }
  return key;
}

}  // namespace

std::vector<Metadata::Entry> read_metadata(Cursor& cursor, std::size_t count) {
  std::vector<Metadata::Entry> entries;
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view key = read_key(cursor, i);
    const std::string name = printable(key);
    if (!seen.insert(key).second) {
      cursor.fail("metadata key " + std::to_string(i), "a key that does not occur before it",
                  "\"" + name + "\" again");
    }
    entries.emplace_back(key, read_value(cursor, name));
  }
  return entries;
}

}  // namespace smol::gguf

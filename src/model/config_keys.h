// Reads the hyperparameters "ARCH.some.key" of a file, each with the range it must lie in.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "gguf/file.h"

namespace smol::model {

struct Range {
  std::size_t least, most;
};

class ConfigKeys {
 public:
  // The file must outlive the reader.
  ConfigKeys(const gguf::File& file, std::string architecture);

  // All throw Error{BadInput} naming file, key, expected and found: for a missing key (but with
  // `_or`), another type, or a value out of range.
  [[nodiscard]] std::size_t count(std::string_view key, Range range) const;
  [[nodiscard]] std::size_t count_or(std::string_view key, Range range,
                                     std::size_t otherwise) const;
  [[nodiscard]] double real(std::string_view key, double least, double most) const;
  [[nodiscard]] double real_or(std::string_view key, double least, double most,
                               double otherwise) const;
  [[nodiscard]] std::optional<std::string_view> text(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const noexcept;

  // "FILE: ARCH.key: expected E, found F"
  [[noreturn]] void fail(std::string_view key, const std::string& expected,
                         const std::string& found) const;
  // "FILE: ARCH.key": the start of a message.
  [[nodiscard]] std::string label(std::string_view key) const;

 private:
  [[nodiscard]] std::string full(std::string_view key) const { return prefix_ + std::string(key); }

  const gguf::File& file_;
  std::string prefix_;  // "ARCH."
};

}  // namespace smol::model

// JSON as models write it: strict JSON, raw control characters in strings, and the literals of
// Python (single quotes, True, None, trailing commas).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace smol::chat {

inline constexpr std::size_t kMaxLiteralDepth = 128;

// One value that was read.
struct Literal {
  enum class Kind { Object, List, String, Number, Boolean, Null };
  Kind kind = Kind::Null;
  std::string json;    // strict JSON: the text itself where it is that, otherwise rewritten
  std::string string;  // the characters of a String
};

// Reads values from a text; the text must outlive it. Each function that returns nothing has met
// something else than it reads; the reader is of no further use then.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  std::optional<Literal> read_value();
  std::optional<std::string> read_string();
  void skip_space() noexcept;
  // Skips `c` if it comes next, after white space.
  bool accept(char c) noexcept;
  // Whether `c` comes next, after white space.
  bool next_is(char c) noexcept;
  // Whether nothing but white space is left.
  bool at_end() noexcept;

 private:
  std::optional<Literal::Kind> value(std::string& json, std::size_t depth);
  bool object(std::string& json, std::size_t depth);
  bool list(std::string& json, std::size_t depth);
  bool number(std::string& json);
  std::optional<Literal::Kind> word(std::string& json);
  bool escape(std::string& out);
  bool unicode_escape(std::string& out);
  std::optional<char32_t> hex(std::size_t digits) noexcept;
  std::size_t skip_digits() noexcept;

  std::string_view text_;
  std::size_t at_ = 0;
  bool strict_ = true;  // false once anything was read that JSON does not allow
};

// `text` in double quotes, escaped as JSON asks; invalid UTF-8 becomes U+FFFD.
std::string json_quote(std::string_view text);

}  // namespace smol::chat

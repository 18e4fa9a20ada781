// The characters, escapes and classes of a regular expression of ECMA-262.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "grammar/char_set.h"

namespace smol::grammar {

// Reads from text_[at_] on.
class PatternReader {
 public:
  explicit PatternReader(std::string_view pattern) : text_(pattern) {}

 protected:
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void refuse(const std::string& what) const;

  bool more() const { return at_ < text_.size(); }

  bool take(std::string_view expected);
  char32_t character();
  // Behind "[".
  CharSet parse_class();
  // Behind "\\".
  CharSet parse_escape(bool in_class);

  std::string_view text_;
  std::size_t at_ = 0;

 private:
  CharSet class_atom();
  std::optional<char32_t> parse_hex(std::size_t n_digits);
  char32_t parse_unicode_escape();
  std::optional<CharSet> class_escape(char32_t letter) const;
  char32_t other_escape(char32_t letter, bool in_class);
};

}  // namespace smol::grammar

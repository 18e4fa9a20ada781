#include "jinja/printf_format.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "jinja/markup.h"
#include "jinja/names.h"
#include "jinja/number_format.h"
#include "jinja/operators.h"
#include "jinja/strings.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

using Kind = Value::Kind;

struct Directive {
  bool left = false, plus = false, blank = false, alternate = false, zero = false;
  std::size_t width = 0;
  std::optional<std::size_t> precision;
};

// What a directive prints before padding.
struct Piece {
  MarkedString text;
  std::size_t prefix = 0;  // bytes of sign and 0x: zeros go after them
  bool numeric = false;
};

class PrintfFormatter {
 public:
  PrintfFormatter(Runtime& runtime, const Value& format, const Value& args)
      : runtime_(runtime),
        kept_(format),
        format_(kept_.text()),
        bytes_(format_.bytes()),
        markup_(format.is_markup()),
        args_(args) {
    mapping_ = args.is(Kind::Dict) || args.is(Kind::Array) || args.is_undefined();
    if (args.is(Kind::Tuple)) {
      values_ = args.items();
    } else {
      values_ = {args};
    }
  }

  MarkedString run() {
    MarkedString out;
    while (at_ < bytes_.size()) {
      const std::size_t percent = std::min(bytes_.find('%', at_), bytes_.size());
      out.append(format_, at_, percent);
      at_ = percent;
      if (at_ < bytes_.size()) {
        ++at_;
        append_directive(out);
      }
    }
    if (next_ < values_.size() && !mapping_) {
      raise_type("not all arguments converted during string formatting");
    }
    return out;
  }

 private:
  char take() {
    if (at_ >= bytes_.size()) {
      raise_value("incomplete format");
    }
    return bytes_[at_++];
  }

  Value next_value() {
    if (next_ >= values_.size()) {
      raise_type("not enough arguments for format string");
    }
    return values_[next_++];
  }

  void read_key() {
    if (!mapping_) {
      raise_type("format requires a mapping");
    }
    const std::size_t begin = at_;
    std::size_t open = 1;
    while (open > 0) {
      const char c = take();
      open += c == '(' ? 1 : 0;
      open -= c == ')' ? 1 : 0;
    }
    const std::string_view key = bytes_.substr(begin, at_ - begin - 1);
    if (args_.is_undefined()) {
      fail_undefined(args_);
    }
    if (!args_.is(Kind::Dict)) {
      raise_type("list indices must be integers or slices, not str");
    }
    const Value* found = args_.dict().find(key);
    if (found == nullptr) {
      raise(FaultKind::Lookup, quote(key));
    }
    values_ = {*found};
    next_ = 0;
  }

  static bool set_flag(Directive& directive, char c) noexcept {
    bool* const flag = c == '-'   ? &directive.left
                       : c == '+' ? &directive.plus
                       : c == ' ' ? &directive.blank
                       : c == '#' ? &directive.alternate
                       : c == '0' ? &directive.zero
                                  : nullptr;
    if (flag != nullptr) {
      *flag = true;
    }
    return flag != nullptr;
  }

  // Digits or *; `c` is the character that follows afterwards.
  std::size_t read_number(char& c, bool* negative) {
    constexpr std::size_t kMost = 2147483647;
    if (c == '*') {
      const Value value = next_value();
      if (!value.is_integral()) {
        raise_type("* wants int");
      }
      const std::int64_t number = to_index(value);
      *negative = number < 0;
      c = take();
      const std::uint64_t size =
          number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
      return static_cast<std::size_t>(std::min<std::uint64_t>(size, kMost));
    }
    std::size_t value = 0;
    while (c >= '0' && c <= '9') {
      value = value * 10 + static_cast<std::size_t>(c - '0');
      if (value > kMost) {
        raise_value("width too big");
      }
      c = take();
    }
    return value;
  }

  void append_directive(MarkedString& out) {
    runtime_.budget().step();
    Directive directive;
    char c = take();
    if (c == '(') {
      read_key();
      c = take();
    }
    while (set_flag(directive, c)) {
      c = take();
    }
    bool negative = false;
    directive.width = read_number(c, &negative);
    directive.left = directive.left || negative;
    if (c == '.') {
      c = take();
      bool below_zero = false;
      const std::size_t precision = read_number(c, &below_zero);
      directive.precision = below_zero ? 0 : precision;
    }
    if (c == 'h' || c == 'l' || c == 'L') {
      c = take();
    }
    if (c == '%') {
      out.append(format_, at_ - 1, at_);
      return;
    }
    append_padded(out, convert(directive, c), directive);
  }

  Piece convert(const Directive& directive, char type) {
    switch (type) {
      case 's':
      case 'r':
      case 'a':
        return convert_text(directive, type);
      case 'c':
        return {convert_character(), 0, false};
      case 'd':
      case 'i':
      case 'u':
        return convert_integer(directive, 'd', to_integer());
      case 'o':
      case 'x':
      case 'X':
        return convert_integer(directive, type, to_integral(type));
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return convert_float(directive, type);
      default:
        raise_value(std::string("unsupported format character '") + type + "'");
    }
  }

  Piece convert_text(const Directive& directive, char type) {
    const Value value = next_value();
    MarkedString text;
    if (type == 's') {
      text = markup_ ? escape(runtime_, value).text() : to_text(runtime_, value);
    } else {
      text = type == 'r' ? to_repr(runtime_, value) : to_ascii(runtime_, value);
      text = markup_ ? escape_text(runtime_, text) : text;
    }
    if (directive.precision) {
      text = text.substr(0, byte_of_character(text.bytes(), *directive.precision));
    }
    return {std::move(text), 0, false};
  }

  MarkedString convert_character() {
    const Value value = next_value();
    if (value.is_string()) {
      if (count_characters(value.bytes()) != 1) {
        raise_type("%c requires int or char");
      }
      return value.text();
    }
    if (!value.is_integral()) {
      raise_type("%c requires int or char");
    }
    const std::int64_t code = to_index(value);
    constexpr std::int64_t kLast = 0x10FFFF;
    if (code < 0 || code > kLast) {
      raise(FaultKind::Overflow, "%c arg not in range(0x110000)");
    }
    return {encode(std::u32string(1, static_cast<char32_t>(code))), Origin::Input};
  }

  BigInt to_integer() {
    const Value value = next_value();
    if (value.is_undefined()) {
      fail_undefined(value);
    }
    if (!value.is_number()) {
      raise_type("%d format: a real number is required, not " + std::string(type_name(value)));
    }
    if (!value.is(Kind::Float)) {
      return to_big(value);
    }
    if (!std::isfinite(value.number())) {
      raise(FaultKind::Overflow, "cannot convert float infinity to integer");
    }
    return BigInt::from_double(value.number());
  }

  BigInt to_integral(char type) {
    const Value value = next_value();
    if (!value.is_integral()) {
      raise_type(std::string("%") + type + " format: an integer is required, not " +
                 std::string(type_name(value)));
    }
    return to_big(value);
  }

  static std::string sign(const Directive& directive, bool negative) {
    return negative ? "-" : (directive.plus ? "+" : (directive.blank ? " " : ""));
  }

  Piece convert_integer(const Directive& directive, char type, const BigInt& number) {
    const unsigned base = type == 'd' ? 10 : (type == 'o' ? 8 : 16);
    std::string digits = number.magnitude().to_string(base);
    if (type == 'X') {
      std::transform(digits.begin(), digits.end(), digits.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      });
    }
    const std::size_t precision = directive.precision.value_or(0);
    if (precision > digits.size()) {
      runtime_.budget().charge(precision);
      digits.insert(0, precision - digits.size(), '0');
    }
    std::string prefix = sign(directive, number.negative());
    prefix += directive.alternate && type != 'd' ? std::string("0") + type : "";
    return {MarkedString(prefix + digits, Origin::Input), prefix.size(), true};
  }

  Piece convert_float(const Directive& directive, char type) {
    const Value value = next_value();
    if (value.is_undefined()) {
      fail_undefined(value);
    }
    if (!value.is_number()) {
      raise_type("must be real number, not " + std::string(type_name(value)));
    }
    constexpr std::size_t kDefault = 6;
    const auto precision = static_cast<int>(directive.precision.value_or(kDefault));
    std::string text =
        format_float(runtime_, to_double(value), {type, precision, directive.alternate});
    const bool negative = text.front() == '-';
    text.erase(0, negative ? 1 : 0);
    const std::string prefix = sign(directive, negative);
    return {MarkedString(prefix + text, Origin::Input), prefix.size(), true};
  }

  void append_padded(MarkedString& out, const Piece& piece, const Directive& directive) {
    const std::size_t have = count_characters(piece.text.bytes());
    const std::size_t padding = directive.width > have ? directive.width - have : 0;
    runtime_.budget().charge(padding + piece.text.size());
    const bool zeros = piece.numeric && directive.zero && !directive.left;
    if (!directive.left && !zeros) {
      out.append(std::string(padding, ' '), Origin::Template);
    }
    out.append(piece.text, 0, piece.prefix);
    if (zeros) {
      out.append(std::string(padding, '0'), Origin::Template);
    }
    out.append(piece.text, piece.prefix, piece.text.size());
    if (directive.left) {
      out.append(std::string(padding, ' '), Origin::Template);
    }
  }

  Runtime& runtime_;
  Value kept_;
  const MarkedString& format_;  // of kept_
  std::string_view bytes_;
  bool markup_;
  Value args_;
  bool mapping_ = false;
  List values_;
  std::size_t next_ = 0;
  std::size_t at_ = 0;
};

}  // namespace

Value format_printf(Runtime& runtime, const Value& format, const Value& args) {
  MarkedString text = PrintfFormatter(runtime, format, args).run();
  return runtime.text(std::move(text), format.is_markup());
}

}  // namespace smol::jinja

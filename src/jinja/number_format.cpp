#include "jinja/number_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace smol::jinja {
namespace {

constexpr std::size_t kMostIntegerDigits = 400;

std::string print(double value, std::chars_format style, int precision) {
  std::string buffer(static_cast<std::size_t>(precision) + kMostIntegerDigits, '\0');
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, style, precision).ptr;
  buffer.resize(static_cast<std::size_t>(end - buffer.data()));
  return buffer;
}

// "1.50" -> "1.5", "1.500e+10" -> "1.5e+10"
std::string without_trailing_zeros(std::string text) {
  const std::size_t e = std::min(text.find('e'), text.size());
  if (text.find('.') == std::string::npos) {
    return text;
  }
  std::size_t end = e;
  while (text[end - 1] == '0') {
    --end;
  }
  end -= text[end - 1] == '.' ? 1 : 0;
  return text.erase(end, e - end);
}

std::string with_point(std::string text) {
  if (text.find('.') == std::string::npos) {
    text.insert(std::min(text.find('e'), text.size()), ".");
  }
  return text;
}

std::string general(double value, const FloatFormat& format) {
  const int precision = std::max(format.precision, 1);
  const std::string scientific = print(value, std::chars_format::scientific, precision - 1);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  const int limit = precision - (format.add_dot_zero ? 1 : 0);
  const bool use_exponent = exponent < -4 || exponent >= limit;
  std::string text =
      use_exponent ? scientific : print(value, std::chars_format::fixed, precision - 1 - exponent);
  if (format.alternate) {
    return with_point(std::move(text));
  }
  text = without_trailing_zeros(std::move(text));
  const bool bare = !use_exponent && text.find('.') == std::string::npos;
  return format.add_dot_zero && bare ? text + ".0" : text;
}

}  // namespace

std::string format_float(Runtime& runtime, double value, const FloatFormat& format) {
  runtime.budget().charge(static_cast<std::size_t>(format.precision) + kMostIntegerDigits);
  const bool upper = format.type == 'E' || format.type == 'F' || format.type == 'G';
  std::string text;
  if (std::isnan(value)) {
    text = "nan";
  } else if (std::isinf(value)) {
    text = value < 0 ? "-inf" : "inf";
  } else if (format.type == 'e' || format.type == 'E') {
    text = print(value, std::chars_format::scientific, format.precision);
    text = format.alternate ? with_point(std::move(text)) : text;
  } else if (format.type == 'f' || format.type == 'F') {
    text = print(value, std::chars_format::fixed, format.precision);
    text = format.alternate ? with_point(std::move(text)) : text;
  } else {
    text = general(value, format);
  }
  for (char& c : text) {
    c = upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return text;
}

std::string group_digits(Runtime& runtime, std::string_view digits, char separator,
                         std::size_t group, std::size_t min_width) {
  std::size_t count = digits.size();
  while (count + (count - 1) / group < min_width) {
    ++count;
    runtime.budget().charge(2);
  }
  std::string result;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && (count - i) % group == 0) {
      result += separator;
    }
    const std::size_t padding = count - digits.size();
    result += i < padding ? '0' : digits[i - padding];
  }
  return result;
}

}  // namespace smol::jinja

#include "tools/calculator.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/error.h"

namespace smol::tools {
namespace {

constexpr std::size_t kMostBytes = 10'000;
constexpr int kMostDepth = 100;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct Function {
  std::string_view name;
  double (*apply)(double);
};

constexpr std::array<Function, 11> kFunctions{{{"sqrt", std::sqrt},
                                               {"abs", std::fabs},
                                               {"exp", std::exp},
                                               {"ln", std::log},
                                               {"log", std::log10},
                                               {"sin", std::sin},
                                               {"cos", std::cos},
                                               {"tan", std::tan},
                                               {"floor", std::floor},
                                               {"ceil", std::ceil},
                                               {"round", std::round}}};

// Recursive descent; each function reads one level of precedence.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  double whole() {
    const double value = sum();
    if (at_ < text_.size()) {
      fail("an operator");
    }
    return value;
  }

 private:
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c) {
      return false;
    }
    ++at_;
    return true;
  }

  [[noreturn]] void fail(std::string_view expected) {
    const char found = peek();
    throw Error{ErrorCode::BadInput,
                "expression: expected " + std::string(expected) + " at character " +
                    std::to_string(at_ + 1) + ", found " +
                    (found == '\0' ? "its end" : "'" + std::string(1, found) + "'")};
  }

  double sum() {
    double value = product();
    while (true) {
      if (take('+')) {
        value += product();
      } else if (take('-')) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = negated();
    while (true) {
      if (take('*')) {
        value = take('*') ? std::pow(value, negated()) : value * negated();
      } else if (take('/')) {
        value /= negated();
      } else if (take('%')) {
        value = std::fmod(value, negated());
      } else {
        return value;
      }
    }
  }

  double negated() {
    if (++depth_ > kMostDepth) {
      fail("less nesting");
    }
    const bool negative = take('-');
    const double value = negative || take('+') ? negated() : power();
    --depth_;
    return negative ? -value : value;
  }

  // Binds to the right, and closer than a sign before it: -2^2 is -4.
  double power() {
    const double base = atom();
    return take('^') ? std::pow(base, negated()) : base;
  }

  double atom() {
    const char c = peek();
    if (take('(')) {
      const double value = sum();
      if (!take(')')) {
        fail("')'");
      }
      return value;
    }
    if (is_letter(c)) {
      return named();
    }
    if (!is_digit(c) && c != '.') {
      fail("a number");
    }
    double value = 0;
    const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (read.ec != std::errc{}) {
      fail("a number");
    }
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    return value;
  }

  double named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) {
      ++at_;
    }
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name == "pi") {
      return 3.14159265358979323846;
    }
    if (name == "e") {
      return 2.71828182845904523536;
    }
    const bool is_least = name == "min";
    const auto* function = std::ranges::find(kFunctions, name, &Function::name);
    if (!is_least && name != "max" && function == kFunctions.end()) {
      at_ = begin;
      fail("a function or a constant that it knows");
    }
    const std::vector<double> values = arguments();
    if (is_least || name == "max") {
      return is_least ? std::ranges::min(values) : std::ranges::max(values);
    }
    if (values.size() != 1) {
      fail("one argument");
    }
    return function->apply(values.front());
  }

  std::vector<double> arguments() {
    if (!take('(')) {
      fail("'('");
    }
    std::vector<double> values{sum()};
    while (take(',')) {
      values.push_back(sum());
    }
    if (!take(')')) {
      fail("')'");
    }
    return values;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

double evaluate(std::string_view expression) {
  if (expression.size() > kMostBytes) {
    throw Error{ErrorCode::BadInput, "expression: expected at most " + std::to_string(kMostBytes) +
                                         " characters, found " + std::to_string(expression.size())};
  }
  const double value = Reader(expression).whole();
  if (!std::isfinite(value)) {
    throw Error{ErrorCode::BadInput, "expression: expected a finite result, found none"};
  }
  return value;
}

std::string number_text(double value) {
  constexpr double kMostPlain = 1e15;
  std::array<char, 64> out{};
  const bool is_plain = std::fabs(value) < kMostPlain && (value == 0 || std::fabs(value) > 1e-6);
  const auto end = is_plain ? std::to_chars(out.begin(), out.end(), value, std::chars_format::fixed)
                            : std::to_chars(out.begin(), out.end(), value);
  return {out.data(), end.ptr};
}

}  // namespace smol::tools

// BigInt to and from text and double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "jinja/big_int.h"
#include "jinja/fault.h"

namespace smol::jinja {
namespace {

constexpr int kMantissaBits = std::numeric_limits<double>::digits;  // 53

unsigned digit_value(char c) noexcept {
  if (c >= '0' && c <= '9') {
    return static_cast<unsigned>(c - '0');
  }
  return static_cast<unsigned>((c | 0x20) - 'a') + 10;
}

[[noreturn]] void raise_digit_limit() {
  raise_value("Exceeds the limit (" + std::to_string(BigInt::kMaxDigits) +
              " digits) for integer string conversion");
}

}  // namespace

BigInt BigInt::from_digits(std::string_view digits, unsigned base) {
  const bool power_of_two = (base & (base - 1)) == 0;
  if (!power_of_two && digits.size() > kMaxDigits) {
    raise_digit_limit();
  }
  Limbs limbs;
  for (const char c : digits) {
    std::uint64_t carry = digit_value(c);
    for (std::uint32_t& limb : limbs) {
      carry += std::uint64_t{limb} * base;
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32U;
    }
    if (carry != 0) {
      limbs.push_back(static_cast<std::uint32_t>(carry));
    }
    if (limbs.size() > kMaxBits / 32) {
      raise(FaultKind::Limit, "an integer literal that is too large");
    }
  }
  return {std::move(limbs), false};
}

std::string BigInt::to_string(unsigned base) const {
  constexpr double kBitsPerDecimal = 3.3219280948873623;
  const auto enough = static_cast<double>(bit_length()) / kBitsPerDecimal;
  if (base == 10 && enough > static_cast<double>(kMaxDigits) + 1) {
    raise_digit_limit();
  }
  std::string digits;
  Limbs rest = limbs_;
  while (!rest.empty()) {
    std::uint64_t remainder = 0;
    for (std::size_t i = rest.size(); i-- > 0;) {
      remainder = (remainder << 32U) | rest[i];
      rest[i] = static_cast<std::uint32_t>(remainder / base);
      remainder %= base;
    }
    digits.push_back("0123456789abcdefghijklmnopqrstuvwxyz"[remainder]);
    while (!rest.empty() && rest.back() == 0) {
      rest.pop_back();
    }
  }
  if (base == 10 && digits.size() > kMaxDigits) {
    raise_digit_limit();
  }
  digits += digits.empty() ? "0" : "";
  digits += negative_ ? "-" : "";
  std::reverse(digits.begin(), digits.end());
  return digits;
}

BigInt BigInt::from_double(double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::trunc(value), &exponent);
  if (fraction == 0.0) {
    return {};
  }
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, kMantissaBits));
  const BigInt exact(mantissa);
  const int shift = exponent - kMantissaBits;
  if (shift >= 0) {
    return exact.shifted_left(static_cast<std::size_t>(shift));
  }
  // trunc() left zeros below the point, so the division is exact.
  return BigInt(mantissa / (std::int64_t{1} << -shift));
}

double BigInt::true_divide(const BigInt& a, const BigInt& b) {
  if (b.is_zero()) {
    raise(FaultKind::Arithmetic, "division by zero");
  }
  if (a.is_zero()) {
    return b.negative_ ? -0.0 : 0.0;
  }
  // A quotient of 55 or 56 bits whose last bit is sticky rounds once, correctly.
  const auto difference =
      static_cast<std::int64_t>(a.bit_length()) - static_cast<std::int64_t>(b.bit_length());
  // Subnormal results keep fewer bits, so the sticky bit must sit below their last place.
  const std::int64_t shift = std::max<std::int64_t>(difference - (kMantissaBits + 2), -1074 - 2);
  BigInt numerator = a.magnitude();
  BigInt denominator = b.magnitude();
  if (shift < 0) {
    numerator.limbs_ = numerator.shifted_left(static_cast<std::size_t>(-shift)).limbs_;
  } else {
    denominator.limbs_ = denominator.shifted_left(static_cast<std::size_t>(shift)).limbs_;
  }
  auto [quotient, remainder] = divide_magnitudes(numerator.limbs_, denominator.limbs_);
  std::uint64_t bits = quotient.empty() ? 0 : quotient[0];
  bits |= quotient.size() > 1 ? std::uint64_t{quotient[1]} << 32U : 0;
  // Round to even at the place that ldexp cannot hold any more.
  const int extra = std::max<int>(
      0, static_cast<int>(BigInt(Limbs(quotient), false).bit_length()) - kMantissaBits);
  const int drop = std::max<int>(extra, static_cast<int>(std::max<std::int64_t>(-1074 - shift, 0)));
  const bool sticky = !remainder.empty();
  const std::uint64_t unit = std::uint64_t{1} << static_cast<unsigned>(drop);
  const std::uint64_t low = bits & (unit - 1);
  std::uint64_t rounded = bits >> static_cast<unsigned>(drop);
  const std::uint64_t half = unit >> 1U;
  const bool up = drop > 0 && (low > half || (low == half && (sticky || (rounded & 1U) != 0)));
  rounded += up ? 1 : 0;
  const double result = std::ldexp(static_cast<double>(rounded), static_cast<int>(shift) + drop);
  if (std::isinf(result)) {
    raise(FaultKind::Overflow, "integer division result too large for a float");
  }
  return a.negative_ != b.negative_ ? -result : result;
}

double BigInt::to_double() const {
  constexpr std::size_t kMaxExponent = 1024;
  if (bit_length() > kMaxExponent) {
    raise(FaultKind::Overflow, "int too large to convert to float");
  }
  return true_divide(*this, BigInt(1));
}

}  // namespace smol::jinja

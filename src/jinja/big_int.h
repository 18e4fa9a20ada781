// Integers of any size with Python's semantics (floor division, exact conversions). List of 64 bits
// live in Value itself: this serves what is larger. Bounded to kMaxBits, so that no operation runs
// away.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smol::jinja {

class BigInt {
 public:
  static constexpr std::size_t kMaxBits = std::size_t{1} << 17U;
  // Python's bound of int <-> decimal text conversions.
  static constexpr std::size_t kMaxDigits = 4300;

  BigInt() = default;
  explicit BigInt(std::int64_t value);
  // Requires: `value` is finite. Truncates towards zero.
  static BigInt from_double(double value);
  // Digits of `base` (2 to 36), no sign, no underscores. Throws Fault{Value} above kMaxDigits
  // decimal digits.
  static BigInt from_digits(std::string_view digits, unsigned base);

  bool negative() const noexcept { return negative_; }

  bool is_zero() const noexcept { return limbs_.empty(); }

  bool is_odd() const noexcept { return !limbs_.empty() && (limbs_.front() & 1U) != 0; }

  std::size_t bit_length() const noexcept;  // of the magnitude
  std::size_t bit_count() const noexcept;
  std::optional<std::int64_t> to_int64() const noexcept;
  // Correctly rounded. Throws Fault{Overflow} if too large.
  double to_double() const;
  // Throws Fault{Value} above kMaxDigits digits if base is 10.
  std::string to_string(unsigned base = 10) const;
  std::size_t hash() const noexcept;

  BigInt operator-() const;
  BigInt magnitude() const;
  std::strong_ordering operator<=>(const BigInt& other) const noexcept;
  bool operator==(const BigInt& other) const noexcept = default;

  // All throw Fault{Limit} where the result would pass kMaxBits.
  friend BigInt operator+(const BigInt& a, const BigInt& b);
  friend BigInt operator-(const BigInt& a, const BigInt& b);
  friend BigInt operator*(const BigInt& a, const BigInt& b);
  // Floor division and the remainder with the divisor's sign. Throws Fault{Arithmetic} if b is
  // zero.
  static std::pair<BigInt, BigInt> divmod(const BigInt& a, const BigInt& b);
  BigInt shifted_left(std::size_t bits) const;
  // Correctly rounded a / b. Throws Fault{Arithmetic} if b is zero, Fault{Overflow} if too large.
  static double true_divide(const BigInt& a, const BigInt& b);

 private:
  using Limbs = std::vector<std::uint32_t>;  // least significant first, no leading zeros

  BigInt(Limbs limbs, bool negative);
  static std::pair<Limbs, Limbs> divide_magnitudes(const Limbs& a, const Limbs& b);

  Limbs limbs_;
  bool negative_ = false;
};

}  // namespace smol::jinja

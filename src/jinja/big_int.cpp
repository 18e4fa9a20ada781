// Schoolbook arithmetic; division after Knuth, The Art of Computer Programming 2, 4.3.1, algorithm
// D.
#include "jinja/big_int.h"

#include <algorithm>
#include <bit>

#include "jinja/fault.h"

namespace smol::jinja {
namespace {

using Limbs = std::vector<std::uint32_t>;

constexpr unsigned kLimbBits = 32;

void trim(Limbs& limbs) {
  while (!limbs.empty() && limbs.back() == 0) {
    limbs.pop_back();
  }
}

std::strong_ordering compare(const Limbs& a, const Limbs& b) noexcept {
  if (a.size() != b.size()) {
    return a.size() <=> b.size();
  }
  for (std::size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) {
      return a[i] <=> b[i];
    }
  }
  return std::strong_ordering::equal;
}

Limbs add(const Limbs& a, const Limbs& b) {
  const Limbs& longer = a.size() >= b.size() ? a : b;
  const Limbs& shorter = a.size() >= b.size() ? b : a;
  Limbs sum;
  sum.reserve(longer.size() + 1);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < longer.size(); ++i) {
    carry += std::uint64_t{longer[i]} + (i < shorter.size() ? shorter[i] : 0);
    sum.push_back(static_cast<std::uint32_t>(carry));
    carry >>= kLimbBits;
  }
  sum.push_back(static_cast<std::uint32_t>(carry));
  trim(sum);
  return sum;
}

// Requires: a >= b.
Limbs subtract(const Limbs& a, const Limbs& b) {
  Limbs difference;
  difference.reserve(a.size());
  std::int64_t borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t digit = std::int64_t{a[i]} - (i < b.size() ? std::int64_t{b[i]} : 0) + borrow;
    borrow = digit < 0 ? -1 : 0;
    digit += digit < 0 ? std::int64_t{1} << kLimbBits : 0;
    difference.push_back(static_cast<std::uint32_t>(digit));
  }
  trim(difference);
  return difference;
}

// Divides in place by a small number and returns the remainder.
std::uint32_t divide_small(Limbs& limbs, std::uint32_t divisor) {
  std::uint64_t remainder = 0;
  for (std::size_t i = limbs.size(); i-- > 0;) {
    remainder = (remainder << kLimbBits) | limbs[i];
    limbs[i] = static_cast<std::uint32_t>(remainder / divisor);
    remainder %= divisor;
  }
  trim(limbs);
  return static_cast<std::uint32_t>(remainder);
}

Limbs shift_left(const Limbs& limbs, std::size_t bits) {
  if (limbs.empty()) {
    return {};
  }
  Limbs result(bits / kLimbBits, 0);
  const auto small = static_cast<unsigned>(bits % kLimbBits);
  std::uint64_t carry = 0;
  for (const std::uint32_t limb : limbs) {
    carry |= std::uint64_t{limb} << small;
    result.push_back(static_cast<std::uint32_t>(carry));
    carry >>= kLimbBits;
  }
  result.push_back(static_cast<std::uint32_t>(carry));
  trim(result);
  return result;
}

// One quotient digit of algorithm D (step D3): u has at least n + 1 limbs from j on.
std::uint64_t estimate_digit(const Limbs& u, const Limbs& v, std::size_t j) {
  const std::size_t n = v.size();
  const std::uint64_t top = (std::uint64_t{u[j + n]} << kLimbBits) | u[j + n - 1];
  std::uint64_t digit = top / v[n - 1];
  std::uint64_t rest = top % v[n - 1];
  constexpr std::uint64_t kBase = std::uint64_t{1} << kLimbBits;
  while (digit >= kBase || digit * v[n - 2] > ((rest << kLimbBits) | u[j + n - 2])) {
    --digit;
    rest += v[n - 1];
    if (rest >= kBase) {
      break;
    }
  }
  return digit;
}

// u[j..j+n] -= digit * v; adds v back if that went below zero. Returns the final digit.
std::uint32_t subtract_product(Limbs& u, const Limbs& v, std::size_t j, std::uint64_t digit) {
  std::int64_t borrow = 0;
  std::uint64_t carry = 0;
  const std::size_t n = v.size();
  for (std::size_t i = 0; i <= n; ++i) {
    carry += i < n ? digit * v[i] : 0;
    std::int64_t t =
        std::int64_t{u[i + j]} - static_cast<std::int64_t>(carry & 0xFFFFFFFFU) + borrow;
    borrow = t < 0 ? -1 : 0;
    t += t < 0 ? std::int64_t{1} << kLimbBits : 0;
    u[i + j] = static_cast<std::uint32_t>(t);
    carry >>= kLimbBits;
  }
  if (borrow == 0) {
    return static_cast<std::uint32_t>(digit);
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i <= n; ++i) {
    sum += std::uint64_t{u[i + j]} + (i < n ? v[i] : 0);
    u[i + j] = static_cast<std::uint32_t>(sum);
    sum >>= kLimbBits;
  }
  return static_cast<std::uint32_t>(digit - 1);
}

void check_size(std::size_t bits) {
  if (bits > BigInt::kMaxBits) {
    raise(FaultKind::Limit,
          "an integer of more than " + std::to_string(BigInt::kMaxBits) + " bits");
  }
}

}  // namespace

BigInt::BigInt(Limbs limbs, bool negative) : limbs_(std::move(limbs)) {
  trim(limbs_);
  negative_ = negative && !limbs_.empty();
  check_size(bit_length());
}

BigInt::BigInt(std::int64_t value) : negative_(value < 0) {
  auto rest = static_cast<std::uint64_t>(value);
  rest = negative_ ? 0 - rest : rest;
  limbs_ = {static_cast<std::uint32_t>(rest), static_cast<std::uint32_t>(rest >> kLimbBits)};
  trim(limbs_);
}

std::size_t BigInt::bit_length() const noexcept {
  if (limbs_.empty()) {
    return 0;
  }
  return limbs_.size() * kLimbBits - static_cast<std::size_t>(std::countl_zero(limbs_.back()));
}

std::size_t BigInt::bit_count() const noexcept {
  std::size_t count = 0;
  for (const std::uint32_t limb : limbs_) {
    count += static_cast<std::size_t>(std::popcount(limb));
  }
  return count;
}

std::optional<std::int64_t> BigInt::to_int64() const noexcept {
  if (limbs_.size() > 2) {
    return std::nullopt;
  }
  std::uint64_t magnitude = limbs_.empty() ? 0 : limbs_[0];
  magnitude |= limbs_.size() > 1 ? std::uint64_t{limbs_[1]} << kLimbBits : 0;
  constexpr std::uint64_t kMinMagnitude = std::uint64_t{1} << 63U;
  if (magnitude > kMinMagnitude || (magnitude == kMinMagnitude && !negative_)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(negative_ ? 0 - magnitude : magnitude);
}

std::size_t BigInt::hash() const noexcept {
  std::size_t hash = negative_ ? 0x9E3779B97F4A7C15ULL : 0;
  for (const std::uint32_t limb : limbs_) {
    hash = hash * 1000003U + limb;
  }
  return hash;
}

BigInt BigInt::operator-() const {
  return {limbs_, !negative_};
}

BigInt BigInt::magnitude() const {
  return {limbs_, false};
}

std::strong_ordering BigInt::operator<=>(const BigInt& other) const noexcept {
  if (negative_ != other.negative_) {
    return negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  return negative_ ? compare(other.limbs_, limbs_) : compare(limbs_, other.limbs_);
}

BigInt operator+(const BigInt& a, const BigInt& b) {
  if (a.negative_ == b.negative_) {
    return {add(a.limbs_, b.limbs_), a.negative_};
  }
  if (compare(a.limbs_, b.limbs_) >= 0) {
    return {subtract(a.limbs_, b.limbs_), a.negative_};
  }
  return {subtract(b.limbs_, a.limbs_), b.negative_};
}

BigInt operator-(const BigInt& a, const BigInt& b) {
  return a + -b;
}

BigInt operator*(const BigInt& a, const BigInt& b) {
  if (a.is_zero() || b.is_zero()) {
    return {};
  }
  check_size(a.bit_length() + b.bit_length() - 1);
  Limbs product(a.limbs_.size() + b.limbs_.size(), 0);
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.limbs_.size(); ++j) {
      carry += std::uint64_t{a.limbs_[i]} * b.limbs_[j] + product[i + j];
      product[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= kLimbBits;
    }
    product[i + b.limbs_.size()] = static_cast<std::uint32_t>(carry);
  }
  return {std::move(product), a.negative_ != b.negative_};
}

std::pair<Limbs, Limbs> BigInt::divide_magnitudes(const Limbs& a, const Limbs& b) {
  if (compare(a, b) < 0) {
    return {{}, a};
  }
  if (b.size() == 1) {
    Limbs quotient = a;
    const std::uint32_t remainder = divide_small(quotient, b.front());
    return {std::move(quotient), remainder == 0 ? Limbs{} : Limbs{remainder}};
  }
  const auto shift = static_cast<std::size_t>(std::countl_zero(b.back()));
  const Limbs v = shift_left(b, shift);
  Limbs u = shift_left(a, shift);
  u.resize(a.size() + 1, 0);
  Limbs quotient(a.size() - b.size() + 1, 0);
  for (std::size_t j = quotient.size(); j-- > 0;) {
    quotient[j] = subtract_product(u, v, j, estimate_digit(u, v, j));
  }
  for (std::size_t i = 0; i + 1 < u.size() && shift > 0; ++i) {
    u[i] = (u[i] >> shift) | (u[i + 1] << (kLimbBits - shift));
  }
  u.back() >>= shift;
  trim(u);
  trim(quotient);
  return {std::move(quotient), std::move(u)};
}

std::pair<BigInt, BigInt> BigInt::divmod(const BigInt& a, const BigInt& b) {
  if (b.is_zero()) {
    raise(FaultKind::Arithmetic, "integer division or modulo by zero");
  }
  auto [quotient, remainder] = divide_magnitudes(a.limbs_, b.limbs_);
  BigInt q(std::move(quotient), a.negative_ != b.negative_);
  BigInt r(std::move(remainder), a.negative_);
  if (!r.is_zero() && r.negative_ != b.negative_) {
    q = q - BigInt(1);
    r = r + b;
  }
  return {std::move(q), std::move(r)};
}

BigInt BigInt::shifted_left(std::size_t bits) const {
  check_size(bit_length() + bits);
  return {shift_left(limbs_, bits), negative_};
}

}  // namespace smol::jinja

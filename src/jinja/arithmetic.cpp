#include "jinja/arithmetic.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace smol::jinja {
namespace {

using Kind = Value::Kind;

// Python's float_divmod: the quotient's floor and the remainder with the divisor's sign.
std::pair<double, double> float_divmod(double a, double b) {
  double mod = std::fmod(a, b);
  double div = (a - mod) / b;
  if (mod != 0.0) {
    if ((b < 0) != (mod < 0)) {
      mod += b;
      div -= 1.0;
    }
  } else {
    mod = std::copysign(0.0, b);
  }
  if (div == 0.0) {
    return {std::copysign(0.0, a / b), mod};
  }
  double floor = std::floor(div);
  floor += div - floor > 0.5 ? 1.0 : 0.0;
  return {floor, mod};
}

double float_pow(double a, double b) {
  if (a == 0.0 && b < 0) {
    raise(FaultKind::Arithmetic, "0.0 cannot be raised to a negative power");
  }
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) {
    raise_type("complex numbers are not supported");
  }
  const double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) {
    raise(FaultKind::Overflow, "(34, 'Numerical result out of range')");
  }
  return result;
}

Value float_arithmetic(BinaryOp op, double a, double b) {
  const bool divides = op == BinaryOp::Div || op == BinaryOp::FloorDiv || op == BinaryOp::Mod;
  if (divides && b == 0.0) {
    raise(FaultKind::Arithmetic, op == BinaryOp::Div        ? "float division by zero"
                                 : op == BinaryOp::FloorDiv ? "float floor division by zero"
                                                            : "float modulo");
  }
  switch (op) {
    case BinaryOp::Add:
      return Value::number(a + b);
    case BinaryOp::Sub:
      return Value::number(a - b);
    case BinaryOp::Mul:
      return Value::number(a * b);
    case BinaryOp::Div:
      return Value::number(a / b);
    case BinaryOp::FloorDiv:
      return Value::number(float_divmod(a, b).first);
    case BinaryOp::Mod:
      return Value::number(float_divmod(a, b).second);
    case BinaryOp::Pow:
      break;
  }
  return Value::number(float_pow(a, b));
}

// Charges the work of one product.
BigInt multiply(Runtime& runtime, const BigInt& a, const BigInt& b) {
  constexpr std::size_t kLimbPairsPerStep = 64;
  const std::size_t pairs = (a.bit_length() / 32 + 1) * (b.bit_length() / 32 + 1);
  runtime.budget().step(pairs / kLimbPairsPerStep);
  return a * b;
}

Value integer_pow(Runtime& runtime, const Value& a, const Value& b) {
  const BigInt exponent = to_big(b);
  BigInt base = to_big(a);
  if (exponent.negative()) {
    if (base.is_zero()) {
      raise(FaultKind::Arithmetic, "0.0 cannot be raised to a negative power");
    }
    return Value::number(float_pow(base.to_double(), exponent.to_double()));
  }
  if (base.bit_length() <= 1) {  // 0, 1, -1: the exponent may be huge
    const bool one =
        exponent.is_zero() || (!base.is_zero() && !(base.negative() && exponent.is_odd()));
    return Value::integer(one ? 1 : (base.is_zero() ? 0 : -1));
  }
  const auto small = exponent.to_int64();
  if (!small || *small > static_cast<std::int64_t>(BigInt::kMaxBits)) {
    raise(FaultKind::Limit, "a power that is too large");
  }
  BigInt result(1);
  for (auto rest = static_cast<std::uint64_t>(*small); rest != 0; rest >>= 1U) {
    if ((rest & 1U) != 0) {
      result = multiply(runtime, result, base);
    }
    if (rest > 1) {
      base = multiply(runtime, base, base);
    }
  }
  return Value::integer(result);
}

Value big_arithmetic(Runtime& runtime, BinaryOp op, const Value& a, const Value& b) {
  const BigInt x = to_big(a);
  const BigInt y = to_big(b);
  constexpr std::size_t kBytesPerBit = 8;
  runtime.budget().charge((x.bit_length() + y.bit_length()) / kBytesPerBit + 64);
  switch (op) {
    case BinaryOp::Add:
      return Value::integer(x + y);
    case BinaryOp::Sub:
      return Value::integer(x - y);
    case BinaryOp::Mul:
      return Value::integer(multiply(runtime, x, y));
    case BinaryOp::Div:
      return Value::number(BigInt::true_divide(x, y));
    default:
      break;
  }
  constexpr std::size_t kBitPairsPerStep = 65536;
  runtime.budget().step(x.bit_length() * y.bit_length() / kBitPairsPerStep);
  const auto [quotient, remainder] = BigInt::divmod(x, y);
  return Value::integer(op == BinaryOp::FloorDiv ? quotient : remainder);
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// The result if 64 bits and exact doubles serve, Missing otherwise.
Value small_arithmetic(BinaryOp op, std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53U;
  std::int64_t result = 0;
  switch (op) {
    case BinaryOp::Add:
      return __builtin_add_overflow(a, b, &result) ? Value() : Value::integer(result);
    case BinaryOp::Sub:
      return __builtin_sub_overflow(a, b, &result) ? Value() : Value::integer(result);
    case BinaryOp::Mul:
      return __builtin_mul_overflow(a, b, &result) ? Value() : Value::integer(result);
    case BinaryOp::Div:
      if (b == 0 || a > kExact || a < -kExact || b > kExact || b < -kExact) {
        return {};
      }
      return Value::number(static_cast<double>(a) / static_cast<double>(b));
    case BinaryOp::FloorDiv:
    case BinaryOp::Mod:
      if (b == 0 || b == -1) {  // -1: the smallest integer overflows
        return {};
      }
      return Value::integer(op == BinaryOp::FloorDiv ? floor_div(a, b) : a - floor_div(a, b) * b);
    case BinaryOp::Pow:
      break;
  }
  return {};
}

double parse_double(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    raise(FaultKind::Overflow, "rounded value too large to represent");
  }
  return value;
}

// Rounds a float to tens, hundreds ...: exactly, on its decimal expansion.
double round_to_tens(double value, std::int64_t zeros) {
  constexpr std::int64_t kMaxDigits = 308;
  if (zeros > kMaxDigits) {
    return std::copysign(0.0, value);
  }
  const BigInt whole = BigInt::from_double(value).magnitude();
  BigInt unit(1);
  for (std::int64_t i = 0; i < zeros; ++i) {
    unit = unit * BigInt(10);
  }
  auto [quotient, remainder] = BigInt::divmod(whole, unit);
  const BigInt twice = remainder * BigInt(2);
  const bool fraction = value != std::trunc(value);
  const bool up = twice > unit || (twice == unit && (fraction || quotient.is_odd()));
  const BigInt rounded = (up ? quotient + BigInt(1) : quotient) * unit;
  return std::copysign(rounded.to_double(), value);
}

Value round_float(double value, std::int64_t digits) {
  constexpr std::int64_t kMoreThanEnough = 324;
  if (!std::isfinite(value) || digits > kMoreThanEnough) {
    return Value::number(value);
  }
  if (digits < 0) {
    return Value::number(round_to_tens(value, -std::max(digits, -kMoreThanEnough)));
  }
  std::array<char, 1100> buffer{};
  const auto end = std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::fixed,
                                 static_cast<int>(digits))
                       .ptr;
  return Value::number(parse_double(std::string(buffer.begin(), end)));
}

}  // namespace

Value arithmetic(Runtime& runtime, BinaryOp op, const Value& a, const Value& b) {
  if (a.is(Kind::Float) || b.is(Kind::Float)) {
    return float_arithmetic(op, to_double(a), to_double(b));
  }
  if (op == BinaryOp::Pow) {
    return integer_pow(runtime, a, b);
  }
  if (!a.is(Kind::BigInt) && !b.is(Kind::BigInt)) {
    Value result = small_arithmetic(op, small_int(a), small_int(b));
    if (!result.is_missing()) {
      return result;
    }
  }
  return big_arithmetic(runtime, op, a, b);
}

Value round_number(const Value& number, std::int64_t digits) {
  if (number.is(Kind::Float)) {
    return round_float(number.number(), digits);
  }
  if (digits >= 0) {
    return Value::integer(to_big(number));
  }
  constexpr std::int64_t kMaxZeros = 40000;
  const BigInt value = to_big(number);
  BigInt unit(1);
  for (std::int64_t i = 0; i < std::min(-digits, kMaxZeros); ++i) {
    if (unit > value.magnitude() * BigInt(2)) {
      return Value::integer(0);
    }
    unit = unit * BigInt(10);
  }
  auto [quotient, remainder] = BigInt::divmod(value, unit);
  const BigInt twice = remainder * BigInt(2);
  const bool up = twice > unit || (twice == unit && quotient.is_odd());
  return Value::integer((up ? quotient + BigInt(1) : quotient) * unit);
}

}  // namespace smol::jinja

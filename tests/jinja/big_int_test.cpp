#include "jinja/big_int.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "jinja/fault.h"

namespace smol::jinja {
namespace {

BigInt big(std::string_view digits) {
  const bool negative = digits.front() == '-';
  const BigInt magnitude = BigInt::from_digits(digits.substr(negative ? 1 : 0), 10);
  return negative ? -magnitude : magnitude;
}

TEST(BigInt, PrintsWhatItRead) {
  EXPECT_EQ(big("123456789012345678901234567890").to_string(), "123456789012345678901234567890");
  EXPECT_EQ(big("-18446744073709551616").to_string(), "-18446744073709551616");
  EXPECT_EQ(BigInt().to_string(), "0");
  EXPECT_EQ(BigInt::from_digits("ffffffffffffffffff", 16).to_string(16), "ffffffffffffffffff");
}

TEST(BigInt, KeepsTheSmallestInt64) {
  const BigInt least(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(least.to_string(), "-9223372036854775808");
  EXPECT_EQ(least.to_int64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_FALSE((-least).to_int64().has_value());
}

TEST(BigInt, AddsAndSubtractsAcrossSigns) {
  EXPECT_EQ((big("99999999999999999999") + BigInt(1)).to_string(), "100000000000000000000");
  EXPECT_EQ((big("100000000000000000000") - BigInt(1)).to_string(), "99999999999999999999");
  EXPECT_TRUE((big("-5") + big("5")).is_zero());
}

TEST(BigInt, DividesTowardsMinusInfinity) {
  const auto [q1, r1] = BigInt::divmod(big("-7"), big("2"));
  EXPECT_EQ(q1.to_string(), "-4");
  EXPECT_EQ(r1.to_string(), "1");
  const auto [q2, r2] = BigInt::divmod(big("7"), big("-2"));
  EXPECT_EQ(q2.to_string(), "-4");
  EXPECT_EQ(r2.to_string(), "-1");
}

TEST(BigInt, DividesByManyLimbs) {
  const BigInt a = big("123456789012345678901234567890123456789012345678901234567890");
  const BigInt b = big("987654321098765432109876543210");
  const auto [q, r] = BigInt::divmod(a, b);
  EXPECT_EQ((q * b + r).to_string(), a.to_string());
  EXPECT_EQ(q.to_string(), "124999998860937500014238281249");
}

// The digit that Knuth's step D6 has to correct.
TEST(BigInt, CorrectsAnOverestimatedDigit) {
  const BigInt a = BigInt::from_digits("7fffffff800000010000000000000000", 16);
  const BigInt b = BigInt::from_digits("800000008000000200000005", 16);
  const auto [q, r] = BigInt::divmod(a, b);
  EXPECT_EQ((q * b + r).to_string(16), a.to_string(16));
  EXPECT_TRUE(r < b);
}

TEST(BigInt, RefusesDivisionByZero) {
  EXPECT_THROW(BigInt::divmod(BigInt(1), BigInt()), Fault);
}

TEST(BigInt, RoundsToTheNearestDouble) {
  EXPECT_EQ(big("9007199254740993").to_double(), 9007199254740992.0);
  EXPECT_EQ(big("9007199254740995").to_double(), 9007199254740996.0);
  EXPECT_EQ(BigInt::true_divide(big("1"), big("3")), 1.0 / 3.0);
  EXPECT_EQ(BigInt::true_divide(big("100000000000000000000001"), big("10")), 1e22);
}

TEST(BigInt, DividesToSubnormals) {
  const BigInt huge = BigInt(1).shifted_left(1074);
  EXPECT_EQ(BigInt::true_divide(BigInt(1), huge), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(BigInt::true_divide(BigInt(3), huge.shifted_left(1)),
            2 * std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(BigInt::true_divide(BigInt(1), huge.shifted_left(1)), 0.0);
}

TEST(BigInt, ComesBackFromDoubles) {
  EXPECT_EQ(BigInt::from_double(-3.9).to_string(), "-3");
  EXPECT_EQ(BigInt::from_double(1e22).to_string(), "10000000000000000000000");
  EXPECT_TRUE(BigInt::from_double(0.5).is_zero());
}

TEST(BigInt, RefusesMoreThanPythonsDigits) {
  EXPECT_THROW(BigInt::from_digits(std::string(4301, '9'), 10), Fault);
  EXPECT_THROW(static_cast<void>(BigInt(1).shifted_left(20000).to_string()), Fault);
}

TEST(BigInt, RefusesToGrowWithoutBound) {
  const BigInt half = BigInt(1).shifted_left(BigInt::kMaxBits / 2 + 8);
  EXPECT_THROW(static_cast<void>(half * half), Fault);
  EXPECT_THROW(static_cast<void>(half.shifted_left(BigInt::kMaxBits)), Fault);
}

TEST(BigInt, TooLargeForADoubleIsAFault) {
  EXPECT_THROW(static_cast<void>(BigInt(1).shifted_left(1024).to_double()), Fault);
}

}  // namespace
}  // namespace smol::jinja

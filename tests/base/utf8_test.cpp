#include "base/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace smol::utf8 {
namespace {

using Kind = Step::Kind;

void expect_step(std::string_view text, Kind kind, char32_t code_point, std::size_t length) {
  const Step step = next(text);
  EXPECT_EQ(step.kind, kind) << text;
  EXPECT_EQ(step.code_point, code_point) << text;
  EXPECT_EQ(step.length, length) << text;
}

TEST(Utf8, ReadsCharactersOfOneToFourBytes) {
  expect_step("a", Kind::Character, U'a', 1);
  expect_step("\xC3\xA9z", Kind::Character, U'\u00E9', 2);
  expect_step("\xE2\x82\xAC", Kind::Character, U'\u20AC', 3);
  expect_step("\xF0\x9F\x98\x80", Kind::Character, U'\U0001F600', 4);
  expect_step("\xF4\x8F\xBF\xBF", Kind::Character, U'\U0010FFFF', 4);
}

TEST(Utf8, TakesAMaximalInvalidSubpart) {
  expect_step("\x80", Kind::Invalid, kReplacement, 1);
  expect_step("\xC0\x80", Kind::Invalid, kReplacement, 1);          // overlong
  expect_step("\xE0\x80\x80", Kind::Invalid, kReplacement, 1);      // overlong
  expect_step("\xED\xA0\x80", Kind::Invalid, kReplacement, 1);      // surrogate
  expect_step("\xF4\x90\x80\x80", Kind::Invalid, kReplacement, 1);  // above U+10FFFF
  expect_step("\xE2\x82z", Kind::Invalid, kReplacement, 2);
  expect_step("\xF0\x9F\x98z", Kind::Invalid, kReplacement, 3);
}

TEST(Utf8, TellsASequenceThatMayStillBecomeOne) {
  expect_step("\xE2\x82", Kind::Incomplete, kReplacement, 2);
  expect_step("\xF0\x9F\x98", Kind::Incomplete, kReplacement, 3);
  expect_step("\xC3", Kind::Incomplete, kReplacement, 1);
}

TEST(Utf8, ReplacesEachInvalidSubpartOnce) {
  EXPECT_EQ(to_valid("a\xE2\x82z\xFFq\xC3"), "a\xEF\xBF\xBDz\xEF\xBF\xBDq\xEF\xBF\xBD");
  EXPECT_EQ(to_valid("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F");
}

TEST(Utf8, CountsCodePoints) {
  EXPECT_EQ(length(""), 0U);
  EXPECT_EQ(length("a\xE2\x82\xAC\xF0\x9F\x98\x80"), 3U);
  EXPECT_EQ(length("\xE2\x82z"), 2U);
}

TEST(Utf8, KnowsValidText) {
  EXPECT_TRUE(is_valid(""));
  EXPECT_TRUE(is_valid("\xE2\x82\xAC"));
  EXPECT_FALSE(is_valid("\xE2\x82"));
  EXPECT_FALSE(is_valid("\xED\xBF\xBF"));
}

TEST(Utf8, AppendsEveryCodePointAsItIsRead) {
  for (const char32_t code_point : {U'\0', U'\u007F', U'\u0080', U'\u07FF', U'\u0800', U'\uFFFF',
                                    U'\U00010000', U'\U0010FFFF'}) {
    std::string text;
    append(text, code_point);
    const Step step = next(text);
    EXPECT_EQ(step.kind, Kind::Character);
    EXPECT_EQ(step.code_point, code_point);
    EXPECT_EQ(step.length, text.size());
  }
}

}  // namespace
}  // namespace smol::utf8

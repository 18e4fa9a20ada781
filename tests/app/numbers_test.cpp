#include "app/numbers.h"

#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace smol::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string message_of_number(const std::string& text) {
  try {
    parse_number("--top-p", text, {0.0, 1.0});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ParseNumber, TakesBothEndsOfItsBounds) {
  EXPECT_EQ(parse_number("x", "0", {0.0, 1.0}), 0.0);
  EXPECT_EQ(parse_number("x", "1.0", {0.0, 1.0}), 1.0);
  EXPECT_EQ(parse_number("x", "-2.5e-1", {-1.0, 1.0}), -0.25);
}

TEST(ParseNumber, NamesTheThingTheBoundsAndWhatWasFound) {
  EXPECT_EQ(message_of_number("1.5"), "--top-p: expected a number from 0 to 1, found \"1.5\"");
}

TEST(ParseNumber, RefusesWhatIsNoNumberInBounds) {
  for (const char* text : {"", "nan", "-nan", "inf", "-inf", "1e999", "-0.1", "abc", "0.5x", " 0.5",
                           "0.5 ", "0,5", "--", "0x1"}) {
    EXPECT_THAT(message_of_number(text), HasSubstr("expected a number from 0 to 1")) << text;
  }
}

TEST(ParseCount, RefusesSignsFractionsAndOverflow) {
  for (const char* text : {"", "-1", "+1", "1.0", "1e3", "18446744073709551616", "ten", "0x10"}) {
    EXPECT_THROW(parse_count("--seed", text, {0, std::numeric_limits<std::uint64_t>::max()}), Error)
        << text;
  }
  EXPECT_EQ(
      parse_count("--seed", "18446744073709551615", {0, std::numeric_limits<std::uint64_t>::max()}),
      std::numeric_limits<std::uint64_t>::max());
}

TEST(ParseInteger, RefusesWhatLiesOutside) {
  EXPECT_EQ(parse_integer("id", "-5", {-10, 10}), -5);
  EXPECT_THROW(parse_integer("id", "11", {-10, 10}), Error);
}

TEST(ParseCounts, TakesAListAndRefusesWhatIsNoNumberInIt) {
  EXPECT_THAT(parse_counts("--sequences", "1,2, 8 ", {1, 8}), ElementsAre(1, 2, 8));
  EXPECT_THAT(parse_counts("--sequences", "4", {1, 8}), ElementsAre(4));
  for (const char* text : {"", ",", "1,", "1,,2", "1 2", "0", "9", "1,x"}) {
    EXPECT_THROW(parse_counts("--sequences", text, {1, 8}), Error) << text;
  }
}

TEST(InQuotes, EscapesControlCharactersAndBrokenUtf8) {
  EXPECT_EQ(in_quotes("a\x1b[2J\n"), "\"a\\x1b[2J\\x0a\"");
  EXPECT_EQ(in_quotes("\xff"), "\"\xef\xbf\xbd\"");
}

TEST(InQuotes, CutsLongTexts) {
  const std::string shown = in_quotes(std::string(1000, 'x'));
  EXPECT_LT(shown.size(), 100U);
  EXPECT_TRUE(shown.ends_with("...\""));
}

TEST(BytesText, UsesTheUnitThatFits) {
  EXPECT_EQ(bytes_text(512), "512 bytes");
  EXPECT_EQ(bytes_text(7'800'000), "7.8 MB");
  EXPECT_EQ(bytes_text(300'000'000), "300 MB");
  EXPECT_EQ(bytes_text(1'912'000'000), "1.91 GB");
}

}  // namespace
}  // namespace smol::app

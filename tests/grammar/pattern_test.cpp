#include <gtest/gtest.h>

#include "base/error.h"
#include "grammar/ecma_pattern.h"
#include "grammar/formats.h"

namespace smol::grammar {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  StepBudget budget;
  RegexPool pool(budget);
  const Regex regex = parse_pattern(pool, pattern);
  return pool.automaton(regex).matches(text);
}

bool format_fits(std::string_view format, std::string_view text) {
  return matches(format_pattern(format).value(), text);
}

TEST(EcmaPattern, IsAnchoredOnlyWhereItSaysSo) {
  EXPECT_TRUE(matches("b", "abc"));
  EXPECT_TRUE(matches("^a", "abc"));
  EXPECT_FALSE(matches("^b", "abc"));
  EXPECT_TRUE(matches("c$", "abc"));
  EXPECT_FALSE(matches("b$", "abc"));
  EXPECT_FALSE(matches("^b$", "abc"));
  EXPECT_TRUE(matches("", "anything"));
}

TEST(EcmaPattern, BindsAnAnchorToItsOwnOption) {
  EXPECT_TRUE(matches("^a|b$", "axx"));
  EXPECT_TRUE(matches("^a|b$", "xxb"));
  EXPECT_FALSE(matches("^a|b$", "xax"));
  EXPECT_TRUE(matches("^$|(^x+$)", ""));
  EXPECT_TRUE(matches("^$|(^x+$)", "xx"));
  EXPECT_FALSE(matches("^$|(^x+$)", "xy"));
}

TEST(EcmaPattern, TakesAnchorsInsideOfRepetitions) {
  constexpr std::string_view kPath = R"(^(\/?((\.{2})|([a-z0-9\-]*))($|\/))*$)";
  EXPECT_TRUE(matches(kPath, "../a-b/c"));
  EXPECT_TRUE(matches(kPath, ""));
  EXPECT_FALSE(matches(kPath, "A"));
  EXPECT_TRUE(matches("^(^|b){2}$", "b"));
  EXPECT_FALSE(matches("a^b", "ab"));
  EXPECT_FALSE(matches("a$b", "ab"));
}

TEST(EcmaPattern, CountsRepetitions) {
  for (int n = 0; n <= 6; ++n) {
    const std::string text(static_cast<std::size_t>(n), 'a');
    EXPECT_EQ(matches("^a{2,4}$", text), n >= 2 && n <= 4) << n;
    EXPECT_EQ(matches("^a{3}$", text), n == 3) << n;
    EXPECT_EQ(matches("^a{5,}$", text), n >= 5) << n;
    EXPECT_EQ(matches("^(aa?){2}$", text), n >= 2 && n <= 4) << n;
  }
}

TEST(EcmaPattern, KnowsTheClassesOfEcma) {
  EXPECT_TRUE(matches(R"(^\d\w\s$)", "5_ "));
  EXPECT_FALSE(matches(R"(^\d$)", "\u0665"));
  EXPECT_FALSE(matches(R"(^\w$)", "é"));
  EXPECT_TRUE(matches(R"(^\W$)", "é"));
  EXPECT_TRUE(matches(R"(^\s$)", "\u00a0"));
  EXPECT_TRUE(matches("^.$", "😀"));
  EXPECT_FALSE(matches("^.$", "\n"));
  EXPECT_TRUE(matches(R"(^[\w.-]+$)", "a-b.c"));
  EXPECT_TRUE(matches("^[^a-c]$", "d"));
  EXPECT_FALSE(matches("^[^a-c]$", "b"));
  EXPECT_TRUE(matches("^[]$|^[^]$", "x"));
}

TEST(EcmaPattern, ReadsEscapes) {
  EXPECT_TRUE(matches(R"(^\u00e9\x41\u{1F600}\t\/\-$)", "éA😀\t/-"));
  EXPECT_TRUE(matches(R"(^\ud83d\ude00$)", "😀"));
  EXPECT_TRUE(matches(R"(^[\u4e00-\u9fff]+$)", "漢字"));
}

TEST(EcmaPattern, LooksAhead) {
  EXPECT_TRUE(matches("^(?!@@)[@a-z]+$", "@a"));
  EXPECT_FALSE(matches("^(?!@@)[@a-z]+$", "@@a"));
  EXPECT_TRUE(matches("^(?=.*[0-9])(?=.*[a-z]).{3,}$", "a1b"));
  EXPECT_FALSE(matches("^(?=.*[0-9])(?=.*[a-z]).{3,}$", "abc"));
}

TEST(EcmaPattern, RefusesWhatItDoesNotKnow) {
  const auto code_of = [](std::string_view pattern) {
    try {
      static_cast<void>(matches(pattern, ""));
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::Io;
  };
  for (const char* pattern :
       {R"((a)\1)", R"(\bword)", "(?<=a)b", "(?<!a)b", R"(\p{L})", "((?=a)b)*"}) {
    EXPECT_EQ(code_of(pattern), ErrorCode::Unsupported) << pattern;
  }
  for (const char* pattern : {"(", ")", "a**", "[b-a]", "[a", "a{2,1}", "*a", "(?a)", "\\"}) {
    EXPECT_EQ(code_of(pattern), ErrorCode::BadInput) << pattern;
  }
}

TEST(EcmaPattern, GivesUpOnPatternsThatNeedTooManyStates) {
  EXPECT_THROW(matches("(a|b)*a(a|b){20}$", "a"), Error);
  EXPECT_THROW(matches("((a{1,100}){1,100}){1,100}b?$", "a"), Error);
}

TEST(Format, KnowsTheCalendar) {
  for (const char* date : {"2024-02-29", "2000-02-29", "1999-12-31", "0001-01-01"}) {
    EXPECT_TRUE(format_fits("date", date)) << date;
  }
  for (const char* date :
       {"2023-02-29", "1900-02-29", "2024-13-01", "2024-04-31", "0000-01-01", "2024-1-01", "x"}) {
    EXPECT_FALSE(format_fits("date", date)) << date;
  }
  EXPECT_TRUE(format_fits("date-time", "2024-02-29T23:59:59.123Z"));
  EXPECT_TRUE(format_fits("date-time", "2024-02-29T23:59:59-08:30"));
  EXPECT_FALSE(format_fits("date-time", "2024-02-29T24:00:00Z"));
  EXPECT_FALSE(format_fits("date-time", "2024-02-29T23:59:59"));
  EXPECT_TRUE(format_fits("time", "00:00:00+00:00"));
  EXPECT_FALSE(format_fits("time", "00:00Z"));
}

TEST(Format, KnowsAddresses) {
  for (const char* one :
       {"::", "::1", "1::", "1:2:3:4:5:6:7:8", "1::8", "::ffff:1.2.3.4", "fe80::a:b"}) {
    EXPECT_TRUE(format_fits("ipv6", one)) << one;
  }
  for (const char* one :
       {":", "1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "::12345", "1.2.3.4"}) {
    EXPECT_FALSE(format_fits("ipv6", one)) << one;
  }
  EXPECT_TRUE(format_fits("ipv4", "255.0.10.9"));
  EXPECT_FALSE(format_fits("ipv4", "256.0.0.1"));
  EXPECT_FALSE(format_fits("ipv4", "01.0.0.1"));
  EXPECT_TRUE(format_fits("email", "a.b+c@example.org"));
  EXPECT_FALSE(format_fits("email", "a..b@example.org"));
  EXPECT_FALSE(format_fits("email", "a@-example.org"));
  EXPECT_TRUE(format_fits("hostname", "a.example-1.org"));
  EXPECT_FALSE(format_fits("hostname", "a_b"));
  EXPECT_FALSE(format_fits("hostname", std::string(64, 'a')));
  EXPECT_TRUE(format_fits("uuid", "123e4567-e89b-12d3-a456-426614174000"));
  EXPECT_FALSE(format_fits("uuid", "123e4567e89b12d3a456426614174000"));
}

TEST(Format, KnowsUris) {
  for (const char* one : {"https://user@example.org:80/a/b?c=d#e", "urn:isbn:1", "file:///etc",
                          "http://[::1]/", "mailto:a@b", "a:"}) {
    EXPECT_TRUE(format_fits("uri", one)) << one;
  }
  for (const char* one : {"", "example.org", "/a", "http://a b", "http://a/%zz", "1a:b"}) {
    EXPECT_FALSE(format_fits("uri", one)) << one;
  }
  EXPECT_FALSE(format_pattern("color"));
}

}  // namespace
}  // namespace smol::grammar

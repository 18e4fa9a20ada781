#include <gtest/gtest.h>

#include "grammar/texts.h"

namespace smol::grammar {
namespace {

bool gbnf_fits(std::string_view grammar, std::string_view text) {
  return fits(compile_gbnf(grammar), text);
}

std::string gbnf_refusal(std::string_view grammar) {
  try {
    static_cast<void>(compile_gbnf(grammar));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Gbnf, ReadsEveryOperator) {
  constexpr std::string_view kAll = R"(# all of them
root ::= "a"* [b-d]+ ("x" | "yz")? .{2} [^\n"]{1,2} item{0,1}  # behind
item ::= "\x41\u00e9\t"
    | "\"\\"
)";
  EXPECT_TRUE(gbnf_fits(kAll, "aabyz12e"));
  EXPECT_TRUE(gbnf_fits(kAll, "d\n\nééAé\t"));
  EXPECT_TRUE(gbnf_fits(kAll, "d12e\"\\"));
  EXPECT_FALSE(gbnf_fits(kAll, "a12e"));
  EXPECT_FALSE(gbnf_fits(kAll, "b12\""));
  EXPECT_FALSE(gbnf_fits(kAll, "b1"));
}

TEST(Gbnf, ReadsJson) {
  constexpr std::string_view kJson = R"(root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::=
  "{" ws (
            string ":" ws value
    ("," ws string ":" ws value)*
  )? "}" ws
array  ::=
  "[" ws (
            value
    ("," ws value)*
  )? "]" ws
string ::=
  "\"" (
    [^"\\\x7F\x00-\x1F] |
    "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) # escapes
  )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20}
)";
  EXPECT_TRUE(gbnf_fits(kJson, "{\"a\": [1, -2.5e+3, {}], \"b\\u00e9\": null}"));
  EXPECT_TRUE(gbnf_fits(kJson, "{\n    \"a\": true}\n"));
  EXPECT_FALSE(gbnf_fits(kJson, "{\"a\": [1,]}"));
  EXPECT_FALSE(gbnf_fits(kJson, "{\"a\"  : 1}"));
}

TEST(Gbnf, CallsRulesWithinThemselves) {
  constexpr std::string_view kNested = R"g(root ::= "(" root ")" root | "")g";
  EXPECT_TRUE(gbnf_fits(kNested, ""));
  EXPECT_TRUE(gbnf_fits(kNested, "(()())()"));
  EXPECT_FALSE(gbnf_fits(kNested, "(()"));
  EXPECT_FALSE(gbnf_fits(kNested, "())"));
  constexpr std::string_view kPalindrome =
      R"(root ::= "a" root "a" | "b" root "b" | "a" | "b" | "")";
  EXPECT_TRUE(gbnf_fits(kPalindrome, "abaababaaba"));
  EXPECT_FALSE(gbnf_fits(kPalindrome, "abaabbbaabb"));
}

TEST(Gbnf, RepeatsWhatCallsItself) {
  constexpr std::string_view kTree = R"(root ::= "[" (root ","?){2,3} "]" | [0-9])";
  EXPECT_TRUE(gbnf_fits(kTree, "[1,[2,3]]"));
  EXPECT_TRUE(gbnf_fits(kTree, "[1[23]4]"));
  EXPECT_FALSE(gbnf_fits(kTree, "[1]"));
  EXPECT_FALSE(gbnf_fits(kTree, "[1234]"));
}

TEST(Gbnf, PointsAtWhatIsWrong) {
  EXPECT_EQ(gbnf_refusal("root ::= \"a\n"),
            "grammar: line 1, column 12: expected \" at the text's end, found the line's end\nroot "
            "::= \"a\n"
            "           ^");
  EXPECT_EQ(gbnf_refusal("root ::= x\ny ::= \"é\" z"),
            "grammar: line 1, column 10: rule \"x\" is not defined\nroot ::= x\n         ^");
  EXPECT_EQ(gbnf_refusal("a ::= \"é\" )"),
            "grammar: line 1, column 11: expected a text, a class, a rule's name, | or the line's "
            "end, found "
            "\")\"\na ::= \"é\" )\n          ^");
}

TEST(Gbnf, RefusesWhatCannotBe) {
  for (const char* bad :
       {"", "a ::= \"x\"", "root ::= [z-a]", "root ::= \"\\q\"", "root ::= \"a\"{3,2}",
        "root ::= (", "root ::= [a", "root ::= \"a\"\nroot ::= \"b\"", "root = \"a\"",
        "root ::= \"\\uD800\"", "root ::= \"a\"{100000}", "root ::= \xFF", "root ::= <think>"}) {
    EXPECT_TRUE(gbnf_refusal(bad).starts_with("grammar: line "))
        << bad << ": " << gbnf_refusal(bad);
  }
}

TEST(Gbnf, RefusesLeftRecursionAlsoBehindEmptyRules) {
  for (const char* bad :
       {"root ::= root \"a\" | \"b\"", "root ::= x \"a\" | \"b\"\nx ::= e root\ne ::= \" \"?",
        "root ::= \"a\" b\nb ::= c \"x\" | \"y\"\nc ::= b | root"}) {
    EXPECT_NE(gbnf_refusal(bad).find("left recursive"), std::string::npos) << gbnf_refusal(bad);
  }
}

TEST(Gbnf, RefusesGrammarsWithoutText) {
  EXPECT_NE(gbnf_refusal(R"(root ::= "a" root)").find("no text fits"), std::string::npos);
}

TEST(Gbnf, BoundsItsSize) {
  std::string nested = "root ::= \"x\" root | ";
  for (int i = 0; i < 6; ++i) {
    nested += "(";
  }
  nested += "\"a\" root";
  for (int i = 0; i < 6; ++i) {
    nested += "){100}";
  }
  EXPECT_NE(gbnf_refusal(nested).find("too large"), std::string::npos);
  EXPECT_NE(gbnf_refusal("root ::= " + std::string(1000, '(') + "\"a\"" + std::string(1000, ')')),
            "");
  std::string chain = "root ::= r0\n";
  for (int i = 0; i < 5000; ++i) {
    chain += "r" + std::to_string(i) + " ::= \"a\" r" + std::to_string(i + 1) + "\n";
  }
  EXPECT_EQ(gbnf_refusal(chain + "r5000 ::= \"b\""), "");
}

TEST(Gbnf, TakesATextOfAnyLengthInOneOrManyPieces) {
  std::string text;
  std::string pieces = "root ::=";
  for (int i = 0; i < 3000; ++i) {
    text += "a word, é, 漢字 ";
    pieces += " \"a word, é, 漢字 \"";
  }
  for (const std::string& grammar : {"root ::= \"" + text + "\"", pieces}) {
    EXPECT_TRUE(gbnf_fits(grammar, text));
    EXPECT_FALSE(gbnf_fits(grammar, text + "a"));
  }
}

TEST(Gbnf, TakesTheSameTextsWhereALexemeWouldBeTooLarge) {
  constexpr std::string_view kWide = R"(root ::= ([ab]* "a" [ab]{13} "c")+)";
  EXPECT_TRUE(gbnf_fits(kWide, "abbbbbbbbbbbbbc"));
  EXPECT_FALSE(gbnf_fits(kWide, "bbbbbbbbbbbbbbc"));
  EXPECT_TRUE(gbnf_fits(kWide, "bababbbbbbbbbbbbbcaaaaaaaaaaaaaac"));
}

}  // namespace
}  // namespace smol::grammar

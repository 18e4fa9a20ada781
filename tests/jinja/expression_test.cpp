#include <gtest/gtest.h>

#include "jinja/render_helper.h"

namespace smol::jinja {
namespace {

TEST(Expression, PrecedenceIsJinjasNotPythons) {
  EXPECT_EQ(render("{{ -2**2 }}"), "4");
  EXPECT_EQ(render("{{ 2**3**2 }}"), "64");
  EXPECT_EQ(render("{{ -1|abs }}"), "1");
  EXPECT_EQ(render("{{ 'a' + 2 ~ 3 }}"), "a23");
}

TEST(Expression, DividesAsPython) {
  EXPECT_EQ(render("{{ 7//2 }} {{ -7//2 }} {{ -7%3 }} {{ 7/2 }} {{ -7.5//2 }} {{ 7.5 % -2 }}"),
            "3 -4 2 3.5 -4.0 -0.5");
}

TEST(Expression, AnIntegerZeroTakesTheDivisorsSign) {
  EXPECT_EQ(render("{{ 0 / -10000000000000000000 }} {{ 0 / 10000000000000000000 }} {{ 0 / -5 }}"),
            "-0.0 0.0 -0.0");
}

TEST(Expression, IntegersGrowBeyond64Bits) {
  EXPECT_EQ(render("{{ 9223372036854775807 + 1 }} {{ 2**100 }} {{ -(2**63) - 1 }}"),
            "9223372036854775808 1267650600228229401496703205376 -9223372036854775809");
  EXPECT_EQ(render("{{ (2**100) // (2**98) }} {{ 10**20 % 7 }} {{ 10**25 / 10**24 }}"), "4 2 10.0");
}

TEST(Expression, FloatsPrintAsPythonPrintsThem) {
  EXPECT_EQ(
      render("{{ 1.0 }} {{ 1e16 }} {{ 1e15 }} {{ 0.0001 }} {{ 0.00001 }} {{ 1/3 }} {{ 1e22 }}"),
      "1.0 1e+16 1000000000000000.0 0.0001 1e-05 0.3333333333333333 1e+22");
}

TEST(Expression, ComparisonsChain) {
  EXPECT_EQ(render("{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 == 1.0 == true }}"), "True False True");
}

TEST(Expression, LogicYieldsAnOperand) {
  EXPECT_EQ(render("{{ 0 or 'x' }} {{ 1 and 'y' }} {{ '' or none }}"), "x y None");
}

TEST(Expression, ConditionalWithoutElsePrintsNothing) {
  EXPECT_EQ(render("[{{ 1 if false }}]"), "[]");
  EXPECT_EQ(render("{{ 'a' if 0 else 'b' if 0 else 'c' }}"), "c");
}

TEST(Expression, SlicesListsAndStrings) {
  EXPECT_EQ(render("{{ xs[1:] }}{{ xs[::-1] }}{{ xs[-2:] }}{{ s[1:3] }}{{ s[::-1] }}",
                   R"({"xs": [1, 2, 3], "s": "añb"})"),
            "[2, 3][3, 2, 1][2, 3]ñbbña");
  EXPECT_EQ(failure("{{ [1][::0] }}"), "slice step cannot be zero");
}

// Jinja2 computes constant output when it compiles, by its own rules for items.
TEST(Expression, AConstantSliceOfWhatHasNonePrintsNothing) {
  EXPECT_EQ(render("[{{ 5[1:2] }}{{ (5[1:2])|string }}{{ ([1]|first)[:1] }}]"), "[]");
  EXPECT_EQ(failure("{{ x[1:2] }}", R"({"x": 5})"), "'int' object is not subscriptable");
  EXPECT_EQ(failure("{% set a = 5[1:2] %}"), "'int' object is not subscriptable");
}

TEST(Expression, AttributesPreferMethodsAndItemsPreferKeys) {
  EXPECT_EQ(render("{{ d.items is callable }} {{ d['items'] }}", R"({"d": {"items": 5}})"),
            "True 5");
}

TEST(Expression, StringEscapesArePythons) {
  EXPECT_EQ(render(R"({{ "\x41\u00e9\n\101\q" }})"), "A\xC3\xA9\nA\\q");
  EXPECT_EQ(render(R"({{ "\N{DEGREE SIGN}" }})"), "\xC2\xB0");
  EXPECT_EQ(render("{{ '\\\xC3\xA9' }}"), "\\xe9");
}

TEST(Expression, LiteralsTakeUnderscoresAndBases) {
  EXPECT_EQ(render("{{ 1_000 }} {{ 0x1F }} {{ 0b101 }} {{ 0o17 }} {{ 1_0.5 }}"),
            "1000 31 5 15 10.5");
}

TEST(Expression, DictsTakeAnyScalarKey) {
  EXPECT_EQ(render("{{ {1: 'a', '1': 'b', none: 'c', true: 'd', (1, 2): 'e'} }}"),
            "{1: 'd', '1': 'b', None: 'c', (1, 2): 'e'}");
}

TEST(Expression, ReprQuotesAsPython) {
  EXPECT_EQ(render("{{ [s, \"it's\", '\\n\\t'] }}", R"({"s": "a\u200b\u0007é"})"),
            R"(['a\u200b\x07é', "it's", '\n\t'])");
}

TEST(Expression, CallsTakeStarArguments) {
  EXPECT_EQ(render("{% macro m(a, b, c=3) %}{{ a }}{{ b }}{{ c }}{% endmacro %}"
                   "{{ m(*[1, 2]) }} {{ m(1, **{'b': 5, 'c': 6}) }}"),
            "123 156");
}

TEST(Undefined, PrintsNothingAndIsFalsyAndEmpty) {
  EXPECT_EQ(render("[{{ x }}]{{ x|length }}{{ 'a' in x }}{{ x == y }}{{ not x }}"
                   "{% for i in x %}i{% else %}none{% endfor %}"),
            "[]0FalseTrueTruenone");
}

TEST(Undefined, NamesWhatIsMissing) {
  EXPECT_EQ(failure("{{ x.y }}"), "'x' is undefined");
  EXPECT_EQ(failure("{{ d.a.b }}", R"({"d": {}})"), "'dict object' has no attribute 'a'");
  EXPECT_EQ(failure("{{ xs[9].b }}", R"({"xs": []})"), "list object has no element 9");
  EXPECT_EQ(failure("{{ x + 1 }}"), "'x' is undefined");
  EXPECT_EQ(failure("{{ x() }}"), "'x' is undefined");
}

TEST(Undefined, MakesNoDict) {
  EXPECT_EQ(failure("{{ dict(x) }}"), "'x' is undefined");
  EXPECT_EQ(failure("{{ dict(x, a=1) }}"), "'x' is undefined");
  EXPECT_EQ(failure("{{ namespace(x) }}"), "'x' is undefined");
}

TEST(Operators, RefuseOtherTypesAsPythonDoes) {
  EXPECT_EQ(failure("{{ 1 + 'a' }}"), "unsupported operand type(s) for +: 'int' and 'str'");
  EXPECT_EQ(failure("{{ 'a' + 1 }}"), "can only concatenate str (not \"int\") to str");
  EXPECT_EQ(failure("{{ [] < {} }}"), "'<' not supported between instances of 'list' and 'dict'");
  EXPECT_EQ(failure("{{ 1 in 5 }}"), "argument of type 'int' is not iterable");
  EXPECT_EQ(failure("{{ 1 // 0 }}"), "integer division or modulo by zero");
}

}  // namespace
}  // namespace smol::jinja

#include <gtest/gtest.h>

#include "jinja/render_helper.h"

namespace smol::jinja {
namespace {

TEST(StringMethod, Splits) {
  EXPECT_EQ(
      render("{{ ' a b  c '.split() }} {{ ' a b  c '.split(none, 1) }} {{ ' a b '.rsplit(none, 1) "
             "}} {{ 'a,b,,c'.split(',', 2) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ ''.split(',') }}"),
      "['a', 'b', 'c'] ['a', 'b  c '] [' a', 'b'] ['a', 'b', ',c'] ['a,b', 'c'] ['']");
  EXPECT_EQ(render("{{ 'a\\r\\nb\\nc'.splitlines() }} {{ 'a\\nb'.splitlines(true) }}"),
            "['a', 'b', 'c'] ['a\\n', 'b']");
  EXPECT_EQ(
      render(
          "{{ 'a-b-c'.partition('-') }} {{ 'a-b-c'.rpartition('-') }} {{ 'a'.rpartition('-') }}"),
      "('a', '-', 'b-c') ('a-b', '-', 'c') ('', '', 'a')");
}

TEST(StringMethod, Strips) {
  EXPECT_EQ(render("{{ 'xyaxy'.strip('yx') }}|{{ '  a '.lstrip() }}|{{ ' a  '.rstrip() }}|{{ "
                   "'ab'.removeprefix('a') }}|{{ 'ab'.removesuffix('b') }}"),
            "a|a | a|b|a");
}

TEST(StringMethod, SearchesByCharacters) {
  EXPECT_EQ(
      render(
          "{{ 'éab'.find('b') }} {{ 'éab'.find('z') }} {{ 'aXbX'.rfind('X') }} {{ 'aaa'.count('a', "
          "1) }} {{ 'abc'.startswith(('x', 'a')) }} {{ 'abc'.endswith('bc', 1) }}"),
      "2 -1 3 2 True True");
  EXPECT_EQ(failure("{{ 'a'.index('b') }}"), "substring not found");
}

TEST(StringMethod, Pads) {
  EXPECT_EQ(render("{{ 'a'.ljust(3, '.') }}{{ 'a'.rjust(3) }}{{ 'ab'.center(5, '*') }}{{ "
                   "'-5'.zfill(4) }}{{ 'a\\tb'.expandtabs(4) }}"),
            "a..  a**ab*-005a   b");
}

TEST(StringMethod, ChangesCase) {
  EXPECT_EQ(render("{{ 'aB'.swapcase() }} {{ \"they're x1y\".title() }} {{ 'Straße'.casefold() }}"),
            "Ab They'Re X1Y strasse");
}

TEST(StringMethod, TestsCharacters) {
  EXPECT_EQ(render("{{ '½'.isnumeric() }}{{ '²'.isdigit() }}{{ '²'.isdecimal() }}{{ 'A "
                   "B'.istitle() }}{{ ''.isalpha() }}{{ 'a_1'.isidentifier() }}"),
            "TrueTrueFalseTrueFalseTrue");
}

TEST(StringMethod, JoinsAndTranslates) {
  EXPECT_EQ(render("{{ '-'.join(['a', 'b']) }} {{ 'abc'.translate({97: 'x', 98: none}) }} {{ "
                   "'é'.encode('utf-8') }}"),
            R"(a-b xc b'\xc3\xa9')");
  EXPECT_EQ(failure("{{ ','.join([1]) }}"), "sequence item 0: expected str instance, int found");
}

TEST(ListMethod, CountsAndFinds) {
  EXPECT_EQ(render("{{ [1, 2, 1].count(1) }} {{ (1, 2).index(2) }} {{ [1].copy() }}"), "2 1 [1]");
}

TEST(DictMethod, ReadsOnly) {
  EXPECT_EQ(render("{{ d.keys() }} {{ d.values()|list }} {{ d.items() }} {{ d.get('z') }} {{ "
                   "d.get('z', 9) }}",
                   R"({"d": {"a": 1}})"),
            "dict_keys(['a']) [1] dict_items([('a', 1)]) None 9");
  EXPECT_EQ(failure("{{ d.update({}) }}", R"({"d": {}})"),
            "access to attribute 'update' of 'dict' object is unsafe.");
  EXPECT_EQ(failure("{{ [1].append(2) }}"),
            "access to attribute 'append' of 'list' object is unsafe.");
}

TEST(Attribute, WithUnderscoresPrintsNothingAndCannotBeUsed) {
  EXPECT_EQ(render("[{{ ''.__class__ }}{{ x.__class__ }}{{ (1)._private }}]"), "[]");
  EXPECT_EQ(failure("{{ ''.__class__.__mro__ }}"),
            "access to attribute '__class__' of 'str' object is unsafe.");
  EXPECT_EQ(render("{{ d._x }}", R"({"d": {"_x": 5}})"), "5");
}

TEST(Percent, FormatsAsPython) {
  EXPECT_EQ(render("{{ '%s-%5d|%-5s|%05.1f|%x|%X|%o|%e|%g|%r|%c|%%' % ('a', 42, 'b', 3.14159, 255, "
                   "255, 8, 12345.678, 0.0001, 'q', 65) }}"),
            "a-   42|b    |003.1|ff|FF|10|1.234568e+04|0.0001|'q'|A|%");
  EXPECT_EQ(render("{{ '%(a)s %(b)03d' % {'a': 1, 'b': 2} }} {{ '%*d' % (5, 1) }} {{ '%+d % d' % "
                   "(1, 2) }} {{ '%#x' % 255 }}"),
            "1 002     1 +1  2 0xff");
  EXPECT_EQ(render("{{ 'abc' % [1] }}"), "abc");
  EXPECT_EQ(failure("{{ '%d' % 'a' }}"), "%d format: a real number is required, not str");
  EXPECT_EQ(failure("{{ '%s' % (1, 2) }}"), "not all arguments converted during string formatting");
}

TEST(Format, FillsFields) {
  EXPECT_EQ(
      render("{{ '{} {1!r} {x.a} {y[0]}'.replace('{1', '{').format(1, 'b', x={'a': 2}, y=[3]) }}"),
      "1 'b' 2 3");
  EXPECT_EQ(render("{{ '{:>5}|{:*^7}|{:05d}|{:,}|{:_x}|{:.2f}|{:.1%}|{:+}|{:e}|{:b}'.format('a', "
                   "'b', 42, 1234567, 1048575, 3.14159, 0.25, 5, 12345.678, 5) }}"),
            "    a|***b***|00042|1,234,567|f_ffff|3.14|25.0%|+5|1.234568e+04|101");
  EXPECT_EQ(render("{{ '{:{}}'.format(7, '>4') }} {{ '{{}}'.format() }} {{ "
                   "'{:010,.1f}'.format(1234.5) }} {{ '{:.3}'.format(1234.5) }}"),
            "   7 {} 0,001,234.5 1.23e+03");
  EXPECT_EQ(failure("{{ '{'.format(1) }}"), "Single '{' encountered in format string");
  EXPECT_EQ(failure("{{ '{0.__class__.x}'.format(1) }}"),
            "access to attribute '__class__' of 'int' object is unsafe.");
}

TEST(Global, Range) {
  EXPECT_EQ(render("{{ range(3) }} {{ range(5, 0, -2)|list }} {{ range(4)[1:3] }} {{ 2 in range(3) "
                   "}} {{ range(4)|length }}"),
            "range(0, 3) [5, 3, 1] range(1, 3) True 4");
}

TEST(Global, DictNamespaceCyclerJoiner) {
  EXPECT_EQ(render("{{ dict({'a': 1}, b=2) }} {{ namespace(a=1) }} {{ dict([['k', 1]]) }}"),
            "{'a': 1, 'b': 2} <Namespace {'a': 1}> {'k': 1}");
  EXPECT_EQ(render("{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ "
                   "c.current }}"),
            "abab");
  EXPECT_EQ(render("{% set j = joiner('|') %}{% for x in [1, 2] %}{{ j() }}{{ x }}{% endfor %}"),
            "1|2");
}

TEST(Global, StrftimeNowIsEnglish) {
  EXPECT_EQ(
      render("{{ strftime_now('%d %B %Y %H:%M:%S %j %a %A %b %p %I %y %% %U %w %-d %e %F') }}"),
      "08 July 2025 14:05:09 189 Tue Tuesday Jul PM 02 25 % 27 2 8  8 2025-07-08");
}

TEST(Global, RaiseExceptionIsTold) {
  try {
    render("{{ raise_exception('no ' ~ 5) }}");
    FAIL() << "no error";
  } catch (const TemplateError& error) {
    EXPECT_TRUE(error.raised_by_template());
    EXPECT_EQ(error.message(), "no 5");
  }
}

TEST(Range, CountsAndFinds) {
  EXPECT_EQ(render("{{ range(4).count(1) }} {{ range(4).count(9) }} {{ range(4).count('a') }} {{ "
                   "range(4).count(1.0) }} {{ range(0, 9, 3).index(6) }} {{ range(9, 0, "
                   "-3).index(3.0) }}"),
            "1 0 0 1 2 2");
  EXPECT_EQ(failure("{{ range(4).index(7) }}"), "the value is not in the range");
  EXPECT_NE(failure("{{ range(4).count() }}").find("range.count"), std::string::npos);
}

TEST(Bytes, AreASequenceOfNumbers) {
  EXPECT_EQ(render("{% set b = 'abc'.encode() %}{{ b[1:] }} {{ b[::-1] }} {{ b[9:] }} {{ b[1] }} "
                   "{{ b[-1] }} [{{ b[9] }}] {{ b|list }} {{ 98 in b }} {{ 'bc'.encode() in b }}"),
            "b'bc' b'cba' b'' 98 99 [] [97, 98, 99] True True");
  EXPECT_EQ(failure("{{ 'a' in 'abc'.encode() }}"), "a bytes-like object is required");
  EXPECT_EQ(failure("{{ 256 in 'abc'.encode() }}"), "byte must be in range(0, 256)");
  EXPECT_EQ(render("{{ 'a\\xe9'.encode()[1:2] }}"), "b'\\xc3'");
}

TEST(Bytes, Split) {
  EXPECT_EQ(render("{{ ' a b c'.encode().split() }} {{ 'a b c'.encode().rsplit(maxsplit=1) }} {{ "
                   "'a,b'.encode().split(','.encode()) }}"),
            "[b'a', b'b', b'c'] [b'a b', b'c'] [b'a', b'b']");
  EXPECT_EQ(failure("{{ 'a b'.encode().split(' ') }}"), "a bytes-like object is required");
  EXPECT_EQ(failure("{{ 'a b'.encode().split(''.encode()) }}"), "empty separator");
}

}  // namespace
}  // namespace smol::jinja

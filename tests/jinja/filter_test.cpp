#include <gtest/gtest.h>

#include "jinja/render_helper.h"

namespace smol::jinja {
namespace {

TEST(Round, TakesAnyNumberOfDigits) {
  EXPECT_EQ(
      render("{{ 7.5|round(-9999999999999999999999) }} {{ 7.5|round(9999999999999999999999) }}"),
      "0.0 7.5");
}

TEST(TextFilter, ChangesCaseAsPython) {
  EXPECT_EQ(render("{{ 'ß'|upper }} {{ 'ΟΔΟΣ'|lower }} {{ 'İ'|lower|length }} {{ 'ǆ x'|capitalize "
                   "}} {{ 'hello wORLD-foo'|title }}"),
            "SS οδος 2 ǅ x Hello World-Foo");
}

TEST(TextFilter, TrimsSpacesOrGivenCharacters) {
  EXPECT_EQ(render("{{ ' a '|trim }}|{{ 'xxaxx'|trim('x') }}"), "a|a");
}

TEST(TextFilter, Replaces) {
  EXPECT_EQ(render("{{ 'aaa'|replace('a', 'b', 2) }} {{ 'ab'|replace('', '-') }}"), "bba -a-b-");
}

TEST(TextFilter, Indents) {
  EXPECT_EQ(render("{{ 'a\\n\\nb'|indent }}|{{ 'a\\nb'|indent(2, true) }}|{{ "
                   "'a\\n\\nb'|indent('>', blank=true) }}"),
            "a\n\n    b|  a\n  b|a\n>\n>b");
}

TEST(TextFilter, Truncates) {
  EXPECT_EQ(
      render(
          "{{ s|truncate(11) }}|{{ s|truncate(11, true, '..', 0) }}|{{ s|truncate(9, leeway=0) }}",
          R"({"s": "foo bar baz qux"})"),
      "foo bar baz qux|foo bar b..|foo...");
}

TEST(TextFilter, WrapsWords) {
  EXPECT_EQ(render("{{ 'the quick-brown fox'|wordwrap(8) }}"), "the\nquick-\nbrown\nfox");
  EXPECT_EQ(render("{{ 'abcdefghij'|wordwrap(4) }}|{{ 'abcdefghij'|wordwrap(4, false) }}"),
            "abcd\nefgh\nij|abcdefghij");
}

TEST(TextFilter, CountsAndCenters) {
  EXPECT_EQ(render("{{ 'a b, c'|wordcount }}{{ 'x'|center(4) }}|"), "3 x  |");
}

TEST(HtmlFilter, EscapesAndMarks) {
  EXPECT_EQ(render("{{ '<a href=\"x\">'|e }} {{ ('<b>'|e)|e }} {{ ('<b>'|e)|forceescape }}"),
            "&lt;a href=&#34;x&#34;&gt; &lt;b&gt; &amp;lt;b&amp;gt;");
  EXPECT_EQ(render("{{ ('<b>'|safe) + '<i>' }} {{ ('<b>'|safe) ~ '<i>' }} {{ ['<b>'|safe] }}"),
            "<b>&lt;i&gt; <b><i> [Markup('<b>')]");
}

TEST(HtmlFilter, StripsTagsAndEntities) {
  EXPECT_EQ(render("{{ '<p>a &amp; <!-- x <b> -->b</p>  c &#65;&hearts;'|striptags }}"),
            "a & b c A♥");
}

TEST(HtmlFilter, WritesAttributesAndUrls) {
  EXPECT_EQ(render("<a{{ {'class': 'a\"b', 'id': none, 'n': 1}|xmlattr }}>"),
            "<a class=\"a&#34;b\" n=\"1\">");
  EXPECT_EQ(render("{{ 'a b/é&'|urlencode }} {{ {'k': 'a b/'}|urlencode }}"),
            "a%20b/%C3%A9%26 k=a+b%2F");
  EXPECT_EQ(render("{{ 'see http://a.com/x, or www.b.org.'|urlize }}"),
            "see <a href=\"http://a.com/x\" rel=\"noopener\">http://a.com/x</a>, or "
            "<a href=\"https://www.b.org\" rel=\"noopener\">www.b.org</a>.");
}

TEST(NumberFilter, Converts) {
  EXPECT_EQ(render("{{ '42'|int }} {{ ' -1_0 '|int }} {{ '3.9'|int }} {{ 'x'|int(7) }} {{ "
                   "'0x1f'|int(0, 16) }} {{ true|int }} {{ none|int }}"),
            "42 -10 3 7 31 1 0");
  EXPECT_EQ(render("{{ '1e3'|float }} {{ 'x'|float(1.5) }} {{ 'inf'|float }} {{ 3|float }}"),
            "1000.0 1.5 inf 3.0");
}

TEST(NumberFilter, RoundsExactly) {
  EXPECT_EQ(render("{{ 2.675|round(2) }} {{ 2.5|round }} {{ 3.5|round }} {{ 1234|round(-2) }} {{ "
                   "1250.0|round(-2) }} {{ 2.1|round(0, 'ceil') }}"),
            "2.67 2.0 4.0 1200 1200.0 3.0");
}

TEST(NumberFilter, FormatsFileSizes) {
  EXPECT_EQ(render("{{ 1|filesizeformat }} {{ 999|filesizeformat }} {{ 1500000|filesizeformat }} "
                   "{{ 2048|filesizeformat(true) }}"),
            "1 Byte 999 Bytes 1.5 MB 2.0 KiB");
}

TEST(SequenceFilter, SortsStablyAndIgnoresCase) {
  EXPECT_EQ(render("{{ ['b', 'A', 'c']|sort }} {{ ['b', 'A']|sort(case_sensitive=true) }} {{ [3, "
                   "1, 2]|sort(reverse=true) }}"),
            "['A', 'b', 'c'] ['A', 'b'] [3, 2, 1]");
  EXPECT_EQ(
      render(
          "{{ ms|sort(attribute='a,b')|map(attribute='n')|join }}",
          R"({"ms": [{"a": 2, "b": 1, "n": "x"}, {"a": 1, "b": 2, "n": "y"}, {"a": 1, "b": 1, "n": "z"}]})"),
      "zyx");
  EXPECT_EQ(failure("{{ ['b', 1]|sort }}"),
            "'<' not supported between instances of 'int' and 'str'");
}

TEST(SequenceFilter, SelectsAndMapsLazily) {
  EXPECT_EQ(render("{{ [1, 2, 3]|select('odd')|list }} {{ [1, 2]|map('string')|join('-') }} {{ [0, "
                   "1]|reject|list }}"),
            "[1, 3] 1-2 [0]");
  EXPECT_EQ(render("{% set never = [1]|map('nope') %}ok"), "ok");
  EXPECT_EQ(failure("{{ [1]|map('nope')|list }}"), "No filter named 'nope'.");
}

TEST(SequenceFilter, SelectsByAttribute) {
  EXPECT_EQ(render("{{ ms|selectattr('role', 'equalto', 'user')|map(attribute='x.y')|list }} {{ "
                   "ms|rejectattr('role')|list|length }}"
                   " {{ ms|map(attribute='zz', default='-')|join }}",
                   R"({"ms": [{"role": "user", "x": {"y": 1}}, {"role": "tool"}]})"),
            "[1] 0 --");
}

TEST(SequenceFilter, GroupsBatchesAndSlices) {
  EXPECT_EQ(render("{% for k, v in ms|groupby('r') %}{{ k }}:{{ v|length }} {% endfor %}{{ "
                   "(ms|groupby('r'))[0].grouper }}",
                   R"({"ms": [{"r": "b"}, {"r": "a"}, {"r": "b"}]})"),
            "a:1 b:2 a");
  EXPECT_EQ(render("{{ range(5)|batch(2, 'x')|list }} {{ range(5)|slice(3, 'x')|list }}"),
            "[[0, 1], [2, 3], [4, 'x']] [[0, 1], [2, 3], [4, 'x']]");
}

TEST(SequenceFilter, SumsJoinsAndFindsExtremes) {
  EXPECT_EQ(render("{{ [0.1, 0.2]|sum }} {{ [1, 2]|sum(start=10) }} {{ ['a', none, 1]|join(', ') "
                   "}} {{ ['b', 'A']|min }} {{ []|max }}|"),
            "0.30000000000000004 13 a, None, 1 A |");
}

TEST(SequenceFilter, TakesEndsReversesAndIsUnique) {
  EXPECT_EQ(render("{{ 'abc'|first }}{{ 'abc'|last }}{{ 'abc'|reverse }}{{ [1, 2]|reverse|list "
                   "}}{{ ['a', 'A', 1, 1.0]|unique|list }}"),
            "accba[2, 1]['a', 1]");
}

TEST(DictFilter, SortsAndLists) {
  EXPECT_EQ(render("{{ {'b': 1, 'A': 2}|dictsort }} {{ {'b': 1, 'A': 2}|dictsort(by='value', "
                   "reverse=true) }} {{ {'a': 1}|items|list }} {{ x|items|list }}"),
            "[('A', 2), ('b', 1)] [('A', 2), ('b', 1)] [('a', 1)] []");
}

TEST(Default, ReplacesUndefinedAndOnRequestFalse) {
  EXPECT_EQ(
      render("{{ x|default('d') }} {{ ''|d('d') }} {{ ''|d('d', true) }} {{ none|default('d') }}"),
      "d  d None");
}

TEST(ToJson, WritesAsJsonDumps) {
  EXPECT_EQ(render("{{ {'a': [1, 1.0, none, true, 'é<\"\\n'], 2: {}}|tojson }}"),
            R"({"a": [1, 1.0, null, true, "é<\"\n"], "2": {}})");
  EXPECT_EQ(render("{{ {'b': [], 'a': (1, 2)}|tojson(indent=2, sort_keys=true) }}"),
            "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": []\n}");
  EXPECT_EQ(
      render("{{ '😀'|tojson(ensure_ascii=true) }} {{ [1, 2]|tojson(separators=(',', ':')) }}"),
      R"("\ud83d\ude00" [1,2])");
  EXPECT_EQ(failure("{{ x|tojson }}"), "Object of type Undefined is not JSON serializable");
}

TEST(PrettyPrint, BreaksLongValues) {
  EXPECT_EQ(render("{{ {'b': 1, 'a': 2}|pprint }}"), "{'a': 2, 'b': 1}");
  EXPECT_EQ(render("{{ ['x' * 50, 'y' * 50]|pprint }}"),
            "['" + std::string(50, 'x') + "',\n '" + std::string(50, 'y') + "']");
}

TEST(Filter, UnknownOnesFailWhenParsedUnlessTheyMayNeverRun) {
  EXPECT_THROW(Template::parse("{{ x|nope }}"), TemplateError);
  EXPECT_EQ(render("{% if false %}{{ x|nope }}{% endif %}ok"), "ok");
  EXPECT_EQ(failure("{% if true %}{{ x|nope }}{% endif %}"), "No filter named 'nope' found.");
}

TEST(Tests, KnowTheTypes) {
  EXPECT_EQ(
      render(
          "{{ 1 is integer }}{{ true is integer }}{{ true is number }}{{ 1.0 is float }}{{ {} is "
          "mapping }}"
          "{{ 'a' is sequence }}{{ x is sequence }}{{ none is iterable }}{{ dict is callable }}"),
      "TrueFalseTrueTrueTrueTrueTrueFalseTrue");
}

TEST(Tests, Compare) {
  EXPECT_EQ(render("{{ 3 is odd }}{{ 9 is divisibleby 3 }}{{ 1 is in [1] }}{{ 2 is gt 1 }}{{ 'a' "
                   "is lower }}{{ 'upper' is filter }}{{ 'odd' is test }}"),
            "TrueTrueTrueTrueTrueTrueTrue");
}

}  // namespace
}  // namespace smol::jinja

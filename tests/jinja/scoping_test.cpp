#include <gtest/gtest.h>

#include "jinja/render_helper.h"

namespace smol::jinja {
namespace {

TEST(Scoping, IfDoesNotScopeAndForDoes) {
  EXPECT_EQ(render("{% if true %}{% set a = 1 %}{% endif %}{{ a }}"), "1");
  EXPECT_EQ(render("{% for x in [1] %}{% set a = 1 %}{% endfor %}[{{ a }}]"), "[]");
}

TEST(Scoping, AssignmentInALoopStartsFromTheOuterValueEachTime) {
  EXPECT_EQ(render("{% set a = 1 %}{% for x in [1, 2] %}{{ a }}{% set a = a + 1 %}{{ a }} {% "
                   "endfor %}{{ a }}"),
            "12 12 1");
}

TEST(Scoping, ANameAssignedLaterHidesTheContextInInnerScopes) {
  EXPECT_EQ(render("{% for x in [1] %}[{{ y }}]{% endfor %}{% set y = 1 %}", R"({"y": 5})"), "[]");
  EXPECT_EQ(render("{{ y }}{% for x in [1] %}[{{ y }}]{% endfor %}{% set y = 1 %}", R"({"y": 5})"),
            "5[5]");
}

TEST(Scoping, ANameAssignedInOneBranchKeepsTheContextInTheOther) {
  EXPECT_EQ(render("{% if f %}{% set y = 1 %}{% endif %}{{ y }}", R"({"y": 5, "f": false})"), "5");
}

TEST(Loop, IsEmptyUntilOnePassComesToItsEnd) {
  EXPECT_EQ(render("{% for x in [1, 2] %}{% break %}{% else %}E{% endfor %}"), "E");
  EXPECT_EQ(render("{% for x in [1, 2] recursive %}{% break %}{% else %}E{% endfor %}"), "E");
  EXPECT_EQ(render("{% for x in [1] %}{% continue %}{% else %}E{% endfor %}"), "E");
  EXPECT_EQ(render("{% for x in [1, 2] %}{% if loop.last %}{% break %}{% endif %}{% else %}E{% "
                   "endfor %}."),
            ".");
  EXPECT_EQ(render("{% for y in [1, 2] %}[{% for x in [1] %}{% break %}{% else %}{% break %}{% "
                   "endfor %}]{% else %}F{% endfor %}"),
            "[F");
}

TEST(Scoping, MacrosSeeTheLatestOuterValue) {
  EXPECT_EQ(render("{% set q = 1 %}{% macro m() %}{{ q }}{% endmacro %}{% set q = 2 %}{{ m() }}"),
            "2");
}

TEST(Scoping, MacroArgumentsAndAssignmentsStayInside) {
  EXPECT_EQ(render("{% macro m(i) %}{% set i = i + 1 %}{% set q = 9 %}{{ i }}{% endmacro %}{{ m(1) "
                   "}}[{{ q }}]{{ i }}",
                   R"({"i": 7})"),
            "2[]7");
}

TEST(Scoping, WithEvaluatesItsValuesOutside) {
  EXPECT_EQ(render("{% with a = a + 1, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}", R"({"a": 1})"),
            "211");
}

TEST(Scoping, GenerationAndCallBlocksDoNotLeak) {
  EXPECT_EQ(render("{% generation %}{% set q = 1 %}{{ q }}{% endgeneration %}[{{ q }}]"), "1[]");
}

TEST(Scoping, NamespacesCarryValuesOutOfLoops) {
  EXPECT_EQ(render("{% set ns = namespace(n=0) %}{% for x in [1, 2, 3] %}{% set ns.n = ns.n + x "
                   "%}{% endfor %}{{ ns.n }}"),
            "6");
  EXPECT_EQ(failure("{% set d = {} %}{% set d.a = 1 %}"),
            "cannot assign attribute on non-namespace object");
}

TEST(Scoping, MacrosThatOutliveTheirScopeKeepWorking) {
  EXPECT_EQ(render("{% set ns = namespace() %}"
                   "{% macro outer(a) %}{% macro inner() %}<{{ a }}>{% endmacro %}{% set ns.f = "
                   "inner %}{% endmacro %}"
                   "{{ outer('x') }}{{ outer('y') }}{{ ns.f() }}"),
            "<y>");
}

TEST(Scoping, BlocksSeeTopLevelAssignmentsOnly) {
  EXPECT_EQ(render("{% set a = 1 %}{% block b %}{{ a }}{% endblock %}{{ self.b() }}"), "11");
  EXPECT_EQ(render("{% for x in [1, 2] %}{% block b %}[{{ x }}]{% endblock %}{% endfor %}"),
            "[][]");
  EXPECT_EQ(render("{% for x in [1, 2] %}{% block b scoped %}[{{ x }}]{% endblock %}{% endfor %}"),
            "[1][2]");
}

TEST(Loop, KnowsItsPosition) {
  EXPECT_EQ(render("{% for x in 'abc' %}{{ loop.index }}/{{ loop.length }}{{ loop.revindex0 }}{{ "
                   "loop.first }}{{ loop.last }} {% endfor %}"),
            "1/32TrueFalse 2/31FalseFalse 3/30FalseTrue ");
}

TEST(Loop, CountsOnlyWhatPassesItsTest) {
  EXPECT_EQ(render("{% for x in [3, 1, 2] if x > 1 %}{{ x }}:{{ loop.index }}/{{ loop.length }} {% "
                   "endfor %}"),
            "3:1/2 2:2/2 ");
}

TEST(Loop, RunsElseOnlyWhenNothingRan) {
  EXPECT_EQ(render("{% for x in [] %}x{% else %}none{% endfor %}"), "none");
  EXPECT_EQ(render("{% for x in [1] %}x{% else %}none{% endfor %}"), "x");
}

TEST(Loop, BreaksAndContinues) {
  EXPECT_EQ(render("{% for x in [1, 2, 3, 4] %}{% if x == 2 %}{% continue %}{% endif %}"
                   "{% if x == 4 %}{% break %}{% endif %}{{ x }}{% endfor %}"),
            "13");
}

TEST(Loop, LooksAroundAndRemembers) {
  EXPECT_EQ(render("{% for x in [1, 1, 2] %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }}{{ "
                   "loop.changed(x) }}"
                   "{{ loop.cycle('a', 'b') }} {% endfor %}"),
            "<1>1Truea 1<1>2Falseb 1<2>Truea ");
}

TEST(Loop, Recurses) {
  EXPECT_EQ(render("{% for n in tree recursive %}{{ n.v }}@{{ loop.depth }}{% if n.c %}({{ "
                   "loop(n.c) }}){% endif %}{% endfor %}",
                   R"({"tree": [{"v": 1, "c": [{"v": 2}, {"v": 3, "c": [{"v": 4}]}]}]})"),
            "1@1(2@23@2(4@3))");
}

TEST(Loop, UnpacksItsTarget) {
  EXPECT_EQ(
      render("{% for a, (b, c) in [[1, [2, 3]], [4, 'xy']] %}{{ a }}{{ b }}{{ c }} {% endfor %}"),
      "123 4xy ");
  EXPECT_EQ(failure("{% for a, b in [[1, 2, 3]] %}{% endfor %}"),
            "too many values to unpack (expected 2)");
  EXPECT_EQ(failure("{% for a, b in [1] %}{% endfor %}"), "cannot unpack non-iterable int object");
}

TEST(Loop, BreakOutsideALoopFailsWhenRendering) {
  const Template parsed = Template::parse("{% if false %}{% break %}{% endif %}");
  EXPECT_THROW(static_cast<void>(parsed.render({}, {})), TemplateError);
}

TEST(Macro, TakesDefaultsExtrasAndACaller) {
  EXPECT_EQ(render("{% macro m(a, b=a) %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ "
                   "m(1) }} {{ m(1, 2, 3, x=4) }}"),
            "11(){} 12(3,){'x': 4}");
  EXPECT_EQ(render("{% macro m(n) %}{{ n }}<{{ caller('c') }}>{% endmacro %}{% call(x) m(1) %}in "
                   "{{ x }}{% endcall %}"),
            "1<in c>");
}

TEST(Macro, RefusesWhatItDoesNotTake) {
  EXPECT_EQ(failure("{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}"),
            "macro 'm' takes not more than 1 argument(s)");
  EXPECT_EQ(failure("{% macro m(a) %}{% endmacro %}{{ m(b=2) }}"),
            "macro 'm' takes no keyword argument 'b'");
}

TEST(Macro, DescribesItself) {
  EXPECT_EQ(render("{% macro m(a, b) %}{% endmacro %}{{ m }} {{ m.name }} {{ m.arguments }} {{ "
                   "m.catch_kwargs }}"),
            "<Macro 'm'> m ('a', 'b') False");
}

TEST(SetBlock, CapturesAndFilters) {
  EXPECT_EQ(render("{% set a | upper | replace('X', 'y') %}x{{ 7 }}{% endset %}{{ a }}"), "y7");
  EXPECT_EQ(render("{% filter replace('a', 'b') | upper %}banana{% endfilter %}"), "BBNBNB");
}

TEST(Generation, NotesWhereItsTextStands) {
  const Rendered rendered = render_marked(
      "é{% for x in [1, 2] %}<{% generation %}a{{ x }}{% endgeneration %}>{% endfor %}");
  EXPECT_EQ(rendered.text.bytes(), "é<a1><a2>");
  EXPECT_EQ(rendered.generation_spans, (std::vector<Range>{{3, 5}, {7, 9}}));
}

}  // namespace
}  // namespace smol::jinja

// Everything here ends with a TemplateError, soon and within the memory bound.
#include <gtest/gtest.h>

#include "jinja/render_helper.h"

namespace smol::jinja {
namespace {

bool is_memory(const std::string& message) {
  return message.find("too much memory") != std::string::npos;
}

bool is_steps(const std::string& message) {
  return message.find("runs too long") != std::string::npos;
}

bool is_depth(const std::string& message) {
  return message.find("too deeply") != std::string::npos;
}

// failure() with a hundredth of the default limits: the same bounds, reached sooner.
std::string refusal(std::string_view source) {
  RenderOptions options;
  options.limits.max_steps = 200'000;
  options.limits.max_bytes = 4ULL << 20U;
  try {
    return "no error, but: " + Template::parse(source).render({}, options).text.bytes();
  } catch (const TemplateError& error) {
    return error.message();
  }
}

TEST(Sandbox, BoundsRepetition) {
  EXPECT_TRUE(is_memory(failure("{{ 'x' * 10**9 }}")));
  EXPECT_TRUE(is_memory(failure("{{ [1] * 10**12 }}")));
  EXPECT_TRUE(is_memory(failure("{{ ([[0] * 1000] * 1000) * 100000 }}")));
  EXPECT_EQ(render("{{ '' * 10**18 }}{{ [] * 10**18 }}"), "[]");
}

TEST(Sandbox, BoundsPadding) {
  EXPECT_TRUE(is_memory(refusal("{{ '%1000000000d' % 1 }}")));
  EXPECT_TRUE(is_memory(refusal("{{ '%.1000000000f' % 1.5 }}")));
  EXPECT_TRUE(is_memory(refusal("{{ '{:1000000000}'.format(1) }}")));
  EXPECT_TRUE(is_memory(refusal("{{ '{:01000000000,}'.format(1) }}")));
  EXPECT_TRUE(is_memory(refusal("{{ 'a'.center(10**9) }}")));
  EXPECT_TRUE(is_memory(refusal("{{ 'a'.ljust(10**10) }}")));
  EXPECT_TRUE(is_memory(refusal("{{ 'a'.zfill(10**10) }}")));
  EXPECT_TRUE(is_memory(refusal("{{ 'a\\tb'.expandtabs(10**9) }}")));
  EXPECT_TRUE(is_memory(refusal("{{ 'a\\nb'|indent(10**9) }}")));
  EXPECT_TRUE(is_memory(refusal("{{ [1]|tojson(indent=10**9) }}")));
  EXPECT_TRUE(is_memory(refusal("{{ [1]|batch(10**9, 0)|list }}")));
}

TEST(Sandbox, BoundsGrowthByDoubling) {
  EXPECT_TRUE(
      is_memory(refusal("{% set ns = namespace(s='x') %}{% for i in range(64) %}{% set ns.s = ns.s "
                        "~ ns.s %}{% endfor %}")));
  EXPECT_TRUE(
      is_memory(refusal("{% set ns = namespace(s=[1]) %}{% for i in range(64) %}{% set ns.s = ns.s "
                        "+ ns.s %}{% endfor %}")));
}

TEST(Sandbox, BoundsSharedStructuresThatPrintExponentially) {
  constexpr std::string_view kTree =
      "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% "
      "endfor %}";
  EXPECT_TRUE(is_steps(refusal(std::string(kTree) + "{{ ns.s }}")));
  EXPECT_TRUE(is_steps(refusal(std::string(kTree) + "{{ ns.s|tojson }}")));
  EXPECT_TRUE(is_steps(
      refusal(std::string(kTree) +
              "{% set a = ns.s %}{% set ns.s = [1] %}{% for i in range(60) %}{% set ns.s = "
              "[ns.s, ns.s] %}{% endfor %}{{ a == ns.s }}")));
}

TEST(Sandbox, BoundsSteps) {
  EXPECT_TRUE(is_steps(
      refusal("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}")));
}

TEST(Sandbox, BoundsOutput) {
  RenderOptions options;
  options.limits.max_output_bytes = 100;
  const Template parsed = Template::parse("{% for i in range(99) %}ab{% endfor %}");
  EXPECT_THROW(static_cast<void>(parsed.render({}, options)), TemplateError);
}

TEST(Sandbox, BoundsIntegers) {
  EXPECT_NE(failure("{{ 10 ** (10 ** 10) }}").find("too large"), std::string::npos);
  EXPECT_NE(failure("{{ (2 ** 100000) * (2 ** 100000) }}").find("an integer of more than"),
            std::string::npos);
  EXPECT_EQ(failure("{{ 10 ** 5000 }}"),
            "Exceeds the limit (4300 digits) for integer string conversion");
  EXPECT_EQ(render("{{ 1 ** 10**30 }} {{ (-1) ** 10**30 }} {{ 0 ** 10**30 }}"), "1 1 0");
}

TEST(Sandbox, BoundsRanges) {
  EXPECT_EQ(failure("{{ range(200000) }}"),
            "Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
  EXPECT_EQ(failure("{{ range(0 - 10**18, 10**18) }}"),
            "Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
}

TEST(Sandbox, BoundsRecursionOfMacros) {
  EXPECT_TRUE(is_depth(failure("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}")));
  EXPECT_TRUE(is_depth(failure("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}")));
  EXPECT_TRUE(is_depth(failure("{% block b %}{{ self.b() }}{% endblock %}")));
}

TEST(Sandbox, BoundsNestingOfTheSource) {
  const std::string many(10000, '(');
  EXPECT_TRUE(is_depth(failure("{{ " + many)));
  EXPECT_TRUE(is_depth(failure("{{ " + std::string(10000, '['))));
  std::string nots;
  std::string sums = "1";
  std::string ifs;
  std::string attributes = "x";
  std::string filters = "x";
  for (int i = 0; i < 2000; ++i) {
    nots += "not ";
    sums += "+1";
    ifs += "{% if 1 %}";
    attributes += ".a";
    filters += "|e";
  }
  EXPECT_TRUE(is_depth(failure("{{ " + nots + "1 }}")));
  EXPECT_TRUE(is_depth(failure("{{ " + sums + " }}")));
  EXPECT_TRUE(is_depth(failure(ifs)));
  EXPECT_TRUE(is_depth(failure("{{ " + attributes + " }}")));
  EXPECT_TRUE(is_depth(failure("{{ " + filters + " }}")));
  EXPECT_TRUE(is_depth(failure("{{ " + std::string(10000, '-') + "1 }}")));
}

TEST(Sandbox, BoundsNestingOfValues) {
  EXPECT_TRUE(
      is_depth(failure("{% set ns = namespace(s=[]) %}{% for i in range(9999) %}{% set ns.s = "
                       "[ns.s] %}{% endfor %}")));
  EXPECT_TRUE(
      is_depth(failure("{% set ns = namespace(s=[1]) %}{% for i in range(9999) %}{% set ns.s = "
                       "ns.s|map('string') %}{% endfor %}")));
  EXPECT_TRUE(is_depth(
      failure("{% set ns = namespace(s={'a': 1}) %}{% for i in range(9999) %}{% set ns.s = "
              "{'a': ns.s} %}{% endfor %}")));
}

TEST(Sandbox, ChainsOfNamespacesAndLoopsDoNotOverflow) {
  EXPECT_EQ(render("{% set ns = namespace() %}{% for i in range(20000) %}{% set m = "
                   "namespace(p=ns.p) %}{% set ns.p = m %}{% endfor %}ok"),
            "ok");
  EXPECT_EQ(render("{% set ns = namespace(l=1) %}{% for i in range(20000) %}{% for y in [ns.l] "
                   "%}{% set ns.l = loop %}{% endfor %}{% endfor %}ok"),
            "ok");
  EXPECT_TRUE(
      is_depth(failure("{% set ns = namespace() %}{% for i in range(20000) %}{% set m = "
                       "namespace(p=ns.p) %}{% set ns.p = m %}{% endfor %}{{ ns }}")));
}

TEST(Sandbox, CyclesThroughNamespacesAreFreedAndPrintOnce) {
  EXPECT_EQ(render("{% set ns = namespace() %}{% set ns.a = [ns] %}{% macro m() %}{% endmacro %}{% "
                   "set ns.m = m %}ok"),
            "ok");
  EXPECT_EQ(render("{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns }}"),
            "<Namespace {'a': [<Namespace {...}>]}>");
}

TEST(Sandbox, HasNoFiles) {
  EXPECT_EQ(failure("{% include 'x' %}"), "no loader for this environment specified");
  EXPECT_EQ(failure("{% extends 'x' %}"), "no loader for this environment specified");
  EXPECT_EQ(failure("{% import 'x' as y %}"), "no loader for this environment specified");
  EXPECT_EQ(failure("{% from 'x' import y as z, w with context %}"),
            "no loader for this environment specified");
  EXPECT_EQ(render("{% if false %}{% include 'x' ignore missing %}{% endif %}ok"), "ok");
}

TEST(Sandbox, SearchesLongTextsInLinearTime) {
  EXPECT_EQ(render("{{ ('a' * 100000 ~ 'b') in ('a' * 1000000) }}{{ ('a' * 300000).rfind('b' ~ 'a' "
                   "* 100000) }}"),
            "False-1");
}

}  // namespace
}  // namespace smol::jinja

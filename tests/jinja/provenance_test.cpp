// What the template wrote stands in [brackets]; everything else came from the input.
#include <gtest/gtest.h>

#include "jinja/render_helper.h"

namespace smol::jinja {
namespace {

constexpr std::string_view kVariables =
    R"({"s": "in", "d": {"k": "v<"}, "xs": ["a", "b"], "n": 7, "t": "İn"})";

std::string marks(std::string_view source) {
  return marked(source, kVariables);
}

TEST(Provenance, SurvivesConcatenation) {
  EXPECT_EQ(marks("<{{ 'x' ~ s ~ 'y' }}>{{ 'a' + s }}"), "[<x]in[y>a]in");
}

TEST(Provenance, SurvivesSlicesAndIndexing) {
  EXPECT_EQ(marks("{{ ('ab' ~ s ~ 'cd')[1:5] }}"), "[b]in[c]");
  EXPECT_EQ(marks("{{ ('a' ~ s)[::-1] }}{{ ('a' ~ s)[0] }}{{ ('a' ~ s)[-1] }}"), "ni[aa]n");
}

TEST(Provenance, SurvivesIterationOverCharacters) {
  EXPECT_EQ(marks("{% for c in 'a' ~ s %}{{ c }}.{% endfor %}"), "[a.]i[.]n[.]");
}

TEST(Provenance, SurvivesCaseMappings) {
  EXPECT_EQ(marks("{{ ('a' ~ s ~ 'ß')|upper }}{{ ('A' ~ t)|lower }}{{ ('a ' ~ s).title() }}"),
            "[A]IN[SSa]i̇n[A ]In");
}

TEST(Provenance, SurvivesReplaceSplitStripAndJoin) {
  EXPECT_EQ(marks("{{ ('a-' ~ s)|replace('-', s) }}"), "[a]inin");
  EXPECT_EQ(marks("{{ ('a ' ~ s).split(' ')|join('+') }}"), "[a+]in");
  EXPECT_EQ(marks("{{ (' ' ~ s ~ ' ').strip() }}{{ '-'.join(xs) }}"), "ina[-]b");
}

TEST(Provenance, SurvivesFormatting) {
  EXPECT_EQ(marks("{{ '<%s|%5s>' % (s, 'x') }}"), "[<]in[|    x>]");
  EXPECT_EQ(marks("{{ '<{}>{:_>4}'.format(s, s) }}"), "[<]in[>__]in");
}

TEST(Provenance, SurvivesMacrosAndCapturedBlocks) {
  EXPECT_EQ(marks("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(s) }}{% set b %}({{ s }}){% endset "
                  "%}{{ b|upper }}"),
            "[<]in[>(]IN[)]");
  EXPECT_EQ(marks("{% filter upper %}a{{ s }}{% endfilter %}{% macro c() %}{{ caller() }}{% "
                  "endmacro %}{% call c() %}x{{ s }}{% endcall %}"),
            "[A]IN[x]in");
}

TEST(Provenance, SurvivesReprAndJson) {
  EXPECT_EQ(marks("{{ d }}"), "[{']k[': ']v<['}]");
  EXPECT_EQ(marks("{{ d|tojson }}"), "[{\"]k[\": \"]v<[\"}]");
  EXPECT_EQ(marks("{{ ['x', s]|string }}"), "[['x', ']in[']]");
}

TEST(Provenance, SurvivesEscaping) {
  EXPECT_EQ(marks("{{ ('<' ~ d.k)|e }}"), "[&lt;]v&lt;");
}

TEST(Provenance, NumbersAndConstantsCountAsInput) {
  EXPECT_EQ(marks("{{ n }}{{ 5 }}{{ true }}{{ none }}"), "75TrueNone");
}

TEST(Provenance, KeysOfTheInputStayInput) {
  EXPECT_EQ(marks("{% for k, v in d.items() %}{{ k }}={{ v }}{% endfor %}"), "k[=]v<");
  EXPECT_EQ(marks("{% for k in {'lit': 1} %}{{ k }}{% endfor %}"), "[lit]");
}

TEST(Provenance, PaddingIsTheEngines) {
  EXPECT_EQ(marks("{{ s.center(4, '*') }}{{ s|indent(2, true) }}"), "[*]in[*  ]in");
}

TEST(Provenance, CallersMayPassTemplateAndMixedStrings) {
  MarkedString mixed("<think>", Origin::Template);
  mixed.append("</think>", Origin::Input);
  Dict variables;
  variables.set("bos", Value::string("<s>", Origin::Template));
  variables.set("mixed", Value::string(mixed));
  const Rendered rendered = Template::parse("{{ bos }}{{ mixed|trim }}").render(variables, {});
  EXPECT_EQ(marked(rendered.text), "[<s><think>]</think>");
}

TEST(Provenance, TwoInputsNeverBecomeTemplate) {
  EXPECT_EQ(marks("{{ s ~ s }}{{ s * 2 }}{{ [s, s]|join }}{{ xs|map('upper')|join }}"),
            "ininininininAB");
}

TEST(Provenance, SurvivesEveryTextFilter) {
  EXPECT_EQ(marks("{{ ('a ' ~ s)|title }}|{{ ('a' ~ s)|reverse }}|{{ ('a ' ~ s)|wordwrap(2) }}|{{ "
                  "('abc' ~ s)|truncate(4, true, '', 0) }}"),
            "[A ]In[|]ni[a|a\n]in[|abc]i");
}

}  // namespace
}  // namespace smol::jinja

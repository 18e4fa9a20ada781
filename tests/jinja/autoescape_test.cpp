#include <gtest/gtest.h>

#include "jinja/render_helper.h"

namespace smol::jinja {
namespace {

std::string page(std::string_view source, std::string_view variables = R"({"x": "<b>&\"'"})") {
  ParseOptions options;
  options.autoescape = true;
  return Template::parse(source, options)
      .render(value_from_json(variables, "variables").dict(), frozen_options())
      .text.bytes();
}

TEST(Autoescape, EscapesWhatIsPrinted) {
  EXPECT_EQ(page("<i>{{ x }}</i>{{ ['<'] }}"), "<i>&lt;b&gt;&amp;&#34;&#39;</i>[&#39;&lt;&#39;]");
}

TEST(Autoescape, LeavesMarkupAlone) {
  EXPECT_EQ(page("{{ '<hr>'|safe }}{{ '<'|e }}{{ ('<'|e)|e }}"), "<hr>&lt;&lt;");
}

TEST(Autoescape, MacrosAndCapturedBlocksAreMarkup) {
  EXPECT_EQ(page("{% macro m(v) %}<i>{{ v }}</i>{% endmacro %}{{ m('<') }}{% set b %}<u>{{ '<' "
                 "}}</u>{% endset %}{{ b }}"),
            "<i>&lt;</i><u>&lt;</u>");
}

TEST(Autoescape, JoinsAndConcatenatesByEscapingThePlainParts) {
  EXPECT_EQ(page("{{ ['<', '<br>'|safe]|join(' & ') }}"), "&lt; &amp; <br>");
  EXPECT_EQ(page("{{ '<' ~ ('<br>'|safe) }}{{ '<' ~ '>' }}"), "&lt;<br>&lt;&gt;");
}

TEST(Autoescape, MarkupMethodsEscapeTheirArguments) {
  EXPECT_EQ(page("{{ ('<i>%s</i>'|safe) % '<' }}{{ ('<i>{}</i>'|safe).format('<') }}{{ "
                 "('a'|safe).replace('a', '<') }}"),
            "<i>&lt;</i><i>&lt;</i>&lt;");
  EXPECT_EQ(page("{{ ('<a>'|safe).upper() }}{{ ('<a>'|safe)[1:] }}"), "<A>a>");
}

TEST(Autoescape, JsonIsSafeInScripts) {
  EXPECT_EQ(
      page("<script>var x = {{ {'b': '</script>', 'a': \"'&\"}|tojson }}</script>"),
      "<script>var x = {\"a\": \"\\u0027\\u0026\", \"b\": \"\\u003c/script\\u003e\"}</script>");
}

TEST(Autoescape, BlockSwitchesItWithinATemplate) {
  EXPECT_EQ(page("{% autoescape false %}{{ x }}{% endautoescape %}{{ '<' }}", R"({"x": "<"})"),
            "<&lt;");
  EXPECT_EQ(render("{{ '<' }}{% autoescape on %}{{ '<' }}{% endautoescape %}{{ '<' }}",
                   R"({"on": true})"),
            "<&lt;<");
}

TEST(Autoescape, IsOffForPrompts) {
  EXPECT_EQ(render("{{ '<' }}"), "<");
}

}  // namespace
}  // namespace smol::jinja

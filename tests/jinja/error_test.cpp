#include <gtest/gtest.h>

#include "jinja/render_helper.h"

namespace smol::jinja {
namespace {

TemplateError error_of(std::string_view source) {
  try {
    render(source);
  } catch (const TemplateError& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {TemplateError::Phase::Parse, "", {1, 1, ""}, false};
}

TEST(TemplateErrors, PointAtTheirPlace) {
  const TemplateError error = error_of("a\n{{ 'é' }} {{ x.y }}\nb");
  EXPECT_EQ(error.line(), 2U);
  EXPECT_EQ(error.column(), 15U);
  EXPECT_EQ(error.code(), ErrorCode::BadInput);
  EXPECT_EQ(
      std::string(error.what()),
      "template line 2, column 15: 'x' is undefined\n  {{ 'é' }} {{ x.y }}\n                ^");
}

TEST(TemplateErrors, ShowAWindowOfLongLines) {
  const TemplateError error = error_of(std::string(1000, 'a') + "{{ x.y }}");
  EXPECT_EQ(error.column(), 1005U);
  EXPECT_LT(std::string(error.what()).size(), 500U);
}

TEST(TemplateErrors, TellTheirPhase) {
  EXPECT_EQ(error_of("{{ }}").phase(), TemplateError::Phase::Parse);
  EXPECT_EQ(error_of("{{ x.y }}").phase(), TemplateError::Phase::Render);
  EXPECT_FALSE(error_of("{{ x.y }}").raised_by_template());
}

TEST(SyntaxErrors, SayWhatJinjaSays) {
  EXPECT_EQ(failure("{{ }}"), "Expected an expression, got 'end of print statement'");
  EXPECT_EQ(failure("{{ 1 + }}"), "unexpected 'end of print statement'");
  EXPECT_EQ(failure("{{ a b }}"), "expected token 'end of print statement', got 'b'");
  EXPECT_EQ(failure("{{ \"abc }}"), "unexpected char '\"' at 3");
  EXPECT_EQ(failure("{{ (1 }}"), "unexpected '}', expected ')'");
  EXPECT_EQ(failure("{{ x"), "unexpected end of template, expected 'end of print statement'.");
  EXPECT_EQ(failure("{% nope %}"), "Encountered unknown tag 'nope'.");
  EXPECT_EQ(failure("{%%}"), "tag name expected");
  EXPECT_EQ(failure("{% set 5 = 1 %}"), "can't assign to 'const'");
  EXPECT_EQ(failure("{% for loop in x %}{{ loop }}{% endfor %}"),
            "Can't assign to special loop variable in for-loop target");
  EXPECT_EQ(failure("{% block a %}{% endblock %}{% block a %}{% endblock %}"),
            "block 'a' defined twice");
}

TEST(SyntaxErrors, NameTheTagThatIsOpen) {
  EXPECT_EQ(failure("{% if x %}"),
            "Unexpected end of template. Jinja was looking for the following tags: 'elif' or "
            "'else' or 'endif'. "
            "The innermost block that needs to be closed is 'if'.");
  EXPECT_EQ(failure("{% for x in y %}{% endif %}"),
            "Encountered unknown tag 'endif'. Jinja was looking for the following tags: 'endfor' "
            "or 'else'. "
            "The innermost block that needs to be closed is 'for'.");
}

TEST(Template, RendersOftenAndKeepsNothing) {
  const Template parsed = Template::parse("{% set a = (a or 0) + 1 %}{{ a }}");
  EXPECT_EQ(parsed.render({}, {}).text.bytes(), "1");
  EXPECT_EQ(parsed.render({}, {}).text.bytes(), "1");
}

TEST(Template, TakesInvalidUtf8AsItIs) {
  EXPECT_EQ(render("a\xFF{{ 'b\xC3'|length }}"),
            "a\xFF"
            "2");
}

}  // namespace
}  // namespace smol::jinja

#include <gtest/gtest.h>

#include "jinja/render_helper.h"

namespace smol::jinja {
namespace {

TEST(Whitespace, OneNewlineAfterABlockTagIsTrimmed) {
  EXPECT_EQ(render("a\n{% if true %}\nb\n{% endif %}\n\nc"), "a\nb\n\nc");
}

TEST(Whitespace, SpaceBeforeABlockTagThatStartsItsLineIsStripped) {
  EXPECT_EQ(render("a\n  {% if true %}b{% endif %}"), "a\nb");
  EXPECT_EQ(render("  {% if true %}b{% endif %}"), "b");
  EXPECT_EQ(render("a  {% if true %}b{% endif %}"), "a  b");
}

TEST(Whitespace, PrintTagsKeepTheirSpace) {
  EXPECT_EQ(render("a\n  {{ 1 }}\nb"), "a\n  1\nb");
}

TEST(Whitespace, MinusStripsEverythingBesideATag) {
  EXPECT_EQ(render("a \n\n {{- 1 -}} \n\n b"), "a1b");
  EXPECT_EQ(render("a \n {%- if true -%} \n b \n {%- endif -%} \n c"), "abc");
  EXPECT_EQ(render("x \xC2\xA0{{- 1 }}"), "x1");
}

TEST(Whitespace, PlusSwitchesStrippingOff) {
  EXPECT_EQ(render("a\n  {%+ if true %}b{% endif %}"), "a\n  b");
  EXPECT_EQ(render("{% if true +%}\nb{% endif %}"), "\nb");
}

TEST(Whitespace, CommentsAreTrimmedLikeBlocks) {
  EXPECT_EQ(render("a\n  {# note #}\nb"), "a\nb");
  EXPECT_EQ(render("a {#- note -#} b"), "ab");
}

TEST(Whitespace, OneNewlineAtTheEndIsDropped) {
  EXPECT_EQ(render("a\n\n"), "a\n");
  EXPECT_EQ(render("a\r\n"), "a");
}

TEST(Whitespace, LineEndsBecomeNewlines) {
  EXPECT_EQ(render("a\r\nb\rc"), "a\nb\nc");
}

TEST(Whitespace, RawKeepsTags) {
  EXPECT_EQ(render("{% raw %}{{ x }}{% if %}{% endraw %}"), "{{ x }}{% if %}");
  EXPECT_EQ(render("{%- raw -%}  x  {%- endraw -%}  y"), "xy");
}

TEST(Whitespace, UnclosedCommentAtTheVeryEndIsIgnored) {
  EXPECT_EQ(render("a{#"), "a");
  EXPECT_EQ(failure("a{# b"), "Missing end of comment tag");
}

}  // namespace
}  // namespace smol::jinja

#include "jinja/marked_string.h"

#include <gtest/gtest.h>

namespace smol::jinja {
namespace {

TEST(MarkedString, MergesAdjacentRangesOfTheTemplate) {
  MarkedString text("ab", Origin::Template);
  text.append("cd", Origin::Template);
  EXPECT_EQ(text.template_ranges(), (std::vector<Range>{{0, 4}}));
}

TEST(MarkedString, KeepsInputApart) {
  MarkedString text("ab", Origin::Template);
  text.append("cd", Origin::Input);
  text.append("ef", Origin::Template);
  EXPECT_EQ(text.bytes(), "abcdef");
  EXPECT_EQ(text.template_ranges(), (std::vector<Range>{{0, 2}, {4, 6}}));
}

TEST(MarkedString, CutsRangesInASubstring) {
  MarkedString text("abc", Origin::Template);
  text.append("def", Origin::Input);
  text.append("ghi", Origin::Template);
  const MarkedString part = text.substr(2, 7);
  EXPECT_EQ(part.bytes(), "cdefg");
  EXPECT_EQ(part.template_ranges(), (std::vector<Range>{{0, 1}, {4, 5}}));
}

TEST(MarkedString, MergesAcrossAnAppendedString) {
  MarkedString text("ab", Origin::Template);
  text.append(MarkedString("cd", Origin::Template));
  EXPECT_EQ(text.template_ranges(), (std::vector<Range>{{0, 4}}));
}

TEST(MarkedString, AppendsItself) {
  MarkedString text("a", Origin::Template);
  text.append("b", Origin::Input);
  text.append(text);
  EXPECT_EQ(text.bytes(), "abab");
  EXPECT_EQ(text.template_ranges(), (std::vector<Range>{{0, 1}, {2, 3}}));
}

TEST(MarkedString, KnowsTheOriginOfEachByte) {
  MarkedString text("a", Origin::Input);
  text.append("b", Origin::Template);
  EXPECT_EQ(text.origin_at(0), Origin::Input);
  EXPECT_EQ(text.origin_at(1), Origin::Template);
  EXPECT_EQ(text.origin(), Origin::Input);
  EXPECT_EQ(MarkedString("x", Origin::Template).origin(), Origin::Template);
  EXPECT_EQ(MarkedString().origin(), Origin::Template);
}

TEST(MarkedString, OfNothingHasNoRange) {
  EXPECT_TRUE(MarkedString("", Origin::Template).template_ranges().empty());
}

}  // namespace
}  // namespace smol::jinja

#include "app/known_templates.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/line_diff.h"
#include "app/sha256.h"

namespace smol::app {
namespace {

TEST(Sha256, MatchesThePublishedExamples) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(KnownTemplates, AreTheOfficialTextsByteForByte) {
  EXPECT_EQ(sha256_hex(smollm3_template_v1()).substr(0, 8), "3982464e");
  EXPECT_EQ(sha256_hex(smollm3_template_v2()).substr(0, 8), "0dab472a");
  EXPECT_EQ(sha256_hex(smollm3_template_newest()).substr(0, 8), "3e0e275a");
  EXPECT_EQ(smollm3_template_gguf().size(), 5592U);
}

TEST(KnownTemplates, AreRecognizedWithANewlineAtTheEnd) {
  const TemplateMatch match = match_template(std::string(smollm3_template_v2()) + "\n");
  ASSERT_NE(match.exact, nullptr);
  EXPECT_FALSE(match.exact->is_current);
  EXPECT_TRUE(match.difference.empty());
}

TEST(KnownTemplates, AnEditIsComparedWithTheClosestOne) {
  std::string edited(smollm3_template_newest());
  edited.replace(edited.find("SmolLM,"), 6, "Bobby");
  const TemplateMatch match = match_template(edited);
  EXPECT_EQ(match.exact, nullptr);
  EXPECT_EQ(match.closest->text, smollm3_template_newest());
  EXPECT_EQ(match.difference.size(), 2U);
}

TEST(LineDiff, ShowsRemovedAndAddedLinesInOrder) {
  EXPECT_EQ(line_diff("a\nb\nc\nd\n", "a\nc\nx\nd\n"), (std::vector<std::string>{"- b", "+ x"}));
  EXPECT_EQ(line_diff("same", "same"), std::vector<std::string>{});
  EXPECT_EQ(line_diff("", "new"), (std::vector<std::string>{"+ new"}));
}

}  // namespace
}  // namespace smol::app

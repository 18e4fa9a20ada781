#include "app/page_token.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace smol::app {
namespace {

TEST(PageToken, IsTheSameForTheSameKeysAlone) {
  const test::TempFolder temp;
  const std::vector<std::string> keys{"one", "two"};
  const std::string token = page_token(temp.path(), keys);
  keep_page_token(temp.path(), keys, token);
  EXPECT_EQ(page_token(temp.path(), keys), token);
  EXPECT_NE(page_token(temp.path(), {"one"}), token);
  EXPECT_NE(page_token(temp.path(), {"one", "two", "three"}), token);
  EXPECT_NE(page_token(temp.path(), {}), token);
}

TEST(PageToken, IsANewOneWhereNothingIsKept) {
  const test::TempFolder temp;
  EXPECT_EQ(page_token(temp.path(), {"key"}).size(), 32U);
  EXPECT_NE(page_token(temp.path(), {"key"}), page_token(temp.path(), {"key"}));
  keep_page_token(temp.path(), {}, "token");
  EXPECT_TRUE(std::filesystem::is_empty(temp.path()));
}

TEST(PageToken, IsNotTakenFromABrokenFile) {
  const test::TempFolder temp;
  for (const char* content : {"", "token", "token 1234\n"}) {
    std::ofstream(temp.path() / "page_token") << content;
    EXPECT_EQ(page_token(temp.path(), {"key"}).size(), 32U) << content;
  }
}

TEST(PageToken, DoesNotWaitForTheWriterOfAPipe) {
  const test::TempFolder temp;
  ASSERT_EQ(::mkfifo((temp.path() / "page_token").c_str(), 0600), 0);
  EXPECT_EQ(page_token(temp.path(), {"key"}).size(), 32U);
}

TEST(PageToken, IsForItsOwnersEyesOnly) {
  const test::TempFolder temp;
  keep_page_token(temp.path(), {"key"}, "token");
  EXPECT_EQ(std::filesystem::status(temp.path() / "page_token").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace
}  // namespace smol::app

#include "app/data_folder.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temp_folder.h"

namespace smol::app {
namespace {

using ::testing::HasSubstr;

std::string refusal_of(const std::filesystem::path& path) {
  try {
    const DataFolder folder(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "no exception";
}

TEST(DataFolder, IsMadeForItsOwnerAlone) {
  const test::TempFolder temp;
  const DataFolder folder(temp.path() / "new" / "data/");
  EXPECT_EQ(folder.path(), temp.path() / "new" / "data");
  EXPECT_EQ(std::filesystem::status(folder.path()).permissions(), std::filesystem::perms(0700));
}

TEST(DataFolder, IsUsedByOneAtATime) {
  const test::TempFolder temp;
  std::optional<DataFolder> first(std::in_place, temp.path() / "data");
  EXPECT_THAT(refusal_of(temp.path() / "data"), HasSubstr("found another one that uses it"));
  first.reset();
  EXPECT_EQ(refusal_of(temp.path() / "data"), "no exception");
}

TEST(DataFolder, IsRidOfWhatAKilledServerHadNotFinished) {
  const test::TempFolder temp;
  std::filesystem::create_directory(temp.path() / "data");
  const std::filesystem::path part = temp.path() / "data" / "smolbot-0123456789abcdef.part";
  std::ofstream(part) << "x";
  const DataFolder folder(temp.path() / "data");
  EXPECT_FALSE(std::filesystem::exists(part));
}

TEST(DataFolder, NamesFlagAndPathWhereItCannotBe) {
  const test::TempFolder temp;
  const std::filesystem::path file = temp.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_THAT(refusal_of(file), HasSubstr("--data-dir: " + file.string() + ": expected"));
  EXPECT_THAT(refusal_of(file / "below"), HasSubstr("--data-dir: "));
}

}  // namespace
}  // namespace smol::app

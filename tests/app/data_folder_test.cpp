#include "app/data_folder.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temp_folder.h"

namespace smol::app {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refusal_of(const std::filesystem::path& path) {
  try {
    open_sessions(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "no exception";
}

TEST(DataFolder, IsUsedByOneAtATime) {
  const test::TempFolder temp;
  auto first = open_sessions(temp.path() / "data");
  EXPECT_THAT(refusal_of(temp.path() / "data"),
              HasSubstr("found one that another smolbot is using"));
  first.reset();
  EXPECT_EQ(refusal_of(temp.path() / "data"), "no exception");
}

TEST(DataFolder, IsRidOfWhatAKilledServerHadNotFinished) {
  const test::TempFolder temp;
  std::filesystem::create_directory(temp.path() / "data");
  const std::filesystem::path part = temp.path() / "data" / "smolbot-0123456789abcdef.part";
  std::ofstream(part) << "x";
  open_sessions(temp.path() / "data");
  EXPECT_FALSE(std::filesystem::exists(part));
}

TEST(DataFolder, NamesFlagAndPathWhereItCannotBe) {
  const test::TempFolder temp;
  const std::filesystem::path file = temp.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_THAT(refusal_of(file), StartsWith("--data-dir: " + file.string()));
}

}  // namespace
}  // namespace smol::app

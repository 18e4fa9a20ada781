#include "app/text_input.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temp_folder.h"

namespace smol::app {
namespace {

std::filesystem::path write_input(const test::TempFolder& folder, const std::string& content) {
  auto path = folder.path() / "file";
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string refusal_of(const std::filesystem::path& path, std::size_t most_bytes) {
  try {
    read_text_file(path, "--tools", most_bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ReadTextFile, GivesTheWholeFile) {
  const test::TempFolder folder;
  const std::string text(200'000, 'x');
  EXPECT_EQ(read_text_file(write_input(folder, text), "--tools", kMiB), text);
}

TEST(ReadTextFile, TakesAsMuchAsItsKindMayHaveAndNoMore) {
  const test::TempFolder folder;
  EXPECT_EQ(refusal_of(write_input(folder, std::string(kMiB, 'x')), kMiB), "");
  const auto path = write_input(folder, std::string(kMiB + 1, 'x'));
  EXPECT_EQ(refusal_of(path, kMiB),
            "--tools: " + path.string() + ": expected at most 1 MiB, found more");
}

TEST(ReadTextFile, KnowsAModelFileByItsStart) {
  const test::TempFolder folder;
  const auto path = write_input(folder, "GGUF\x03");
  EXPECT_EQ(refusal_of(path, kMiB),
            "--tools: " + path.string() + ": expected a text, found a model file (GGUF)");
}

TEST(ReadTextFile, RefusesDevicesAndFolders) {
  EXPECT_EQ(refusal_of("/dev/zero", kMiB),
            "--tools: /dev/zero: expected a file, found no regular file");
  EXPECT_NE(refusal_of("/", kMiB).find("found no regular file"), std::string::npos);
}

}  // namespace
}  // namespace smol::app

#include "base/mapped_file.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <utility>

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temp_folder.h"

namespace smol {
namespace {

std::string text_of(const MappedFile& file) {
  std::string text;
  for (const std::byte byte : file.bytes()) {
    text += static_cast<char>(byte);
  }
  return text;
}

ErrorCode error_of(const std::filesystem::path& path) {
  try {
    const MappedFile file(path);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos);
    return error.code();
  }
  ADD_FAILURE() << "expected an error";
  return ErrorCode::Device;
}

TEST(MappedFile, HoldsTheBytesOfTheFile) {
  const test::TempFolder folder;
  std::ofstream(folder.path() / "file") << "some bytes";
  EXPECT_EQ(text_of(MappedFile(folder.path() / "file")), "some bytes");
}

TEST(MappedFile, RefusesAPipeWithoutWaitingForItsWriter) {
  const test::TempFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(error_of(folder.path() / "pipe"), ErrorCode::BadInput);
}

TEST(MappedFile, ReadCopiesARange) {
  const test::TempFolder folder;
  std::ofstream(folder.path() / "file") << "some bytes";
  const MappedFile file(folder.path() / "file");
  std::array<std::byte, 4> out{};
  file.read(5, out);
  EXPECT_EQ(static_cast<char>(out[0]), 'b');
  EXPECT_EQ(static_cast<char>(out[3]), 'e');
}

TEST(MappedFile, ReadOfAFileThatHasBecomeShorterFails) {
  const test::TempFolder folder;
  const auto path = folder.path() / "file";
  std::ofstream(path) << "some bytes";
  const MappedFile file(path);
  std::filesystem::resize_file(path, 6);
  std::array<std::byte, 4> out{};
  try {
    file.read(5, out);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Io);
    EXPECT_NE(std::string(error.what()).find("expected 10 bytes"), std::string::npos);
  }
}

TEST(MappedFile, OfAnEmptyFileIsEmpty) {
  const test::TempFolder folder;
  std::ofstream(folder.path() / "file") << "";
  EXPECT_TRUE(MappedFile(folder.path() / "file").bytes().empty());
}

TEST(MappedFile, KeepsItsBytesWhenMoved) {
  const test::TempFolder folder;
  std::ofstream(folder.path() / "file") << "some bytes";
  MappedFile file(folder.path() / "file");
  MappedFile moved(std::move(file));
  EXPECT_EQ(text_of(moved), "some bytes");
  std::ofstream(folder.path() / "other") << "others";
  moved = MappedFile(folder.path() / "other");
  EXPECT_EQ(text_of(moved), "others");
}

TEST(MappedFile, SaysWhatIsWrongWithAPath) {
  const test::TempFolder folder;
  EXPECT_EQ(error_of(folder.path() / "none"), ErrorCode::NotFound);
  EXPECT_EQ(error_of(folder.path()), ErrorCode::BadInput);
}

}  // namespace
}  // namespace smol

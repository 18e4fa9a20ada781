#include "base/output_file.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temp_folder.h"

namespace smol {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string refusal_of(const fs::path& path, OutputRules rules = {}) {
  try {
    const OutputFile file(path, rules);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(OutputFile, IsThereOnlyOnceItIsFinished) {
  const test::TempFolder folder;
  const fs::path path = folder.path() / "out";
  OutputFile file(path);
  file.write("text");
  EXPECT_FALSE(fs::exists(path));
  file.finish();
  EXPECT_EQ(content_of(path), "text");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(OutputFile, LeavesNothingBehindWhenItIsNotFinished) {
  const test::TempFolder folder;
  { OutputFile(folder.path() / "out").write("text"); }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(OutputFile, OfAKilledProgramIsRemovedLaterAndNothingElseIs) {
  const test::TempFolder folder;
  const fs::path other = folder.path() / "other";
  fs::create_directory(other);
  OutputFile written(folder.path() / "out");  // as it stands there when a program is killed
  const fs::path part = fs::directory_iterator(folder.path())->path().filename() == "other"
                            ? std::next(fs::directory_iterator(folder.path()))->path()
                            : fs::directory_iterator(folder.path())->path();
  fs::create_directory(other / part.filename());
  for (const char* name : {"smolbot-0123456789abcde.part", "smolbot-0123456789abcdeg.part",
                           "smolbot-0123456789abcdef", "x.part"}) {
    std::ofstream(other / name) << "kept";
  }
  remove_unfinished_files(folder.path());
  remove_unfinished_files(other);
  remove_unfinished_files(folder.path() / "none");
  EXPECT_FALSE(fs::exists(part));
  EXPECT_EQ(std::distance(fs::directory_iterator(other), {}), 5);
}

TEST(OutputFile, KeepsAnEarlierFileUnlessItMayBeReplaced) {
  const test::TempFolder folder;
  const fs::path path = folder.path() / "out";
  std::ofstream(path) << "old";
  EXPECT_EQ(refusal_of(path), path.string() + ": expected no file there, found one");
  EXPECT_EQ(content_of(path), "old");
  OutputFile file(path, {.replace = true});
  file.write("new");
  EXPECT_EQ(content_of(path), "old");
  file.finish();
  EXPECT_EQ(content_of(path), "new");
}

TEST(OutputFile, KeepsAFileThatCameInTheMeantime) {
  const test::TempFolder folder;
  const fs::path path = folder.path() / "out";
  OutputFile first(path);
  OutputFile second(path);
  first.write("first");
  second.write("second");
  first.finish();
  EXPECT_THROW(second.finish(), Error);
  EXPECT_EQ(content_of(path), "first");
}

TEST(OutputFile, RefusesWhatIsNoRegularFile) {
  const test::TempFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const fs::path link = folder.path() / "link";
  std::ofstream(folder.path() / "precious") << "old";
  fs::create_symlink("precious", link);
  const OutputRules replace{.replace = true};
  EXPECT_NE(refusal_of(pipe, replace).find("found a device or pipe"), std::string::npos);
  EXPECT_NE(refusal_of(link, replace).find("found a symbolic link"), std::string::npos);
  EXPECT_NE(refusal_of(folder.path(), replace).find("found a folder"), std::string::npos);
  EXPECT_NE(refusal_of(folder.path() / "", replace).find("name of a file"), std::string::npos);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(content_of(link), "old");
}

TEST(OutputFile, CanBeForItsOwnerAlone) {
  const test::TempFolder folder;
  const fs::path path = folder.path() / "out";
  OutputFile file(path, {.owner_only = true});
  file.finish();
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(OutputFile, ReportsWhatCannotBeWritten) {
  EXPECT_NE(refusal_of("/nonexistent/out").find("No such file or directory"), std::string::npos);
}

TEST(OutputFile, ReportsALimitAndLeavesNothing) {
  const test::TempFolder folder;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handled = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 4, .rlim_max = before.rlim_max};
  std::string message;
  try {
    OutputFile file(folder.path() / "out");
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    file.write("more than four bytes");
  } catch (const Error& error) {
    message = error.what();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handled);
  EXPECT_NE(message.find("File too large"), std::string::npos) << message;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(OutputFileDeathTest, IsRemovedWhenASignalEndsTheProgram) {
  const test::TempFolder folder;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(
        {
          OutputFile file(folder.path() / "out");
          file.write("text");
          static_cast<void>(std::raise(signal));
        },
        ::testing::KilledBySignal(signal), "");
    EXPECT_TRUE(fs::is_empty(folder.path()));
  }
}

}  // namespace
}  // namespace smol

#include "app/model_choice.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temp_folder.h"
#include "support/tiny_model.h"

namespace smol::app {
namespace {

namespace fs = std::filesystem;

class ModelChoiceTest : public ::testing::Test {
 protected:
  fs::path add(const std::string& name, const std::string& architecture, int hours_old) {
    fs::path path = folder_.path() / "models" / name;
    fs::create_directories(path.parent_path());
    test::TinySpec spec;
    spec.architecture = architecture;
    const std::vector<std::byte> bytes = test::TinyModel{spec}.bytes();
    std::ofstream out{path, std::ios::binary};
    for (const std::byte byte : bytes) {
      out.put(static_cast<char>(byte));
    }
    out.close();
    age(path, hours_old);
    return path;
  }

  static void age(const fs::path& path, int hours_old) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours_old));
  }

  ModelChoice choose() const { return choose_model(std::nullopt, {folder_.path()}); }

  std::string choose_from(const std::string& name) {
    add(name, "smollm3", 1);
    return choose().path.filename().string();
  }

  test::TempFolder folder_;
};

TEST_F(ModelChoiceTest, WhatIsAskedForIsTaken) {
  EXPECT_EQ(choose_model(fs::path("any.gguf"), {folder_.path()}).path, "any.gguf");
}

TEST_F(ModelChoiceTest, TheNewestSmolLm3IsTaken) {
  add("old.gguf", "smollm3", 5);
  const fs::path newest = add("new.gguf", "smollm3", 1);
  add("older.gguf", "smollm3", 9);
  const ModelChoice choice = choose();
  EXPECT_EQ(choice.path, newest);
  EXPECT_FALSE(choice.is_fallback);
}

TEST_F(ModelChoiceTest, OtherArchitecturesArePassedOver) {
  const fs::path smollm3 = add("a.gguf", "smollm3", 5);
  add("b.gguf", "llama", 1);
  EXPECT_EQ(choose().path, smollm3);
}

TEST_F(ModelChoiceTest, BrokenFilesArePassedOver) {
  const fs::path smollm3 = add("a.gguf", "smollm3", 5);
  std::ofstream(folder_.path() / "models" / "broken.gguf") << "GGUF";
  EXPECT_EQ(choose().path, smollm3);
}

TEST_F(ModelChoiceTest, TheDemoIsTheLastResort) {
  const fs::path demo = add("demo/smollm3-demo-q8_0.gguf", "smollm3", 1);
  const ModelChoice choice = choose();
  EXPECT_EQ(choice.path, demo);
  EXPECT_TRUE(choice.is_fallback);
}

TEST_F(ModelChoiceTest, WhatIsLeftOutIsSaidWithTheReason) {
  add("demo/smollm3-demo-q8_0.gguf", "smollm3", 1);
  add("other.gguf", "llama", 2);
  std::ofstream(folder_.path() / "models" / "half.gguf") << "GGUF";
  age(folder_.path() / "models" / "half.gguf", 1);
  const ModelChoice choice = choose();
  EXPECT_TRUE(choice.is_fallback);
  EXPECT_EQ(choice.n_found, 2U);
  ASSERT_EQ(choice.left_out.size(), 2U);
  EXPECT_NE(choice.left_out[0].find("half.gguf: "), std::string::npos) << choice.left_out[0];
  EXPECT_NE(choice.left_out[1].find("other.gguf: expected a SmolLM3, found \"llama\""),
            std::string::npos)
      << choice.left_out[1];
}

TEST_F(ModelChoiceTest, TheEndingMayBeInCapitals) {
  EXPECT_EQ(choose_from("BIG.GGUF"), "BIG.GGUF");
}

TEST_F(ModelChoiceTest, NothingAtAllIsAnError) {
  EXPECT_THROW(choose(), Error);
}

}  // namespace
}  // namespace smol::app

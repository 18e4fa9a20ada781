#include "gguf/file.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace smol::gguf {
namespace {

const std::filesystem::path kDemo =
    std::filesystem::path(SMOL_SOURCE_DIR) / "models/demo/smollm3-demo-q8_0.gguf";

TEST(GgufFile, OpensTheDemoModel) {
  const File file = File::open(kDemo);
  EXPECT_EQ(file.version(), 3U);
  EXPECT_EQ(file.metadata().string("general.architecture"), "smollm3");
  const TensorView& embedding = file.tensor("token_embd.weight");
  EXPECT_EQ(embedding.bytes.size(), embedding.n_rows() * embedding.row_bytes());
}

}  // namespace
}  // namespace smol::gguf

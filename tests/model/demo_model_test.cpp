// The demo model of the repository: real, trained weights.
#include "support/demo_model.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "model/session.h"

namespace smol::model {
namespace {

gguf::File demo_file() {
  return gguf::File::open(test::kDemoModel);
}

TEST(DemoModel, HasTheShapeThatItsPageStates) {
  const gguf::File file = demo_file();
  const ModelConfig config = ModelConfig::from_gguf(file, std::nullopt);
  EXPECT_EQ(config.architecture, "smollm3");
  EXPECT_EQ(config.n_layers, 8U);
  EXPECT_EQ(config.n_heads / config.n_kv_heads, 4U);
  EXPECT_EQ(config.vocab_size, 4352U);
  EXPECT_FALSE(config.layer_uses_rope[3]);
  EXPECT_FALSE(config.layer_uses_rope[7]);
}

TEST(DemoModel, GivesTheSameBitsInChunksAndOnThreads) {
  const gguf::File file = demo_file();
  const std::vector<TokenId> ids = some_ids(12, 4352);
  DecoderOptions options;
  options.context = 64;
  options.max_batch = 16;
  const std::vector<float> expected = Session(file, options).append(ids, 1);
  EXPECT_EQ(Session(file, options, 2).append(ids, 5), expected);
}

}  // namespace
}  // namespace smol::model

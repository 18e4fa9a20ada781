#include "model/fingerprint.h"

#include <gtest/gtest.h>

#include "support/tiny_model.h"

namespace smol::model {
namespace {

std::uint64_t fingerprint_of(const test::TinyModel& model) {
  const test::TinyFile file(model);
  return fingerprint(file.file(), ModelConfig::from_gguf(file.file(), std::nullopt));
}

TEST(Fingerprint, IsThatOfTheModelAlone) {
  EXPECT_EQ(fingerprint_of(test::TinyModel({})), fingerprint_of(test::TinyModel({})));
}

TEST(Fingerprint, ChangesWithWeightsAndWithPositions) {
  const std::uint64_t first = fingerprint_of(test::TinyModel({}));
  EXPECT_NE(first, fingerprint_of(test::TinyModel({.seed = 2})));
  EXPECT_NE(first, fingerprint_of(test::TinyModel({.rope_theta = 20000.0F})));
  EXPECT_NE(first, fingerprint_of(test::TinyModel({.architecture = "llama"})));
}

}  // namespace
}  // namespace smol::model

// The tests of `smolbot bench`: what they run, and what that is at least in bytes and products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/progress.h"
#include "model/decoder.h"
#include "model/weights.h"

namespace smol::app {

struct BenchSettings {
  std::size_t prompt_tokens = 512;
  std::size_t generated_tokens = 64;
  std::size_t depth = 0;  // tokens that each sequence holds before
  std::size_t chunk = 512;
  std::size_t repetitions = 3;
  std::vector<std::size_t> sequences = {1};  // numbers of them that are decoded together
};

struct BenchTest {
  std::string name;  // "pp512": a prompt of 512 tokens; "tg64": 64 tokens, one by one
  std::size_t n_tokens;
  std::size_t chunk;      // tokens of a sequence in one step
  std::size_t sequences;  // 1 for a prompt
};

std::vector<BenchTest> tests_of(const BenchSettings& settings);

// What a model asks of memory and processor, no padding counted.
struct ModelCost {
  double layer_bytes, layer_products;    // matrices of all layers: each step, each token
  double output_bytes, output_products;  // the output matrix: a step with logits, each row of them
  double position_bytes, position_products;  // attention to one position
};

ModelCost cost_of(const model::Weights& weights, model::KvCacheType kv_type);

struct Work {
  double bytes = 0.0;     // weights and cache, read once a step
  double products = 0.0;  // int8 multiply-adds; of prompts without their one row of logits
};

Work work_of(const ModelCost& cost, const BenchTest& test, std::size_t depth);

// Seconds of each run.
std::vector<double> run_test(model::Decoder& decoder, const BenchTest& test,
                             const BenchSettings& settings, Progress& progress);

}  // namespace smol::app

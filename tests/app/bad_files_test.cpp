// Files that are well-formed containers but no model, tokenizer or template that can be used: each
// is refused with one line that names the thing, what was expected and what was found.
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/open_model.h"
#include "app/options.h"
#include "base/error.h"
#include "base/json.h"
#include "support/demo_model.h"
#include "support/model_copy.h"
#include "support/temp_folder.h"
#include "text/tokenizer.h"

namespace smol::app {
namespace {

using test::ModelCopy;

void expect_one_line(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

struct Bad {
  const char* name;
  std::function<void(ModelCopy&)> damage;
  std::string words;  // the thing, in the message
};

std::ostream& operator<<(std::ostream& out, const Bad& bad) {
  return out << bad.name;
}

class BadModel : public testing::TestWithParam<Bad> {};

TEST_P(BadModel, IsRefusedWithOneLineThatNamesTheThing) {
  const test::TempFolder folder;
  const auto path = folder.path() / "bad.gguf";
  ModelCopy copy(test::kDemoModel);
  GetParam().damage(copy);
  copy.write(path);
  ModelOptions options;
  options.threads = 1;
  try {
    const Conversationalist loaded(path, options);
    FAIL() << "accepted";
  } catch (const Error& error) {
    expect_one_line(error.what(), GetParam().words);
  }
}

std::function<void(ModelCopy&)> set_count(std::string_view key, std::uint32_t value) {
  return [key, value](ModelCopy& copy) { copy.set(key, value); };
}

std::function<void(ModelCopy&)> set_real(std::string_view key, float value) {
  return [key, value](ModelCopy& copy) { copy.set(key, value); };
}

std::function<void(ModelCopy&)> set_text(std::string_view key, std::string_view value) {
  return [key, value](ModelCopy& copy) { copy.set(key, value); };
}

std::function<void(ModelCopy&)> without(std::string_view key) {
  return [key](ModelCopy& copy) { copy.remove(key); };
}

std::function<void(ModelCopy&)> shaped(std::string_view tensor,
                                       const std::vector<std::size_t>& shape) {
  return [tensor, shape](ModelCopy& copy) { copy.tensor(tensor).spec.shape = shape; };
}

std::function<void(ModelCopy&)> without_tensor(std::string_view tensor) {
  return [tensor](ModelCopy& copy) { copy.remove_tensor(tensor); };
}

constexpr std::string_view kArchitecture = "general.architecture";
constexpr std::string_view kLayers = "smollm3.block_count";
constexpr std::string_view kHeads = "smollm3.attention.head_count";
constexpr std::string_view kKvHeads = "smollm3.attention.head_count_kv";
constexpr std::string_view kEps = "smollm3.attention.layer_norm_rms_epsilon";
constexpr std::string_view kTheta = "smollm3.rope.freq_base";
constexpr std::string_view kContext = "smollm3.context_length";
constexpr std::string_view kEmbedding = "smollm3.embedding_length";
constexpr std::string_view kFeedForward = "smollm3.feed_forward_length";
constexpr std::string_view kDimensions = "smollm3.rope.dimension_count";

std::vector<Bad> bad_hyperparameters() {
  return {
      {"ArchitectureMissing", without(kArchitecture), "general.architecture"},
      {"ArchitectureUnknown", set_text(kArchitecture, "gpt\n9"), "smollm3, llama"},
      {"ArchitectureOfAnotherType", set_count(kArchitecture, 3), "expected string, found u32"},
      {"LayersZero", set_count(kLayers, 0), "block_count"},
      {"LayersHuge", set_count(kLayers, 0xFFFFFFFF), "found 4294967295"},
      {"LayersMissing", without(kLayers), "block_count"},
      {"LayersOneTooMany", set_count(kLayers, 9), "blk.8."},
      {"LayersAsText", set_text(kLayers, "8"), "block_count"},
      {"HeadsZero", set_count(kHeads, 0), "head_count"},
      {"HeadsNoDivisor", set_count(kHeads, 3), "head_count"},
      {"HeadsHuge", set_count(kHeads, 1U << 30U), "head_count"},
      {"KvHeadsZero", set_count(kKvHeads, 0), "head_count_kv"},
      {"KvHeadsMoreThanHeads", set_count(kKvHeads, 8), "head_count_kv"},
      {"KvHeadsNoDivisor", set_count(kKvHeads, 3), "head_count_kv"},
      {"WidthWrong", set_count(kEmbedding, 512), "rope.dimension_count: expected 128"},
      {"WidthZero", set_count(kEmbedding, 0), "embedding_length"},
      {"FeedForwardWrong", set_count(kFeedForward, 512), "ffn"},
      {"FeedForwardMissing", without(kFeedForward), "feed_forward_length"},
      {"ContextZero", set_count(kContext, 0), "context_length"},
      {"ContextHuge", set_count(kContext, 0x7FFFFFFF), "found 2147483647"},
      {"EpsNegative", set_real(kEps, -1e-6F), "layer_norm_rms_epsilon"},
      {"EpsNan", set_real(kEps, std::numeric_limits<float>::quiet_NaN()), "layer_norm_rms_epsilon"},
      {"EpsHuge", set_real(kEps, 1e9F), "layer_norm_rms_epsilon"},
      {"EpsMissing", without(kEps), "layer_norm_rms_epsilon"},
      {"ThetaZero", set_real(kTheta, 0.0F), "rope.freq_base"},
      {"ThetaInfinite", set_real(kTheta, std::numeric_limits<float>::infinity()), "rope.freq_base"},
      {"DimensionsWrong", set_count(kDimensions, 32), "rope.dimension_count"},
      {"KeyLengthOdd", set_count("smollm3.attention.key_length", 63), "attention.key_length"},
      {"VocabularyStatedWrong", set_count("smollm3.vocab_size", 4351), "vocab_size"},
      {"ScalingUnknown", set_text("smollm3.rope.scaling.type", "long\nrope"), "rope.scaling.type"},
  };
}

std::vector<Bad> bad_tensors() {
  return {
      {"EmbeddingMissing", without_tensor("token_embd.weight"), "token_embd.weight"},
      {"NormMissing", without_tensor("output_norm.weight"), "output_norm.weight"},
      {"QueryMissing", without_tensor("blk.0.attn_q.weight"), "blk.0.attn_q.weight"},
      {"LastDownMissing", without_tensor("blk.7.ffn_down.weight"), "blk.7.ffn_down.weight"},
      {"QueryOfAnotherShape", shaped("blk.3.attn_q.weight", {128, 512}),
       "expected [256, 256], found [128, 512]"},
      {"KeyWithThreeAxes", shaped("blk.3.attn_k.weight", {2, 32, 256}), "blk.3.attn_k.weight"},
      {"GateTransposed", shaped("blk.1.ffn_gate.weight", {256, 768}), "blk.1.ffn_gate.weight"},
      {"NormOfAnotherShape", shaped("blk.2.attn_norm.weight", {2, 128}), "blk.2.attn_norm.weight"},
      {"EmbeddingOfAnotherShape", shaped("token_embd.weight", {2176, 512}), "token_embd.weight"},
      {"BiasInALayer",
       [](ModelCopy& c) {
         c.tensors().push_back(
             {{"blk.0.attn_q.bias", gguf::DType::F32, {256}}, std::vector<std::byte>(1024)});
       },
       "blk.0.attn_q.bias"},
      {"LineBreakInATensorsName",
       [](ModelCopy& c) {
         c.tensors().push_back(
             {{"blk.0.a\nb", gguf::DType::F32, {256}}, std::vector<std::byte>(1024)});
       },
       "blk.0.a"},
  };
}

constexpr std::string_view kTokens = "tokenizer.ggml.tokens";

std::vector<Bad> bad_tokenizers() {
  return {
      {"ModelMissing", without("tokenizer.ggml.model"), "tokenizer.ggml.model"},
      {"ModelUnknown", set_text("tokenizer.ggml.model", "llama"), "tokenizer.ggml.model"},
      {"PreMissing", without("tokenizer.ggml.pre"), "tokenizer.ggml.pre"},
      {"PreUnknown", set_text("tokenizer.ggml.pre", "x\x1B[2J"), "tokenizer.ggml.pre"},
      {"TokensMissing", without(kTokens), "tokenizer.ggml.tokens"},
      {"TokensAsNumbers", set_count(kTokens, 7), "tokenizer.ggml.tokens"},
      {"TokensTooFew", [](ModelCopy& c) { c.array<std::string_view>(kTokens).pop_back(); }, "4351"},
      {"TypesMissing", without(test::kTokenTypes), "tokenizer.ggml.token_type"},
      {"TypesTooFew", [](ModelCopy& c) { c.array<std::int32_t>(test::kTokenTypes).pop_back(); },
       "tokenizer.ggml.token_type"},
      {"TypeUnknown", [](ModelCopy& c) { c.array<std::int32_t>(test::kTokenTypes)[5] = 77; },
       "found 77"},
      {"TypeNegative", [](ModelCopy& c) { c.array<std::int32_t>(test::kTokenTypes)[5] = -1; },
       "found -1"},
      {"MergesMissing", without(test::kMerges), "tokenizer.ggml.merges"},
      {"MergeOfUnknownTokens",
       [](ModelCopy& c) { c.array<std::string_view>(test::kMerges)[3] = "zzz qqqq"; }, "merge"},
      {"MergeWithoutSpace",
       [](ModelCopy& c) { c.array<std::string_view>(test::kMerges)[3] = "ab"; }, "merge"},
      {"EosPastTheVocabulary", set_count("tokenizer.ggml.eos_token_id", 4352), "found 4352"},
      {"BosHuge", set_count("tokenizer.ggml.bos_token_id", 0xFFFFFFFF), "found 4294967295"},
      {"EosAsText", set_text("tokenizer.ggml.eos_token_id", "<|im_end|>"),
       "tokenizer.ggml.eos_token_id"},
      {"TemplateMissing", without("tokenizer.chat_template"), "--chat-template"},
      {"TemplateAsNumber", set_count("tokenizer.chat_template", 1), "tokenizer.chat_template"},
  };
}

std::string bad_name(const testing::TestParamInfo<Bad>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Hyperparameters, BadModel, testing::ValuesIn(bad_hyperparameters()),
                         bad_name);
INSTANTIATE_TEST_SUITE_P(Tensors, BadModel, testing::ValuesIn(bad_tensors()), bad_name);
INSTANTIATE_TEST_SUITE_P(Tokenizers, BadModel, testing::ValuesIn(bad_tokenizers()), bad_name);

// Template errors show the place with a caret, so they have more lines; the first one says what is
// wrong.
TEST(BadTemplate, IsRefusedWithItsPlace) {
  for (const char* source : {"{% if %}", "{{ 1 +", "{% for x in y %}", "{{ a b }}", "{% nope %}",
                             "{{ x | nofilter }}", "{{ 'open }}", "{% endif %}", "{# open"}) {
    const test::TempFolder folder;
    ModelCopy copy(test::kDemoModel);
    copy.set("tokenizer.chat_template", std::string_view(source));
    copy.write(folder.path() / "bad.gguf");
    ModelOptions options;
    options.threads = 1;
    try {
      const Conversationalist loaded(folder.path() / "bad.gguf", options);
      FAIL() << "accepted: " << source;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::BadInput);
      EXPECT_NE(std::string(error.what()).find("line 1"), std::string::npos) << error.what();
    }
  }
}

// A byte-level tokenizer.json of three tokens and one merge, to be broken.
Json small_tokenizer() {
  return Json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null,
    "added_tokens": [{"id": 3, "content": "<x>", "single_word": false, "lstrip": false,
                      "rstrip": false, "normalized": false, "special": true}],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
                      "use_regex": true},
    "post_processor": null,
    "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
                "use_regex": true},
    "model": {"type": "BPE", "dropout": null, "unk_token": null,
              "continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": false,
              "byte_fallback": false, "ignore_merges": false,
              "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
  })");
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(BadTokenizerJson, TheSoundOneIsAccepted) {
  const test::TempFolder folder;
  const auto path = folder.path() / "tokenizer.json";
  write_text(path, small_tokenizer().dump());
  EXPECT_EQ(text::Tokenizer::open(path).encode("ab<x>"), (std::vector<TokenId>{2, 3}));
}

TEST(BadTokenizerJson, IsRefusedWithOneLine) {
  const std::vector<std::pair<std::string, std::string>> edits{
      {"/model/type", R"("WordPiece")"},
      {"/model/vocab", R"(["a", "b"])"},
      {"/model/vocab/ab", "-1"},
      {"/model/vocab/ab", R"("2")"},
      {"/model/vocab/ab", "1e300"},
      {"/model/vocab/ab", "4294967296"},
      {"/model/merges", R"({"a": "b"})"},
      {"/model/merges/0", R"("a c")"},
      {"/model/merges/0", R"("ab")"},
      {"/model/merges/0", R"(["a"])"},
      {"/model/merges/0", "7"},
      {"/model/byte_fallback", "true"},
      {"/model/continuing_subword_prefix", R"("##")"},
      {"/model", "null"},
      {"/pre_tokenizer", R"({"type": "Whitespace"})"},
      {"/pre_tokenizer", R"({"type": "Split", "pattern": {"Regex": "(a"}})"},
      {"/decoder", R"({"type": "WordPiece"})"},
      {"/normalizer", R"({"type": "NFKC"})"},
      {"/added_tokens", R"("none")"},
      {"/added_tokens/0/id", "-4"},
      {"/added_tokens/0/content", "12"},
  };
  const test::TempFolder folder;
  const auto path = folder.path() / "tokenizer.json";
  for (const auto& [pointer, value] : edits) {
    Json tokenizer = small_tokenizer();
    tokenizer[Json::json_pointer(pointer)] = Json::parse(value);
    write_text(path, tokenizer.dump());
    try {
      const auto loaded = text::Tokenizer::open(path);
      ADD_FAILURE() << "accepted: " << pointer << " = " << value;
    } catch (const Error& error) {
      expect_one_line(error.what(), "");
    }
  }
}

TEST(BadTokenizerJson, ThatIsNoJsonIsRefusedWithOneLine) {
  const test::TempFolder folder;
  const auto path = folder.path() / "tokenizer.json";
  const std::string sound = small_tokenizer().dump();
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), std::string("GGU"),
        sound.substr(0, sound.size() / 2), sound + "}", std::string(5000, '[')}) {
    write_text(path, text);
    try {
      const auto loaded = text::Tokenizer::open(path);
      ADD_FAILURE() << "accepted: " << text.substr(0, 20);
    } catch (const Error& error) {
      expect_one_line(error.what(), "");
    }
  }
}

}  // namespace
}  // namespace smol::app

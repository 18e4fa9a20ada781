#include "app/inspect.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "support/demo_model.h"
#include "support/raw_gguf.h"
#include "support/temp_folder.h"

namespace smol::app {
namespace {

std::string report_of(const std::filesystem::path& path, bool json) {
  std::ostringstream out;
  EXPECT_EQ(run_inspect({path, json}, out), 0);
  return out.str();
}

std::filesystem::path write_file(const test::TempFolder& folder, const test::RawGguf& raw) {
  auto path = folder.path() / "strange.gguf";
  std::ofstream(path, std::ios::binary) << raw.bytes();
  return path;
}

TEST(Inspect, ShowsMetadataTensorsTokenizerAndTemplate) {
  const std::string report = report_of(test::kDemoModel, false);
  for (const char* words :
       {"GGUF version 3, 7755904 bytes", "general.architecture = \"smollm3\"",
        "smollm3.block_count = 8 (u32)", "array of string, 4352 elements", "blk.7.ffn_down.weight",
        "[256, 768]", "Tokenizer: model \"gpt2\", pre \"smaug-bpe\"", "user-defined tokens: 8",
        "eos: 4108 \"<|im_end|>\"", "SmolLM3 official, newest", "sha256 3e0e275a"}) {
    EXPECT_NE(report.find(words), std::string::npos) << words;
  }
}

TEST(Inspect, WritesTheSameAsJson) {
  const Json report = parse_json(report_of(test::kDemoModel, true), "report");
  EXPECT_EQ(report.at("metadata").at("smollm3.block_count"), 8);
  EXPECT_EQ(report.at("metadata").at("tokenizer.ggml.tokens").at("length"), 4352);
  EXPECT_EQ(report.at("tensors").size(), 74U);
  EXPECT_EQ(report.at("tokenizer").at("special").at("eos").at("text"), "<|im_end|>");
  EXPECT_EQ(report.at("template").at("variant"), "SmolLM3 official, newest");
  std::uint64_t sum = 0;
  for (const Json& type : report.at("types")) {
    sum += type.at("bytes").get<std::uint64_t>();
  }
  EXPECT_EQ(report.at("tensor_bytes"), sum);
}

TEST(Inspect, EscapesControlCharactersOfTheFile) {
  const test::TempFolder folder;
  test::RawGguf raw;
  raw.pairs = {test::raw_pair("general.name", 8, test::raw_string("\x1B[31mred\n\xFF")),
               test::raw_pair("tokenizer.chat_template", 8, test::raw_string("\x1B[2J"))};
  const std::string report = report_of(write_file(folder, raw), false);
  EXPECT_EQ(report.find('\x1B'), std::string::npos);
  EXPECT_NE(report.find("\\x1b[31mred\\n\\xff"), std::string::npos);
}

TEST(Inspect, WritesValidJsonForStringsThatAreNot) {
  const test::TempFolder folder;
  test::RawGguf raw;
  raw.pairs = {test::raw_pair("bad\xFFkey", 8, test::raw_string("\xC3")),
               test::raw_array("flags", 7, 2, std::string("\1\0", 2))};
  const Json report = parse_json(report_of(write_file(folder, raw), true), "report");
  EXPECT_EQ(report.at("metadata").at("bad\xEF\xBF\xBDkey"), "\xEF\xBF\xBD");
  EXPECT_EQ(report.at("metadata").at("flags").at("first"), Json::parse("[true, false]"));
  EXPECT_TRUE(report.at("template").is_null());
}

TEST(Inspect, ShowsAFileWhoseKeysHaveWrongTypes) {
  const test::TempFolder folder;
  test::RawGguf raw;
  raw.pairs = {test::raw_pair("tokenizer.ggml.model", 8, test::raw_string("gpt2")),
               test::raw_pair("tokenizer.ggml.tokens", 4, test::raw(std::uint32_t{5})),
               test::raw_pair("tokenizer.ggml.eos_token_id", 8, test::raw_string("x")),
               test::raw_pair("tokenizer.ggml.bos_token_id", 4, test::raw(std::uint32_t{9}))};
  const std::string report = report_of(write_file(folder, raw), false);
  EXPECT_NE(report.find("bos: 9 outside the vocabulary"), std::string::npos);
}

TEST(Inspect, RefusesWhatIsNoGguf) {
  const test::TempFolder folder;
  const auto path = folder.path() / "text.gguf";
  std::ofstream(path) << "hello, this is no model";
  std::ostringstream out;
  EXPECT_THROW(run_inspect({path, false}, out), Error);
  EXPECT_TRUE(out.str().empty());
}

}  // namespace
}  // namespace smol::app

// Faults planted in copies of the demo model: each is found and named, and the original has none.
#include "app/doctor.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/known_templates.h"
#include "base/error.h"
#include "support/demo_model.h"
#include "support/model_copy.h"
#include "support/temp_folder.h"

namespace smol::app {
namespace {

using test::ModelCopy;

constexpr std::size_t kHeadDim = 64;

std::vector<Finding> faults_of(const std::filesystem::path& path) {
  std::vector<Finding> findings = examine_model(path);
  std::erase_if(findings,
                [](const Finding& finding) { return finding.level != Finding::Level::Fault; });
  return findings;
}

std::string describe(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += finding.check + ": " + finding.message + "\n";
  }
  return text;
}

// Undoes the converter's permutation: row j of a head becomes the file's row 2j, row j + d/2 the
// row 2j + 1.
void unpermute_rows(ModelCopy::Tensor& tensor) {
  const std::size_t n_rows = tensor.spec.shape.front();
  const std::size_t row_bytes = tensor.bytes.size() / n_rows;
  const std::vector<std::byte> original = tensor.bytes;
  for (std::size_t row = 0; row < n_rows; ++row) {
    const std::size_t head = row / kHeadDim * kHeadDim;
    const std::size_t in_head = row % kHeadDim;
    const std::size_t half = kHeadDim / 2;
    const std::size_t source = head + (in_head < half ? 2 * in_head : 2 * (in_head - half) + 1);
    std::memcpy(tensor.bytes.data() + row * row_bytes, original.data() + source * row_bytes,
                row_bytes);
  }
}

void unpermute_all(ModelCopy& copy) {
  for (ModelCopy::Tensor& tensor : copy.tensors()) {
    const std::string& name = tensor.spec.name;
    if (name.find("attn_q.") != std::string::npos || name.find("attn_k.") != std::string::npos) {
      unpermute_rows(tensor);
    }
  }
}

// "smollm3.x" -> "llama.x", as a converter that does not know the architecture would write.
void call_it_llama(ModelCopy& copy) {
  copy.set("general.architecture", std::string_view("llama"));
  copy.set("llama.block_count", std::uint32_t{8});
  copy.set("llama.context_length", std::uint32_t{4096});
  copy.set("llama.embedding_length", std::uint32_t{256});
  copy.set("llama.feed_forward_length", std::uint32_t{768});
  copy.set("llama.attention.head_count", std::uint32_t{4});
  copy.set("llama.attention.head_count_kv", std::uint32_t{1});
  copy.set("llama.attention.layer_norm_rms_epsilon", 1e-6F);
  copy.set("llama.rope.freq_base", 5e6F);
}

struct Planted {
  const char* name;
  std::function<void(ModelCopy&)> plant;
  std::string check;  // the finding's
  std::string words;  // in its message
};

std::ostream& operator<<(std::ostream& out, const Planted& planted) {
  return out << planted.name;
}

class PlantedFault : public testing::TestWithParam<Planted> {};

TEST_P(PlantedFault, IsFoundAndNamed) {
  const test::TempFolder folder;
  ModelCopy copy(test::kDemoModel);
  GetParam().plant(copy);
  copy.write(folder.path() / "copy.gguf");
  const std::vector<Finding> faults = faults_of(folder.path() / "copy.gguf");
  const auto is_wanted = [](const Finding& finding) {
    return finding.check == GetParam().check &&
           finding.message.find(GetParam().words) != std::string::npos && !finding.remedy.empty();
  };
  EXPECT_TRUE(std::any_of(faults.begin(), faults.end(), is_wanted)) << describe(faults);
}

constexpr std::string_view kRopeBase = "smollm3.rope.freq_base";
constexpr std::string_view kPre = "tokenizer.ggml.pre";
constexpr std::string_view kTemplate = "tokenizer.chat_template";

std::vector<Planted> metadata_faults() {
  return {
      {"RopeBase", [](ModelCopy& c) { c.set(kRopeBase, 10000.0F); }, "rope base", "found 10000"},
      {"RopeBaseMissing", [](ModelCopy& c) { c.remove(kRopeBase); }, "rope base", "5000000"},
      {"NormEpsilon",
       [](ModelCopy& c) { c.set("smollm3.attention.layer_norm_rms_epsilon", 1e-5F); },
       "norm epsilon", "found 1e-05"},
      {"ContextLength",
       [](ModelCopy& c) { c.set("smollm3.context_length", std::uint32_t{131072}); },
       "context length", "found 131072"},
      {"HeadCount", [](ModelCopy& c) { c.set("smollm3.attention.head_count", std::uint32_t{3}); },
       "model", "head_count"},
      {"KvHeadCount",
       [](ModelCopy& c) { c.set("smollm3.attention.head_count_kv", std::uint32_t{2}); }, "model",
       "attn_k"},
      {"BlockCount", [](ModelCopy& c) { c.set("smollm3.block_count", std::uint32_t{9}); }, "model",
       "blk.8."},
      {"Architecture", call_it_llama, "NoPE", "found llama"},
      {"ArchitectureUnknown",
       [](ModelCopy& c) { c.set("general.architecture", std::string_view("smollm4")); }, "model",
       "smollm4"},
  };
}

std::vector<Planted> tokenizer_faults() {
  return {
      {"Eos", [](ModelCopy& c) { c.set("tokenizer.ggml.eos_token_id", std::uint32_t{4097}); },
       "end of turn", "found \"<|end_of_text|>\""},
      {"EosMissing", [](ModelCopy& c) { c.remove("tokenizer.ggml.eos_token_id"); }, "end of turn",
       "no such key"},
      {"AddBos", [](ModelCopy& c) { c.set("tokenizer.ggml.add_bos_token", true); }, "begin of text",
       "found true"},
      {"Pre", [](ModelCopy& c) { c.set(kPre, std::string_view("gpt-2")); }, "pre-tokenizer",
       "found \"gpt-2\""},
      {"PreUnknown", [](ModelCopy& c) { c.set(kPre, std::string_view("default")); },
       "pre-tokenizer", "found \"default\""},
      {"MergeRemoved",
       [](ModelCopy& c) {
         auto& merges = c.array<std::string_view>(test::kMerges);
         merges.erase(merges.begin() + 1000);
       },
       "merges", "(1256)"},
      {"MergesSwapped",
       [](ModelCopy& c) {
         auto& merges = c.array<std::string_view>(test::kMerges);
         std::swap(merges[10], merges[11]);
       },
       "merges", "order of their ids"},
      {"MergeBroken", [](ModelCopy& c) { c.array<std::string_view>(test::kMerges)[7] = "zq zq"; },
       "merges", "line 7"},
      {"ThinkIsControl", [](ModelCopy& c) { c.array<std::int32_t>(test::kTokenTypes)[4098] = 3; },
       "token types", "\"<think>\" (4098): expected type 4"},
      {"EndOfTurnIsNormal",
       [](ModelCopy& c) { c.array<std::int32_t>(test::kTokenTypes)[4108] = 1; }, "token types",
       "\"<|im_end|>\" (4108): expected type 3"},
      {"WordIsControl", [](ModelCopy& c) { c.array<std::int32_t>(test::kTokenTypes)[300] = 3; },
       "token types", "expected type 1"},
      {"TokenTwice",
       [](ModelCopy& c) {
         auto& tokens = c.array<std::string_view>("tokenizer.ggml.tokens");
         tokens[4095] = tokens[4094];
       },
       "vocabulary", "found 4351"},
  };
}

std::vector<Planted> template_faults() {
  return {
      {"TemplateOfTheFirstVersion", [](ModelCopy& c) { c.set(kTemplate, smollm3_template_v1()); },
       "template", "first version"},
      {"TemplateOfTheSecondVersion", [](ModelCopy& c) { c.set(kTemplate, smollm3_template_v2()); },
       "template", "second version"},
      {"TemplateEdited",
       [](ModelCopy& c) { c.set(kTemplate, c.value<std::string_view>(kTemplate).substr(1)); },
       "template", "not an official one: 2 lines differ"},
      {"TemplateMissing", [](ModelCopy& c) { c.remove(kTemplate); }, "template", "no such key"},
  };
}

std::vector<Planted> tensor_faults() {
  return {
      {"RowsNotPermuted", unpermute_all, "q/k rows", "not permuted"},
      {"NotANumber",
       [](ModelCopy& c) {
         auto& bytes = c.tensor("blk.2.ffn_up.weight").bytes;
         bytes[0] = std::byte{0xFF};  // the first block's scale becomes NaN
         bytes[1] = std::byte{0x7F};
       },
       "tensor values", "blk.2.ffn_up.weight: expected finite values"},
      {"AllZeros",
       [](ModelCopy& c) {
         auto& bytes = c.tensor("blk.5.attn_output.weight").bytes;
         std::fill(bytes.begin(), bytes.end(), std::byte{0});
       },
       "tensor values", "blk.5.attn_output.weight"},
      {"AbsurdScale",
       [](ModelCopy& c) {
         auto& bytes = c.tensor("blk.2.ffn_up.weight").bytes;
         bytes[0] = std::byte{0xFF};
         bytes[1] = std::byte{0x7B};
       },
       "tensor values", "expected values below"},
      {"TensorMissing", [](ModelCopy& c) { c.remove_tensor("blk.3.attn_v.weight"); }, "model",
       "blk.3.attn_v.weight"},
      {"TensorOfAnotherShape",
       [](ModelCopy& c) {
         c.tensor("blk.3.attn_q.weight").spec.shape = {128, 512};
       },
       "model", "blk.3.attn_q.weight"},
  };
}

std::string planted_name(const testing::TestParamInfo<Planted>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Metadata, PlantedFault, testing::ValuesIn(metadata_faults()),
                         planted_name);
INSTANTIATE_TEST_SUITE_P(Tokenizer, PlantedFault, testing::ValuesIn(tokenizer_faults()),
                         planted_name);
INSTANTIATE_TEST_SUITE_P(Template, PlantedFault, testing::ValuesIn(template_faults()),
                         planted_name);
INSTANTIATE_TEST_SUITE_P(Tensors, PlantedFault, testing::ValuesIn(tensor_faults()), planted_name);

TEST(Doctor, FindsNoFaultInTheDemoModel) {
  const std::vector<Finding> faults = faults_of(test::kDemoModel);
  EXPECT_TRUE(faults.empty()) << describe(faults);
}

TEST(Doctor, ReportsAFileThatIsCut) {
  const test::TempFolder folder;
  const auto cut = folder.path() / "cut.gguf";
  std::filesystem::copy_file(test::kDemoModel, cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(test::kDemoModel) - 1000);
  const std::vector<Finding> faults = faults_of(cut);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].check, "file");
}

TEST(Doctor, ExitStatusTellsWhetherThereWereFaults) {
  std::ostringstream out;
  EXPECT_EQ(run_doctor({test::kDemoModel}, out), 0);
  EXPECT_NE(out.str().find("no faults\n"), std::string::npos);
  const test::TempFolder folder;
  std::ofstream(folder.path() / "bad.gguf") << "no model";
  std::ostringstream bad;
  EXPECT_EQ(run_doctor({folder.path() / "bad.gguf"}, bad), 1);
  EXPECT_NE(bad.str().find("1 fault\n"), std::string::npos);
}

TEST(Doctor, SaysThatThereIsNoSuchFile) {
  std::ostringstream out;
  EXPECT_THROW(run_doctor({"/nonexistent.gguf"}, out), Error);
}

TEST(Doctor, ExaminesTheMachineWithoutAFile) {
  const std::vector<Finding> findings = examine_machine();
  for (const char* check : {"instruction set", "cores", "cgroup quota", "huge pages", "memory"}) {
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.check == check;
    })) << check;
  }
}

}  // namespace
}  // namespace smol::app

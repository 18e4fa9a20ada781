// Hand-made broken files: each is refused with one line that names the thing, what was expected and
// what was found.
#include <algorithm>
#include <functional>
#include <limits>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "gguf/file.h"
#include "support/raw_gguf.h"

namespace smol::gguf {
namespace {

using test::raw;
using test::raw_array;
using test::raw_pair;
using test::raw_string;
using test::raw_tensor;
using test::RawGguf;

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

// Two F32 tensors [2, 4] and [8] in 64 bytes, three keys.
RawGguf sound_file() {
  RawGguf file;
  file.pairs = {raw_pair("general.architecture", 8, raw_string("llama")),
                raw_pair("llama.block_count", 4, raw(std::uint32_t{1})),
                raw_array("a.list", 4, 2, raw(std::uint32_t{1}) + raw(std::uint32_t{2}))};
  file.tensors = {raw_tensor("matrix", {4, 2}, 0, 0), raw_tensor("vector", {8}, 0, 32)};
  file.data = std::string(64, 'x');
  return file;
}

File parse_broken(const std::string& bytes) {
  return File::parse(std::as_bytes(std::span(bytes)), "broken.gguf");
}

struct Broken {
  const char* name;
  std::function<void(RawGguf&)> damage;
  std::string found_in_message;  // the thing and the value found
};

std::ostream& operator<<(std::ostream& out, const Broken& broken) {
  return out << broken.name;
}

class BrokenFile : public testing::TestWithParam<Broken> {};

TEST_P(BrokenFile, IsRefusedWithOneLineThatNamesTheThing) {
  RawGguf file = sound_file();
  GetParam().damage(file);
  const std::string bytes = file.bytes();
  try {
    parse_broken(bytes);
    FAIL() << "accepted";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.rfind("broken.gguf: ", 0), 0U) << message;
    EXPECT_NE(message.find(GetParam().found_in_message), std::string::npos) << message;
    EXPECT_NE(message.find("expected "), std::string::npos) << message;
    EXPECT_NE(message.find("found "), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

std::vector<Broken> header_faults() {
  return {
      {"Magic", [](RawGguf& f) { f.magic = "GGML"; }, "magic: expected \"GGUF\", found \"GGML\""},
      {"MagicWithControls", [](RawGguf& f) { f.magic = "G\x1B[m"; }, "found \"G\\x1b[m\""},
      {"VersionZero", [](RawGguf& f) { f.version = 0; }, "version: expected 2 or 3, found 0"},
      {"VersionOne", [](RawGguf& f) { f.version = 1; }, "version: expected 2 or 3, found 1"},
      {"VersionFour", [](RawGguf& f) { f.version = 4; }, "version: expected 2 or 3, found 4"},
      {"BigEndian", [](RawGguf& f) { f.version = 0x03000000; }, "found 3 in a big-endian file"},
      {"TensorCountHuge", [](RawGguf& f) { f.n_tensors = kHuge; }, "tensor count: "},
      {"TensorCountOneTooMany", [](RawGguf& f) { f.n_tensors = 3; }, "of tensor 2: "},
      {"PairCountHuge", [](RawGguf& f) { f.n_pairs = kHuge / 2; }, "metadata count: "},
      {"PairCountOneTooMany", [](RawGguf& f) { f.n_pairs = 4; }, ""},
      {"PairCountOneTooFew", [](RawGguf& f) { f.n_pairs = 2; }, ""},
  };
}

std::vector<Broken> metadata_faults() {
  const auto replace = [](std::string pair) {
    return [pair = std::move(pair)](RawGguf& f) { f.pairs[1] = pair; };
  };
  const std::string one = raw(std::uint32_t{1});
  return {
      {"KeyEmpty", replace(raw_pair("", 4, one)), "metadata key 1: expected 1 to 65535 bytes"},
      {"KeyTooLong", replace(raw_pair(std::string(65536, 'k'), 4, one)), "found 65536"},
      {"KeyLengthPastTheFile", replace(raw(kHuge) + "abc"), "metadata key 1: "},
      {"KeyTwice", replace(raw_pair("general.architecture", 4, one)),
       "\"general.architecture\" again"},
      {"ValueTypeUnknown", replace(raw_pair("k", 13, one)), "k: value type: "},
      {"ValueTypeHuge", replace(raw_pair("k", 0xFFFFFFFF, one)), "found 4294967295"},
      {"BoolTwo", replace(raw_pair("flag", 7, std::string(1, '\2'))), "flag: expected a bool"},
      {"StringPastTheFile", replace(raw_pair("text", 8, raw(std::uint64_t{1} << 40U))),
       "text: expected a string of at most "},
      {"StringLengthOverflows", replace(raw_pair("text", 8, raw(kHuge))),
       "length 18446744073709551615"},
      {"ArrayElementTypeUnknown", replace(raw_array("list", 99, 1, one)), "list: element type: "},
      {"ArrayOfArrays", replace(raw_array("list", 9, 1, one)), "found an array of arrays"},
      {"ArrayLengthHuge", replace(raw_array("list", 4, kHuge, one)), "list: array length: "},
      {"ArrayLengthOverflowsBytes", replace(raw_array("list", 10, kHuge / 8 + 2, one)),
       "list: array length: "},
      {"ArrayOfStringsHuge", replace(raw_array("list", 8, std::uint64_t{1} << 33U, one)),
       "list: array length: "},
      {"ArrayStringPastTheFile", replace(raw_array("list", 8, 1, raw(kHuge - 3))),
       "list: array elements: "},
      {"ArrayBoolThree", replace(raw_array("flags", 7, 1, std::string(1, '\3'))),
       "flags: array elements: expected a bool"},
      {"KeyWithControlsIsEscaped", replace(raw_pair("a\nb", 77, one)), "a\\nb: value type: "},
      {"AlignmentZero", replace(raw_pair("general.alignment", 4, raw(std::uint32_t{0}))),
       "general.alignment: expected a multiple of 8 from 8 to 2^32, found 0"},
      {"AlignmentOdd", replace(raw_pair("general.alignment", 4, raw(std::uint32_t{12}))),
       "found 12"},
      {"AlignmentNegative", replace(raw_pair("general.alignment", 5, raw(std::int32_t{-32}))),
       "found i32 -32"},
      {"AlignmentString", replace(raw_pair("general.alignment", 8, raw_string("32"))),
       "found string \"32\""},
      {"AlignmentPastTheFile",
       replace(raw_pair("general.alignment", 4, raw(std::uint32_t{1} << 20U))), "vector"},
  };
}

std::vector<Broken> tensor_faults() {
  const auto replace = [](std::string tensor) {
    return [tensor = std::move(tensor)](RawGguf& f) { f.tensors[1] = tensor; };
  };
  return {
      {"NameEmpty", replace(raw_tensor("", {8}, 0, 32)), "name of tensor 1: expected 1 to 64"},
      {"NameTooLong", replace(raw_tensor(std::string(65, 'n'), {8}, 0, 32)), "found 65"},
      {"NameTwice", replace(raw_tensor("matrix", {8}, 0, 32)),
       "tensor \"matrix\": expected a name"},
      {"NoAxes", replace(raw_tensor("vector", {}, 0, 32)), "axis count: expected 1 to 4, found 0"},
      {"FiveAxes", replace(raw_tensor("vector", {1, 1, 1, 1, 8}, 0, 32)), "found 5"},
      {"AxisZero", replace(raw_tensor("vector", {8, 0}, 0, 32)), "axis 1: expected at least 1"},
      {"ShapeOverflows", replace(raw_tensor("vector", {kHuge, kHuge}, 0, 32)), "an overflow"},
      {"ShapeOverflowsToSmall",
       replace(raw_tensor("vector", {std::uint64_t{1} << 32U, std::uint64_t{1} << 32U}, 0, 32)),
       "an overflow"},
      {"RowBytesOverflow", replace(raw_tensor("vector", {kHuge / 2}, 0, 32)), "an overflow"},
      {"TypeUnknown", replace(raw_tensor("vector", {8}, 99, 32)), "found type id 99"},
      {"TypeRemoved", replace(raw_tensor("vector", {8}, 4, 32)), "found type id 4"},
      {"RowNoWholeBlocks", replace(raw_tensor("vector", {33}, 8, 32)),
       "row length: expected a multiple of 32 for Q8_0, found 33"},
      {"RowNoWholeSuperBlocks", replace(raw_tensor("vector", {128, 2}, 12, 32)),
       "row length: expected a multiple of 256 for Q4_K, found 128"},
      {"OffsetUnaligned", replace(raw_tensor("vector", {7}, 0, 36)),
       "offset: expected a multiple of the alignment 32, found 36"},
      {"OffsetPastTheFile", replace(raw_tensor("vector", {8}, 0, 96)), "at offset 96"},
      {"OffsetOverflows", replace(raw_tensor("vector", {8}, 0, kHuge - 31)),
       "at offset 18446744073709551584"},
      {"DataPastTheFile", replace(raw_tensor("vector", {9}, 0, 32)), "36 bytes at offset 32"},
      {"Overlap", replace(raw_tensor("vector", {8}, 0, 0)), "no overlap with tensor \"matrix\""},
      {"PartialOverlap",
       [](RawGguf& f) {
         f.tensors = {raw_tensor("a", {16}, 0, 0), raw_tensor("b", {8}, 0, 32)};
       },
       "tensor \"b\": data: expected no overlap with tensor \"a\" (bytes 0 to 64)"},
      {"NoData", [](RawGguf& f) { f.data.clear(); }, "the file's 0 bytes of data"},
  };
}

std::string broken_name(const testing::TestParamInfo<Broken>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Header, BrokenFile, testing::ValuesIn(header_faults()), broken_name);
INSTANTIATE_TEST_SUITE_P(Metadata, BrokenFile, testing::ValuesIn(metadata_faults()), broken_name);
INSTANTIATE_TEST_SUITE_P(Tensors, BrokenFile, testing::ValuesIn(tensor_faults()), broken_name);

TEST(GgufFile, AcceptsTheFileThatTheBrokenOnesAreMadeFrom) {
  const std::string bytes = sound_file().bytes();
  const File file = parse_broken(bytes);
  EXPECT_EQ(file.tensor("matrix").shape, (std::vector<std::size_t>{2, 4}));
  EXPECT_EQ(file.tensor("vector").bytes.size(), 32U);
}

TEST(GgufFile, RefusesEveryTruncation) {
  const std::string bytes = sound_file().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    EXPECT_THROW(parse_broken(cut), Error) << size;
  }
}

TEST(GgufFile, NeverCrashesOnAFileWithOneByteChanged) {
  const std::string bytes = sound_file().bytes();
  std::size_t refused = 0;
  for (std::size_t at = 0; at + sound_file().data.size() < bytes.size(); ++at) {
    for (const unsigned change : {0x01U, 0x80U, 0xFFU}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ change);
      try {
        parse_broken(changed);
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, bytes.size());
}

}  // namespace
}  // namespace smol::gguf

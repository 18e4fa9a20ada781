// dequant: one block in hexadecimal -> float32 values, within the record's absolute tolerance.
#include <cmath>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "conformance/conformance.h"
#include "gguf/dequantize.h"

namespace smol::conformance {
namespace {

unsigned hex_digit(char digit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::size_t value = kDigits.find(digit);
  if (value == std::string_view::npos) {
    throw Error(ErrorCode::BadInput, "hexadecimal digit expected, found " + std::string(1, digit));
  }
  return static_cast<unsigned>(value);
}

std::vector<std::byte> block_from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(hex_digit(text[i]) << 4U | hex_digit(text[i + 1])));
  }
  return bytes;
}

std::vector<float> floats_from_hex(const std::string& text) {
  const std::vector<std::byte> bytes = block_from_hex(text);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

void compare(const std::vector<float>& expected, const std::vector<float>& got, double tolerance,
             const std::string& id, Report& report) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference =
        std::abs(static_cast<double>(expected[i]) - static_cast<double>(got[i]));
    if (!(difference <= tolerance)) {
      const std::string place = " at element " + std::to_string(i);
      report.fail(id, std::to_string(expected[i]) + place, std::to_string(got[i]));
      return;
    }
  }
  report.pass();
}

}  // namespace

void run_dequant(const Options& options, Report& report) {
  for_each_record(options.cases, report, [&](const Json& record, const std::string& id) {
    const auto type_id = record.at("type_id").get<std::uint32_t>();
    const auto dtype = gguf::dtype_from_id(type_id);
    if (!dtype || gguf::traits(*dtype).name != record.at("type").get<std::string>()) {
      report.fail(id, record.at("type").get<std::string>(), "type id " + std::to_string(type_id));
      return;
    }
    const std::vector<float> expected = floats_from_hex(record.at("f32").get<std::string>());
    if (expected.size() != record.at("n").get<std::size_t>()) {
      throw Error(ErrorCode::BadInput, "n and f32 disagree");
    }
    std::vector<float> got(expected.size());
    gguf::dequantize(*dtype, block_from_hex(record.at("block").get<std::string>()), got);
    compare(expected, got, record.at("atol").get<double>(), id, report);
  });
}

}  // namespace smol::conformance

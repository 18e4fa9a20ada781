#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/doctor_checks.h"
#include "gguf/dequantize.h"
#include "gguf/printable.h"

namespace smol::app {
namespace {

using gguf::TensorView;

constexpr std::size_t kSampledRows = 256;
// Trained weights stay far below; a value above comes from broken scales.
constexpr float kAbsurd = 1e4F;
constexpr std::string_view kGetAgain =
    "the file is damaged: download it again and compare its SHA-256";

struct Sample {
  bool is_finite = true;
  float largest = 0.0F;
};

// Rows spread over the tensor, all of them where there are few.
Sample sample_rows(const TensorView& tensor) {
  const std::size_t n_rows = tensor.n_rows();
  const std::size_t count = std::min(n_rows, kSampledRows);
  std::vector<float> values(tensor.n_cols());
  Sample sample;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = i * n_rows / count;
    gguf::dequantize(tensor.dtype,
                     tensor.bytes.subspan(row * tensor.row_bytes(), tensor.row_bytes()), values);
    for (const float value : values) {
      sample.is_finite = sample.is_finite && std::isfinite(value);
      sample.largest = std::max(sample.largest, std::abs(value));
    }
  }
  return sample;
}

std::string complaint(const TensorView& tensor) {
  const Sample sample = sample_rows(tensor);
  const std::string name = gguf::printable(tensor.name);
  if (!sample.is_finite) {
    return name + ": expected finite values, found NaN or infinity";
  }
  if (sample.largest == 0.0F) {
    return name + ": expected trained values, found only zeros";
  }
  if (sample.largest > kAbsurd) {
    return fmt::format("{}: expected values below {}, found {}", name, kAbsurd, sample.largest);
  }
  return {};
}

}  // namespace

void check_tensors(const gguf::File& file, const model::Weights& weights, Findings& findings) {
  std::size_t n_bad = 0;
  for (const TensorView& tensor : file.tensors()) {
    const std::string message = complaint(tensor);
    if (!message.empty()) {
      ++n_bad;
      findings.fault("tensor values", message, std::string(kGetAgain));
    }
  }
  if (n_bad == 0) {
    findings.good("tensor values", fmt::format("{} tensors, {} bytes: finite and of usual size",
                                               file.tensors().size(), file.size_bytes()));
  }
  for (const std::string& name : weights.unused()) {
    findings.note("unused tensor", gguf::printable(name) + " takes no part in the model");
  }
}

}  // namespace smol::app

#include "app/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "app/output_rules.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "gguf/dequantize.h"
#include "gguf/file.h"
#include "gguf/printable.h"
#include "gguf/quantize.h"
#include "gguf/quantize_mix.h"
#include "gguf/writer.h"

namespace smol::app {
namespace {

using gguf::DType;
using gguf::Metadata;
using gguf::TensorSpec;
using gguf::TensorView;

// A slice of rows is read, converted and written at a time: memory stays small whatever the
// tensor's size.
constexpr std::size_t kSliceElements = std::size_t{1} << 22U;
constexpr std::uint32_t kQuantizationVersion = 2;  // of ggml's block layouts

bool is_float(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

void refuse_quantized(const gguf::File& file) {
  for (const TensorView& tensor : file.tensors()) {
    if (!is_float(tensor.dtype)) {
      throw Error(ErrorCode::Unsupported,
                  std::string(file.name()) + ": tensor \"" + gguf::printable(tensor.name) +
                      "\": expected F32, F16 or BF16, found " +
                      std::string(gguf::traits(tensor.dtype).name) +
                      " (quantizing twice loses accuracy: start from the original file)");
    }
  }
}

std::size_t layer_count(const Metadata& metadata) {
  const auto architecture = metadata.string("general.architecture");
  const std::string key = std::string(architecture.value_or("")) + ".block_count";
  return metadata.unsigned_integer(key).value_or(0);
}

void set_entry(std::vector<Metadata::Entry>& entries, std::string_view key, std::uint32_t value) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Metadata::Entry& entry) { return entry.first == key; });
  if (found != entries.end()) {
    found->second = value;
  } else {
    entries.emplace_back(key, value);
  }
}

std::vector<Metadata::Entry> new_metadata(const Metadata& metadata, gguf::QuantizeType type) {
  std::vector<Metadata::Entry> entries(metadata.entries().begin(), metadata.entries().end());
  set_entry(entries, "general.file_type", gguf::file_type_id(type));
  set_entry(entries, "general.quantization_version", kQuantizationVersion);
  return entries;
}

// Converts slices of one tensor's rows. Keeps its buffers from slice to slice.
class RowConverter {
 public:
  RowConverter(const TensorView& from, DType to, std::string_view file_name, ThreadPool& pool)
      : from_(from), to_(to), file_name_(file_name), pool_(pool) {}

  // Blocks of rows [first, first + count).
  std::span<const std::byte> convert(std::size_t first, std::size_t count) {
    const std::span<const std::byte> rows =
        from_.bytes.subspan(first * from_.row_bytes(), count * from_.row_bytes());
    if (to_ == from_.dtype) {
      return rows;
    }
    const std::size_t n_cols = from_.n_cols();
    const gguf::DTypeTraits& type = gguf::traits(to_);
    const std::size_t row_bytes = n_cols / type.block_elements * type.block_bytes;
    values_.resize(count * n_cols);
    blocks_.resize(count * row_bytes);
    finite_.assign(count, 1);
    pool_.for_each(count, [&](std::size_t row) {
      const std::span<float> values = std::span(values_).subspan(row * n_cols, n_cols);
      gguf::dequantize(from_.dtype, rows.subspan(row * from_.row_bytes(), from_.row_bytes()),
                       values);
      finite_[row] = std::all_of(values.begin(), values.end(),
                                 [](float value) { return std::isfinite(value); })
                         ? 1
                         : 0;
      convert_row(values, std::span(blocks_).subspan(row * row_bytes, row_bytes));
    });
    check_finite(first);
    return blocks_;
  }

 private:
  void convert_row(std::span<const float> values, std::span<std::byte> blocks) const {
    if (to_ == DType::F32) {
      std::memcpy(blocks.data(), values.data(), blocks.size());
    } else {
      gguf::quantize(to_, values, blocks);
    }
  }

  void check_finite(std::size_t first) const {
    const auto bad = std::find(finite_.begin(), finite_.end(), 0);
    if (bad != finite_.end()) {
      throw Error(ErrorCode::BadInput,
                  std::string(file_name_) + ": tensor \"" + gguf::printable(from_.name) +
                      "\": expected finite values, found an infinity or NaN in row " +
                      std::to_string(first + static_cast<std::size_t>(bad - finite_.begin())));
    }
  }

  const TensorView& from_;
  DType to_;
  std::string_view file_name_;
  ThreadPool& pool_;
  std::vector<float> values_;
  std::vector<std::byte> blocks_;
  std::vector<std::uint8_t> finite_;  // per row; not bool: rows are written by several threads
};

struct TensorPlan {
  std::vector<TensorSpec> tensors;
  std::vector<std::size_t> fell_back;  // indices of tensors
};

TensorPlan make_plan(const gguf::File& file, gguf::QuantizeType type) {
  const std::size_t n_layers = layer_count(file.metadata());
  TensorPlan plan;
  for (const TensorView& tensor : file.tensors()) {
    const gguf::TypeChoice choice = gguf::choose_type(type, tensor, n_layers);
    if (choice.fell_back) {
      plan.fell_back.push_back(plan.tensors.size());
    }
    plan.tensors.push_back({std::string(tensor.name), choice.dtype, tensor.shape});
  }
  return plan;
}

void write_tensors(const gguf::File& file, const TensorPlan& plan, gguf::Writer& writer,
                   ThreadPool& pool, const QuantizeProgress& progress) {
  std::uint64_t total = 0;
  for (const TensorView& tensor : file.tensors()) {
    total += tensor.bytes.size();
  }
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const TensorView& tensor = file.tensors()[i];
    RowConverter converter(tensor, plan.tensors[i].dtype, file.name(), pool);
    const std::size_t slice = std::max<std::size_t>(1, kSliceElements / tensor.n_cols());
    for (std::size_t row = 0; row < tensor.n_rows(); row += slice) {
      const std::size_t count = std::min(slice, tensor.n_rows() - row);
      writer.append(converter.convert(row, count));
      done += count * tensor.row_bytes();
      if (progress) {
        progress(done, total);
      }
    }
  }
}

void report(const gguf::File& file, const TensorPlan& plan, const QuantizeOptions& options,
            std::ostream& out) {
  std::map<std::string_view, std::size_t> counts;
  for (const TensorSpec& tensor : plan.tensors) {
    ++counts[gguf::traits(tensor.dtype).name];
  }
  for (const std::size_t index : plan.fell_back) {
    const TensorSpec& tensor = plan.tensors[index];
    out << gguf::printable(tensor.name) << ": rows of " << tensor.shape.back()
        << " are no multiple of the block, so it is " << gguf::traits(tensor.dtype).name << "\n";
  }
  out << options.output.string() << ": " << plan.tensors.size() << " tensors (";
  std::string_view separator;
  for (const auto& [name, count] : counts) {
    out << separator << count << " " << name;
    separator = ", ";
  }
  out << "), " << file.size_bytes() << " -> " << std::filesystem::file_size(options.output)
      << " bytes\n";
}

}  // namespace

gguf::QuantizeType parse_quantize_type(std::string_view what, const std::string& name) {
  const std::optional<gguf::QuantizeType> type = gguf::quantize_type_from_name(name);
  if (!type) {
    throw Error(ErrorCode::BadInput, std::string(what) + ": expected one of " +
                                         gguf::quantize_type_names() + ", found \"" +
                                         gguf::printable(name) + "\"");
  }
  return *type;
}

int run_quantize(const QuantizeOptions& options, std::ostream& out,
                 const QuantizeProgress& progress) {
  const gguf::QuantizeType type = parse_quantize_type("--type", options.type);
  const OutputRules rules = output_rules(options.output, options.force, {options.input});
  const gguf::File file = gguf::File::open(options.input);
  refuse_quantized(file);
  const TensorPlan plan = make_plan(file, type);
  ThreadPool pool(options.n_threads);
  gguf::Writer writer(options.output, new_metadata(file.metadata(), type), plan.tensors, rules);
  write_tensors(file, plan, writer, pool, progress);
  writer.finish();
  report(file, plan, options, out);
  return 0;
}

}  // namespace smol::app

#include "gguf/read_tensors.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"
#include "gguf/printable.h"

namespace smol::gguf {
namespace {

constexpr std::size_t kMaxAxes = 4;
constexpr std::size_t kMaxNameBytes = 64;  // the specification's limit

std::string label(std::string_view tensor_name) {
  return "tensor \"" + printable(tensor_name) + "\"";
}

std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::optional(product);
}

std::string_view read_name(Cursor& cursor, std::size_t index) {
  const std::string what = "name of tensor " + std::to_string(index);
  const std::string_view name = cursor.read_string(what);
  if (name.empty() || name.size() > kMaxNameBytes) {
    cursor.fail(what, "1 to " + std::to_string(kMaxNameBytes) + " bytes",
                std::to_string(name.size()));
  }
  return name;
}

// Row-major: the file stores the contiguous axis first.
std::vector<std::size_t> read_shape(Cursor& cursor, const std::string& tensor) {
  const auto n_axes = cursor.read<std::uint32_t>(tensor + ": axis count");
  if (n_axes == 0 || n_axes > kMaxAxes) {
    cursor.fail(tensor + ": axis count", "1 to 4", std::to_string(n_axes));
  }
  std::vector<std::size_t> shape(n_axes);
  for (std::size_t axis = 0; axis < n_axes; ++axis) {
    const std::string what = tensor + ": axis " + std::to_string(axis);
    const auto length = cursor.read<std::uint64_t>(what);
    if (length == 0) {
      cursor.fail(what, "at least 1 element", "0");
    }
    shape[n_axes - 1 - axis] = length;
  }
  return shape;
}

DType read_dtype(Cursor& cursor, std::string_view file_and_tensor, const std::string& tensor) {
  const auto id = cursor.read<std::uint32_t>(tensor + ": type");
  const std::optional<DType> dtype = dtype_from_id(id);
  if (!dtype) {
    std::string known;
    for (const DTypeTraits& type : all_dtypes()) {
      known += (known.empty() ? "" : ", ") + std::string(type.name);
    }
    throw Error(ErrorCode::Unsupported, std::string(file_and_tensor) + ": type: expected one of " +
                                            known + ", found type id " + std::to_string(id));
  }
  return *dtype;
}

std::uint64_t checked_size(const Cursor& cursor, const TensorInfo& info) {
  const DTypeTraits& type = traits(info.dtype);
  const std::size_t n_cols = info.shape.back();
  if (n_cols % type.block_elements != 0) {
    cursor.fail(
        label(info.name) + ": row length",
        "a multiple of " + std::to_string(type.block_elements) + " for " + std::string(type.name),
        std::to_string(n_cols));
  }
  std::optional<std::uint64_t> size = multiply(n_cols / type.block_elements, type.block_bytes);
  for (std::size_t axis = 0; size && axis + 1 < info.shape.size(); ++axis) {
    size = multiply(*size, info.shape[axis]);
  }
  if (!size) {
    cursor.fail(label(info.name) + ": shape", "a size below 2^64 bytes", "an overflow");
  }
  return *size;
}

std::string range_text(const TensorInfo& info) {
  return "bytes " + std::to_string(info.offset) + " to " +
         std::to_string(info.offset + info.size_bytes);
}

void check_inside(const Cursor& cursor, const TensorInfo& info, std::size_t data_bytes) {
  if (info.offset > data_bytes || info.size_bytes > data_bytes - info.offset) {
    cursor.fail(
        label(info.name) + ": data",
        "an end within the file's " + std::to_string(data_bytes) + " bytes of data",
        std::to_string(info.size_bytes) + " bytes at offset " + std::to_string(info.offset));
  }
}

void check_overlaps(const Cursor& cursor, std::span<const TensorInfo> infos) {
  std::vector<std::size_t> order(infos.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return infos[a].offset < infos[b].offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const TensorInfo& before = infos[order[i - 1]];
    const TensorInfo& after = infos[order[i]];
    if (after.offset < before.offset + before.size_bytes) {
      cursor.fail(label(after.name) + ": data",
                  "no overlap with " + label(before.name) + " (" + range_text(before) + ")",
                  range_text(after));
    }
  }
}

}  // namespace

std::vector<TensorInfo> read_tensor_infos(Cursor& cursor, std::size_t count,
                                          std::uint64_t alignment) {
  std::vector<TensorInfo> infos;
  for (std::size_t i = 0; i < count; ++i) {
    TensorInfo info{};
    info.name = read_name(cursor, i);
    const std::string tensor = label(info.name);
    info.shape = read_shape(cursor, tensor);
    info.dtype = read_dtype(cursor, cursor.file_name() + ": " + tensor, tensor);
    info.size_bytes = checked_size(cursor, info);
    info.offset = cursor.read<std::uint64_t>(tensor + ": offset");
    if (info.offset % alignment != 0) {
      cursor.fail(tensor + ": offset", "a multiple of the alignment " + std::to_string(alignment),
                  std::to_string(info.offset));
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

std::vector<std::size_t> index_by_name(const Cursor& cursor, std::span<const TensorInfo> infos) {
  std::vector<std::size_t> order(infos.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto by_name = [&](std::size_t a, std::size_t b) { return infos[a].name < infos[b].name; };
  std::sort(order.begin(), order.end(), by_name);
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (infos[order[i]].name == infos[order[i - 1]].name) {
      cursor.fail(label(infos[order[i]].name), "a name that occurs once", "it twice");
    }
  }
  return order;
}

std::vector<TensorView> place_tensors(const Cursor& cursor, std::span<TensorInfo> infos,
                                      std::span<const std::byte> data) {
  for (const TensorInfo& info : infos) {
    check_inside(cursor, info, data.size());
  }
  check_overlaps(cursor, infos);
  std::vector<TensorView> views;
  views.reserve(infos.size());
  for (TensorInfo& info : infos) {
    views.push_back(
        {info.name, info.dtype, std::move(info.shape), data.subspan(info.offset, info.size_bytes)});
  }
  return views;
}

}  // namespace smol::gguf

// A model file taken apart, to be changed and written again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gguf/file.h"
#include "gguf/writer.h"

namespace smol::test {

inline constexpr std::string_view kTokenTypes = "tokenizer.ggml.token_type";
inline constexpr std::string_view kMerges = "tokenizer.ggml.merges";

class ModelCopy {
 public:
  struct Tensor {
    gguf::TensorSpec spec;
    std::vector<std::byte> bytes;
  };

  explicit ModelCopy(const std::filesystem::path& path) : file_(gguf::File::open(path)) {
    entries_.assign(file_.metadata().entries().begin(), file_.metadata().entries().end());
    for (const gguf::TensorView& tensor : file_.tensors()) {
      tensors_.push_back({{std::string(tensor.name), tensor.dtype, tensor.shape},
                          {tensor.bytes.begin(), tensor.bytes.end()}});
    }
  }

  // Strings in `value` must outlive the copy; those of the file do.
  void set(std::string_view key, gguf::MetadataValue value) {
    const auto found = find(key);
    if (found == entries_.end()) {
      entries_.emplace_back(key, std::move(value));
    } else {
      found->second = std::move(value);
    }
  }

  void remove(std::string_view key) { entries_.erase(find(key)); }

  template <typename T>
  T& value(std::string_view key) {
    return std::get<T>(find(key)->second);
  }

  template <typename T>
  std::vector<T>& array(std::string_view key) {
    return std::get<std::vector<T>>(value<gguf::Array>(key));
  }

  std::vector<Tensor>& tensors() { return tensors_; }

  Tensor& tensor(std::string_view name) {
    const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                    [&](const Tensor& tensor) { return tensor.spec.name == name; });
    if (found == tensors_.end()) {
      throw std::runtime_error("no tensor " + std::string(name));
    }
    return *found;
  }

  void remove_tensor(std::string_view name) {
    std::erase_if(tensors_, [&](const Tensor& tensor) { return tensor.spec.name == name; });
  }

  void write(const std::filesystem::path& path) const {
    std::vector<gguf::TensorSpec> specs;
    for (const Tensor& tensor : tensors_) {
      specs.push_back(tensor.spec);
    }
    gguf::Writer writer(path, entries_, specs);
    for (const Tensor& tensor : tensors_) {
      writer.append(tensor.bytes);
    }
    writer.finish();
  }

 private:
  std::vector<gguf::Metadata::Entry>::iterator find(std::string_view key) {
    return std::find_if(entries_.begin(), entries_.end(),
                        [&](const gguf::Metadata::Entry& entry) { return entry.first == key; });
  }

  gguf::File file_;
  std::vector<gguf::Metadata::Entry> entries_;
  std::vector<Tensor> tensors_;
};

}  // namespace smol::test

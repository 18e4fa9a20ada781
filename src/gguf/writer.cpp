#include "gguf/writer.h"

#include <utility>

#include "base/check.h"
#include "gguf/alignment.h"

namespace smol::gguf {

Writer::Writer(std::filesystem::path path, std::span<const Metadata::Entry> metadata,
               std::vector<TensorSpec> tensors, OutputRules rules)
    : out_(std::move(path), rules),
      tensors_(std::move(tensors)),
      alignment_(alignment_of(Metadata({metadata.begin(), metadata.end()}))) {
  out_.write(serialize_header(metadata, tensors_));
}

void Writer::append(std::span<const std::byte> bytes) {
  SMOL_CHECK(current_ < tensors_.size());
  const std::uint64_t size = tensors_[current_].size_bytes();
  SMOL_CHECK(bytes.size() <= size - current_written_);
  out_.write(bytes);
  current_written_ += bytes.size();
  if (current_written_ == size) {
    out_.write(std::vector<std::byte>(padding_after(size, alignment_)));
    ++current_;
    current_written_ = 0;
  }
}

void Writer::finish() {
  SMOL_CHECK(current_ == tensors_.size());
  out_.finish();
}

}  // namespace smol::gguf

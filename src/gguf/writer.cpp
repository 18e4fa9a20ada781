#include "gguf/writer.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "gguf/alignment.h"

namespace smol::gguf {
namespace {

constexpr mode_t kFileMode = 0666;  // less the umask

}  // namespace

Writer::Writer(std::filesystem::path path, std::span<const Metadata::Entry> metadata,
               std::vector<TensorSpec> tensors)
    : path_(std::move(path)),
      part_path_(path_.string() + ".part"),
      tensors_(std::move(tensors)),
      alignment_(alignment_of(Metadata({metadata.begin(), metadata.end()}))) {
  descriptor_ = ::open(part_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode);
  if (descriptor_ < 0) {
    fail(errno);
  }
  try {
    write_all(serialize_header(metadata, tensors_));
  } catch (...) {
    ::close(descriptor_);
    ::unlink(part_path_.c_str());
    throw;
  }
}

Writer::~Writer() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    ::unlink(part_path_.c_str());
  }
}

void Writer::append(std::span<const std::byte> bytes) {
  SMOL_CHECK(current_ < tensors_.size());
  const std::uint64_t size = tensors_[current_].size_bytes();
  SMOL_CHECK(bytes.size() <= size - current_written_);
  write_all(bytes);
  current_written_ += bytes.size();
  if (current_written_ == size) {
    write_all(std::vector<std::byte>(padding_after(size, alignment_)));
    ++current_;
    current_written_ = 0;
  }
}

void Writer::finish() {
  SMOL_CHECK(current_ == tensors_.size());
  if (::fsync(descriptor_) != 0) {
    fail(errno);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0 ||
      std::rename(part_path_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(part_path_.c_str());
    fail(error);
  }
}

void Writer::write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      fail(errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

void Writer::fail(int error) const {
  throw Error(ErrorCode::Io, path_.string() + ": cannot be written: " + std::strerror(error));
}

}  // namespace smol::gguf

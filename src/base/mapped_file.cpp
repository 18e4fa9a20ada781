#include "base/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/error.h"

namespace smol {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}

  ~Descriptor() { ::close(fd_); }

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  const auto code = error == ENOENT || error == ENOTDIR ? ErrorCode::NotFound : ErrorCode::Io;
  throw Error(code, path.string() + ": " + std::strerror(error));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    fail(path, errno);
  }
  const Descriptor descriptor(fd);

  struct stat status {};

  if (::fstat(fd, &status) != 0) {
    fail(path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::BadInput, path.string() + ": expected a regular file");
  }
  if (status.st_size == 0) {
    return;  // mmap refuses empty mappings; an empty span says the same
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) {
    fail(path, errno);
  }
  bytes_ = {static_cast<const std::byte*>(data), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace smol

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

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  const auto code = error == ENOENT || error == ENOTDIR ? ErrorCode::NotFound : ErrorCode::Io;
  throw Error(code, path.string() + ": " + std::strerror(error));
}

}  // namespace

MappedFile::Descriptor::~Descriptor() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

MappedFile::MappedFile(const std::filesystem::path& path)
    : name_(path.string()),
      // A pipe is refused below, not waited for; files do not know the flag.
      descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  const int fd = descriptor_.get();
  if (fd < 0) {
    fail(path, errno);
  }

  struct stat status {};

  if (::fstat(fd, &status) != 0) {
    fail(path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::BadInput, path.string() + ": expected a regular file");
  }
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  modified_ns_ = status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec;
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

MappedFile::MappedFile(MappedFile&& other) noexcept
    : name_(std::move(other.name_)),
      descriptor_(std::move(other.descriptor_)),
      modified_ns_(other.modified_ns_),
      bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(modified_ns_, other.modified_ns_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void MappedFile::take_pages() const noexcept {
  constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  auto* data = const_cast<std::byte*>(bytes_.data());
  ::madvise(data, bytes_.size(), MADV_HUGEPAGE);  // refused: the page cache reads small ones
  // One byte maps a whole huge page, and takes few milliseconds of them all where there are none.
  for (std::size_t at = 0; at < bytes_.size(); at += kHugePage) {
    static_cast<void>(*static_cast<const volatile std::byte*>(data + at));
  }
}

void MappedFile::give_back_pages() const noexcept {
  ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

void MappedFile::read(std::size_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t count =
        ::pread(descriptor_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      fail(name_, errno);
    }
    if (count == 0) {
      throw Error(ErrorCode::Io, name_ + ": expected " + std::to_string(bytes_.size()) +
                                     " bytes, found an end at " + std::to_string(offset));
    }
    offset += static_cast<std::size_t>(count);
    out = out.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace smol

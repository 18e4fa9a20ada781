#include "base/output_file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/error.h"

namespace smol {
namespace {

namespace fs = std::filesystem;

constexpr std::array<int, 3> kEndingSignals{SIGINT, SIGTERM, SIGHUP};

// Constant initialization: no guard variable, so that a handler may touch it.
std::atomic<const char*>& removed_on_signal() noexcept {
  static std::atomic<const char*> path{nullptr};
  static_assert(std::atomic<const char*>::is_always_lock_free);
  return path;
}

void on_ending_signal(int signal) {
  if (const char* path = removed_on_signal().exchange(nullptr)) {
    ::unlink(path);
  }
  std::signal(signal, SIG_DFL);
  static_cast<void>(std::raise(signal));
}

// Handles the signals that would end the program; one that is ignored or caught stays so.
void remove_on_signal(const char* path) {
  const char* none = nullptr;
  if (!removed_on_signal().compare_exchange_strong(none, path)) {
    return;
  }
  for (const int signal : kEndingSignals) {
    const auto before = std::signal(signal, on_ending_signal);
    if (before != SIG_DFL) {
      std::signal(signal, before);
    }
  }
}

void keep_on_signal(const char* path) noexcept {
  if (!removed_on_signal().compare_exchange_strong(path, nullptr)) {
    return;
  }
  for (const int signal : kEndingSignals) {
    const auto before = std::signal(signal, SIG_DFL);
    if (before != on_ending_signal) {
      std::signal(signal, before);
    }
  }
}

constexpr std::string_view kPrefix = "smolbot-", kSuffix = ".part", kDigits = "0123456789abcdef";
constexpr std::size_t kNumberOfDigits = 16;

std::string random_name() {
  std::random_device random;
  std::string name(kPrefix);
  for (std::size_t i = 0; i < kNumberOfDigits; ++i) {
    name += kDigits[random() % kDigits.size()];
  }
  return name.append(kSuffix);
}

bool is_random_name(std::string_view name) noexcept {
  return name.size() == kPrefix.size() + kNumberOfDigits + kSuffix.size() &&
         name.starts_with(kPrefix) && name.ends_with(kSuffix) &&
         name.find_first_not_of(kDigits, kPrefix.size()) == name.size() - kSuffix.size();
}

// Whether the file system has no "rename unless there is one".
bool knows_no_such_rename(int error) {
  return error == EINVAL || error == ENOSYS || error == ENOTSUP;
}

}  // namespace

void check_output_path(const fs::path& path, const OutputRules& rules, std::string_view remedy) {
  if (path.filename().empty()) {
    throw Error(ErrorCode::BadInput,
                path.string() + ": expected the name of a file to write, found none");
  }
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (!fs::exists(status)) {
    return;
  }
  if (!fs::is_regular_file(status)) {
    throw Error(ErrorCode::BadInput, path.string() +
                                         ": expected no file there or a regular one, found " +
                                         (fs::is_directory(status) ? "a folder"
                                          : fs::is_symlink(status) ? "a symbolic link"
                                                                   : "a device or pipe"));
  }
  if (!rules.replace) {
    throw Error(ErrorCode::BadInput,
                path.string() + ": expected no file there" + std::string(remedy) + ", found one");
  }
}

void remove_unfinished_files(const fs::path& folder) noexcept {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    if (is_random_name(entry->path().filename().native()) &&
        fs::is_regular_file(entry->symlink_status(ignored))) {
      fs::remove(entry->path(), ignored);
    }
  }
}

OutputFile::OutputFile(fs::path path, OutputRules rules) : path_(std::move(path)), rules_(rules) {
  check_output_path(path_, rules_);
  open_temporary();
  remove_on_signal(temporary_.c_str());
}

OutputFile::~OutputFile() {
  discard();
}

// O_EXCL: a name that is taken, be it by a link, is never opened.
void OutputFile::open_temporary() {
  constexpr mode_t kShared = 0666;
  constexpr mode_t kPrivate = 0600;
  constexpr int kAttempts = 16;
  int error = EEXIST;
  for (int attempt = 0; attempt < kAttempts && error == EEXIST; ++attempt) {
    temporary_ = path_.parent_path() / random_name();
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         rules_.owner_only ? kPrivate : kShared);
    if (descriptor_ >= 0) {
      return;
    }
    error = errno;
  }
  fail(error);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      fail(errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

void OutputFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text)));
}

void OutputFile::flush() {
  if (::fdatasync(descriptor_) != 0) {
    fail(errno);
  }
}

void OutputFile::finish() {
  if (::fsync(descriptor_) != 0) {
    fail(errno);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    const int error = errno;
    discard();
    fail(error);
  }
  give_name();
  keep_on_signal(temporary_.c_str());
  temporary_.clear();
}

void OutputFile::give_name() {
  int status = 0;
  if (!rules_.replace) {
    status = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE);
  }
  if (rules_.replace || (status != 0 && knows_no_such_rename(errno))) {
    check_output_path(path_, rules_);
    status = std::rename(temporary_.c_str(), path_.c_str());
  }
  if (status != 0) {
    const int error = errno;
    check_output_path(path_, rules_);  // names what came there in the meantime
    fail(error);
  }
}

void OutputFile::discard() noexcept {
  if (descriptor_ >= 0) {
    ::close(std::exchange(descriptor_, -1));
  }
  if (!temporary_.empty()) {
    keep_on_signal(temporary_.c_str());
    ::unlink(temporary_.c_str());
    temporary_.clear();
  }
}

void OutputFile::fail(int error) const {
  throw Error(ErrorCode::Io, path_.string() + ": expected a file that can be written, found: " +
                                 std::strerror(error));
}

}  // namespace smol

#include "app/text_input.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "app/flags.h"
#include "base/error.h"

namespace smol::app {

namespace {

std::string read_all(int descriptor, const std::string& name, std::size_t most_bytes) {
  constexpr std::size_t kReadBytes = 65536;
  constexpr std::string_view kModelMagic = "GGUF";
  std::string text;
  std::array<char, kReadBytes> chunk{};
  while (true) {
    const ssize_t got = ::read(descriptor, chunk.data(), chunk.size());
    if (got == 0) {
      return text;
    }
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      throw Error{ErrorCode::Io,
                  fmt::format("{}: expected to read, found: {}", name, std::strerror(errno))};
    }
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.starts_with(kModelMagic)) {
      throw Error{ErrorCode::BadInput,
                  fmt::format("{}: expected a text, found a model file (GGUF)", name)};
    }
    if (text.size() > most_bytes) {
      throw Error{ErrorCode::BadInput,
                  fmt::format("{}: expected at most {} MiB, found more", name, most_bytes / kMiB)};
    }
  }
}

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

  ~OpenFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }

  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

std::string read_standard_input(std::size_t most_bytes) {
  return read_all(STDIN_FILENO, "standard input", most_bytes);
}

std::string read_text_file(const std::filesystem::path& path, std::string_view what,
                           std::size_t most_bytes) {
  const std::string name = fmt::format("{}: {}", what, path.string());
  const OpenFile file{existing_text(what, path.string())};
  if (file.descriptor() < 0) {
    throw Error{ErrorCode::Io, fmt::format("{}: expected a file that can be read, found: {}", name,
                                           std::strerror(errno))};
  }
  return read_all(file.descriptor(), name, most_bytes);
}

std::filesystem::path existing_text(std::string_view what, const std::string& text) {
  std::error_code ignored;
  return std::filesystem::is_fifo(text, ignored) ? std::filesystem::path(text)
                                                 : existing_file(what, text);
}

}  // namespace smol::app

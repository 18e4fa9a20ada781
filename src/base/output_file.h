// A file that is there whole or not at all: written under a name of its own beside PATH and renamed
// at the end. Nothing else is touched: no other process's file, no target of a link, no device.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace smol {

struct OutputRules {
  bool replace = false;     // an earlier regular file may stand there
  bool owner_only = false;  // mode 0600, else 0666 less the umask
};

// Throws what OutputFile throws for what stands under `path` now. `remedy` goes into the message
// for an earlier file: " (--force replaces it)".
void check_output_path(const std::filesystem::path& path, const OutputRules& rules,
                       std::string_view remedy = "");

// Removes what was being written in this folder when a program was killed. Nobody may be writing
// there. Throws nothing: what cannot be removed stays.
void remove_unfinished_files(const std::filesystem::path& folder) noexcept;

// One thread.
class OutputFile {
 public:
  // Throws Error{BadInput} for an earlier file unless it may be replaced, and for anything there
  // that is no regular file; Error{Io}, as do the other members, when it cannot be written.
  explicit OutputFile(std::filesystem::path path, OutputRules rules = {});
  // Removes what was written unless finish() was called; so do SIGINT, SIGTERM and SIGHUP where
  // they end the program (of several such files at a time, for the first).
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&&) = delete;
  OutputFile& operator=(OutputFile&&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  // What was written so far reaches the disk.
  void flush();
  // Flushes to the disk and gives the file its name.
  void finish();

 private:
  void open_temporary();
  void give_name();
  void discard() noexcept;
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_, temporary_;
  OutputRules rules_;
  int descriptor_ = -1;
};

}  // namespace smol

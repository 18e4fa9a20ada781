// Matrices of a model file into memory, in the order in which the kernels read them: piece by piece
// through a small buffer of each thread, so that no moment holds two copies; or from a panel file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/huge_page_arena.h"
#include "base/thread_pool.h"
#include "gguf/file.h"
#include "kernels/kernel_table.h"
#include "model/panel_file.h"

namespace smol::model {

enum class LoadSource : std::uint8_t {
  Model,   // packed from the model file
  Mapped,  // a panel file where it lies in the page cache
  Read     // a panel file, copied to huge pages since the page cache had it on small ones
};

// What loading took.
struct LoadReport {
  LoadSource source = LoadSource::Model;
  std::uint64_t bytes = 0;            // of all matrices
  std::uint64_t huge_page_bytes = 0;  // of them on huge pages
  double seconds = 0.0;               // without writing the panel file
  std::vector<std::string> warnings;  // why the panel file was not used, why it was not written
};

// All matrices, one after the other.
struct WeightMemory {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

class WeightLoader {
 public:
  // The file must outlive the loader.
  explicit WeightLoader(const gguf::File& file) : file_(file) {}

  // Gives the matrix [n_rows, n_cols] of a tensor its place; its `data` is set by load(), until
  // when `matrix` must stay where it is.
  void plan(const gguf::TensorView& tensor, kernels::Matrix& matrix);

  // Reads every planned tensor. Throws Error{Exhausted} if memory cannot be had, Error{Io} if the
  // file cannot be read. With `panel_file` (empty: none) from there; one that is missing or of no
  // use is written anew, and nothing about it is an error.
  WeightMemory load(ThreadPool& pool, const std::filesystem::path& panel_file = {});

  // Of the last load().
  [[nodiscard]] const LoadReport& report() const noexcept { return report_; }

 private:
  struct Entry {
    const gguf::TensorView* tensor;
    kernels::Matrix* matrix;
    std::size_t offset;  // in the arena
  };

  // A part of a tensor: bytes of the file, whole panels where its type has them.
  struct Piece {
    const Entry* entry;
    std::size_t begin, size;
  };

  [[nodiscard]] WeightMemory pack(ThreadPool& pool) const;
  [[nodiscard]] std::optional<WeightMemory> use(const std::filesystem::path& panel_file,
                                                ThreadPool& pool);
  void keep(const std::filesystem::path& panel_file, std::span<const std::byte> panels);
  [[nodiscard]] PanelOrigin origin() const;
  [[nodiscard]] std::vector<Piece> pieces() const;
  void fill(const Piece& piece, std::span<std::byte> arena, std::vector<std::byte>& buffer) const;

  const gguf::File& file_;
  std::vector<Entry> entries_;
  std::size_t size_bytes_ = 0;
  LoadReport report_;
};

}  // namespace smol::model

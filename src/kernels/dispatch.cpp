// The tables of this processor family, and the choice among them.
#include <array>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "kernels/tables.h"

namespace smol::kernels {
namespace {

const KernelTable* find_usable(std::string_view isa) noexcept {
  for (const KernelTable* table : compiled_kernels()) {
    if (table->isa == isa && table->runs_on_this_cpu()) {
      return table;
    }
  }
  return nullptr;
}

std::string usable_names() {
  std::string names;
  for (const KernelTable* table : compiled_kernels()) {
    if (table->runs_on_this_cpu()) {
      names += names.empty() ? "" : ", ";
      names += table->isa;
    }
  }
  return names;
}

const KernelTable& best_table() noexcept {
  for (const KernelTable* table : compiled_kernels()) {
    if (table->runs_on_this_cpu()) {
      return *table;
    }
  }
  return scalar_table();
}

}  // namespace

ActivationFormat activation_format(gguf::DType weights) noexcept {
  switch (gguf::traits(weights).block_elements) {
    case 32:
      return ActivationFormat::Q8x32;
    case 256:
      return ActivationFormat::Q8x256;
    default:
      return ActivationFormat::F32;
  }
}

std::span<const KernelTable* const> compiled_kernels() noexcept {
#if defined(__x86_64__)
  static const std::array kTables{&amx_table(), &avx512_table(), &avxvnni_table(), &avx2_table(),
                                  &scalar_table()};
#elif defined(__aarch64__)
  static const std::array kTables{&i8mm_table(), &neon_table(), &scalar_table()};
#else
  static const std::array kTables{&scalar_table()};
#endif
  return kTables;
}

const KernelTable& choose_kernels(const char* isa) {
  if (isa == nullptr || *isa == '\0') {
    return best_table();
  }
  const KernelTable* table = find_usable(isa);
  if (table == nullptr) {
    throw Error(ErrorCode::Unsupported, "SMOL_ISA: expected one of " + usable_names() +
                                            " (what this processor runs), found \"" +
                                            std::string(isa) + "\"");
  }
  return *table;
}

const KernelTable& active_kernels() {
  static const KernelTable& chosen = choose_kernels(std::getenv("SMOL_ISA"));
  return chosen;
}

}  // namespace smol::kernels

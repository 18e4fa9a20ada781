#include "gguf/dtype.h"

#include <array>

#include "base/check.h"

namespace smol::gguf {
namespace {

constexpr std::array kTraits{
    DTypeTraits{DType::F32, "F32", 1, 4},         DTypeTraits{DType::F16, "F16", 1, 2},
    DTypeTraits{DType::Q4_0, "Q4_0", 32, 18},     DTypeTraits{DType::Q4_1, "Q4_1", 32, 20},
    DTypeTraits{DType::Q5_0, "Q5_0", 32, 22},     DTypeTraits{DType::Q5_1, "Q5_1", 32, 24},
    DTypeTraits{DType::Q8_0, "Q8_0", 32, 34},     DTypeTraits{DType::Q2_K, "Q2_K", 256, 84},
    DTypeTraits{DType::Q3_K, "Q3_K", 256, 110},   DTypeTraits{DType::Q4_K, "Q4_K", 256, 144},
    DTypeTraits{DType::Q5_K, "Q5_K", 256, 176},   DTypeTraits{DType::Q6_K, "Q6_K", 256, 210},
    DTypeTraits{DType::IQ4_NL, "IQ4_NL", 32, 18}, DTypeTraits{DType::IQ4_XS, "IQ4_XS", 256, 136},
    DTypeTraits{DType::BF16, "BF16", 1, 2},
};

const DTypeTraits* find(DType dtype) noexcept {
  for (const DTypeTraits& entry : kTraits) {
    if (entry.dtype == dtype) {
      return &entry;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<DType> dtype_from_id(std::uint32_t id) noexcept {
  const DTypeTraits* found = find(static_cast<DType>(id));
  return found == nullptr ? std::nullopt : std::optional(found->dtype);
}

std::span<const DTypeTraits> all_dtypes() noexcept {
  return kTraits;
}

const DTypeTraits& traits(DType dtype) noexcept {
  const DTypeTraits* found = find(dtype);
  SMOL_CHECK(found != nullptr);
  return *found;
}

}  // namespace smol::gguf

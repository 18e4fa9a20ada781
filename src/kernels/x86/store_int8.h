// A position's key and value into a cache of int8: included after attention_int8.h, inside the same
// target region. The order of operations is that of scalar/attention_int8.cpp.
#pragma once

namespace smol::kernels::x86 {
namespace {

// One key or value, as codes with the half that is their scale.
template <std::size_t kDim>
struct alignas(64) HeadCodes {
  std::array<std::int8_t, kDim> codes;
  std::uint16_t scale;
};

template <class Ops, std::size_t kDim>
HeadCodes<kDim> codes_of(const HeadOf<Ops, kDim>& x) noexcept {
  HeadCodes<kDim> head;
  const HalfScale scale = half_scale(largest_magnitude<Ops, kDim>(x));
  head.scale = scale.half;
  store_codes<Ops, kDim>(x, scale.inverse, head.codes.data());
  return head;
}

template <class Ops, std::size_t kDim>
HeadCodes<kDim> key_codes(const float* key) noexcept {
  HeadOf<Ops, kDim> x;
  hadamard<Ops, kDim>(key, x);
  return codes_of<Ops, kDim>(x);
}

template <class Ops, std::size_t kDim>
HeadCodes<kDim> value_codes(const float* value) noexcept {
  HeadOf<Ops, kDim> x;
  for (std::size_t i = 0; i < kDim / kFloats; ++i) {
    x[i] = Ops::load(value + i * kFloats);
  }
  return codes_of<Ops, kDim>(x);
}

template <class Ops, std::size_t kDim>
void store_head(std::byte* tile, std::size_t index, const float* key, const float* value) noexcept {
  constexpr KvFormat kFormat{KvType::Int8, kDim};
  const HeadCodes<kDim> k = key_codes<Ops, kDim>(key);
  const HeadCodes<kDim> v = value_codes<Ops, kDim>(value);
  for (std::size_t d = 0; d < kDim; d += 4) {  // four codes of a key lie beside each other
    std::memcpy(tile + key_code(index, d), k.codes.data() + d, 4);
  }
  std::byte* values = tile + values_offset(kFormat);
  for (std::size_t d = 0; d < kDim; ++d) {
    values[value_code(index, d, kDim)] = static_cast<std::byte>(v.codes[d]);
  }
  std::byte* scales = tile + scales_offset(kFormat);
  std::memcpy(scales + index * kScaleBytes, &k.scale, kScaleBytes);
  std::memcpy(scales + (kStep + index) * kScaleBytes, &v.scale, kScaleBytes);
}

template <class Ops>
void store_int8(std::size_t head_dim, std::byte* tile, std::size_t index, const float* key,
                const float* value) noexcept {
  switch (head_dim) {
    case 32:
      store_head<Ops, 32>(tile, index, key, value);
      return;
    case 64:
      store_head<Ops, 64>(tile, index, key, value);
      return;
    default:
      store_head<Ops, 128>(tile, index, key, value);
  }
}

}  // namespace
}  // namespace smol::kernels::x86

#include "optimized/runtime/packed.h"

#include <algorithm>

namespace assay::optimized {

void Digest::note(std::string_view what) {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (const char c : what) value_ = (value_ ^ static_cast<unsigned char>(c)) * prime;
}

void Digest::note(std::uint64_t number) { note({reinterpret_cast<const char*>(&number), sizeof number}); }

Packed::Floats Packed::take(std::uint64_t n) {
  constexpr std::uint64_t line = 64 / sizeof(float);
  const std::uint64_t at = used_, floats = (n + line - 1) / line * line;
  used_ += floats * sizeof(float);
  layout_.note(n);
  if (!data_ || !has_room()) return {};
  std::span<float> to_make;
  if (own_) to_make = {reinterpret_cast<float*>(own_ + at), static_cast<std::size_t>(floats)};
  std::ranges::fill(to_make, 0.0f);
  return {reinterpret_cast<const float*>(data_ + at), to_make};
}

}  // namespace assay::optimized

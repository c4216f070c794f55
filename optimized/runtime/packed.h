#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Packed constants: what kernels make of constants before the first execution.
namespace assay::optimized {

// Packed constants from an earlier run: floats, and the layout that they were made for. A kernel reads them as floats
// within their bounds, whatever the bytes are.
struct KeptConstants {
  std::span<const std::byte> bytes;  // at a multiple of 64
  std::uint64_t layout = 0;          // Packed::layout
};

// Memory for packed constants, handed out from its beginning. The same calls take the same pieces, so that memory is
// first counted, and then filled, or found as it was kept.
class Packed {
 public:
  struct Floats {
    const float* data = nullptr;  // at a multiple of 64; null: the floats are only counted
    std::span<float> to_make;     // the same floats, zeroed; empty: they are only counted, or were kept
  };

  Packed() = default;  // only counts
  static Packed in(std::span<std::byte> memory) { return {memory.data(), memory.data(), memory.size()}; }
  static Packed of(const KeptConstants& kept) { return {kept.bytes.data(), nullptr, kept.bytes.size()}; }

  // Empty where there is no room, too.
  Floats take(std::uint64_t n) {
    const std::uint64_t at = used_, bytes = (n + line - 1) / line * line * sizeof(float);
    used_ += bytes;
    note({reinterpret_cast<const char*>(&n), sizeof n});
    if (!data_ || !has_room()) return {};
    const std::span<float> to_make =
        own_ ? std::span(reinterpret_cast<float*>(own_ + at), static_cast<std::size_t>(bytes / sizeof(float)))
             : std::span<float>();
    std::ranges::fill(to_make, 0.0f);
    return {reinterpret_cast<const float*>(data_ + at), to_make};
  }

  // Mixes into the layout digest a fact that the packed data depend on.
  void note(std::string_view what) {
    for (const char c : what) layout_ = (layout_ ^ static_cast<unsigned char>(c)) * prime;  // FNV-1a
  }

  std::uint64_t bytes() const { return used_; }     // taken so far
  std::uint64_t layout() const { return layout_; }  // a digest of all that was taken and noted
  KeptConstants kept() const { return {{data_, data_ ? static_cast<std::size_t>(used_) : 0}, layout_}; }
  bool has_room() const { return !data_ || used_ <= size_; }

 private:
  static constexpr std::uint64_t line = 64 / sizeof(float), prime = 0x100000001b3;

  Packed(const std::byte* data, std::byte* own, std::uint64_t size) : data_(data), own_(own), size_(size) {}

  const std::byte* data_ = nullptr;
  std::byte* own_ = nullptr;
  std::uint64_t size_ = 0, used_ = 0, layout_ = 0xcbf29ce484222325;
};

}  // namespace assay::optimized

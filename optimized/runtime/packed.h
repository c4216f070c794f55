#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Packed constants: constants in the memory layout that a kernel reads. Kernels make them before the first execution.
namespace assay::optimized {

// Packed constants from an earlier process: floats, and a digest of the layout that they were made for. Any bytes are
// safe to read: a kernel reads them as floats and stays within their bounds.
struct KeptConstants {
  std::span<const std::byte> bytes;  // aligned to 64 bytes
  std::uint64_t layout = 0;          // Packed::layout
};

// A digest of the facts that were noted, by FNV-1a.
class Digest {
 public:
  void note(std::string_view what);
  void note(std::uint64_t number);
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

// An allocator of memory for packed constants. The same sequence of calls takes the same blocks. So a first pass counts
// the bytes, and a second pass fills the blocks or finds the constants of an earlier process in them.
class Packed {
 public:
  struct Floats {
    const float* data = nullptr;  // aligned to 64 bytes; null if the floats are only counted
    // The same floats, set to zero, for the kernel to fill; empty if there is nothing to fill.
    std::span<float> to_make;
  };

  Packed() = default;  // an allocator that only counts
  static Packed in(std::span<std::byte> memory) { return {memory.data(), memory.data(), memory.size()}; }
  static Packed of(const KeptConstants& kept) { return {kept.bytes.data(), nullptr, kept.bytes.size()}; }

  // Takes n floats. Both members of the result are also empty if there is too little memory.
  Floats take(std::uint64_t n);

  // Mixes into the layout digest a fact that the packed data depend on.
  void note(std::string_view what) { layout_.note(what); }

  bool makes() const { return own_; }            // whether kernels fill the blocks
  std::uint64_t bytes() const { return used_; }  // the number of bytes that were taken
  // A digest of all blocks that were taken and all facts that were noted.
  std::uint64_t layout() const { return layout_.value(); }
  KeptConstants kept() const { return {{data_, data_ ? static_cast<std::size_t>(used_) : 0}, layout()}; }
  bool has_room() const { return !data_ || used_ <= size_; }

 private:
  Packed(const std::byte* data, std::byte* own, std::uint64_t size) : data_(data), own_(own), size_(size) {}

  const std::byte* data_ = nullptr;
  std::byte* own_ = nullptr;
  std::uint64_t size_ = 0, used_ = 0;
  Digest layout_;
};

}  // namespace assay::optimized

#pragma once

#include <compare>
#include <cstddef>
#include <span>
#include <vector>

namespace assay::xnnpack {

// A constant of a program, from bytes that have its elements in another order. It copies no bytes until it is written.
struct Constant {
  std::span<const std::byte> stored = {};  // requires that the bytes outlive the object
  std::vector<std::byte> own = {};         // in place of `stored`, if it is not empty
  std::size_t element = 1;                 // the bytes of an element
  bool is_packed = false;              // whether a stored byte has two elements of 4 bits; an element is a byte then
  std::vector<std::size_t> dims = {};  // as stored, in row-major order
  std::vector<std::size_t> perm = {};  // for each dim of the constant, its stored dim

  // The bytes themselves, which become the constant unchanged.
  static Constant of(std::span<const std::byte> bytes) {
    return {.stored = bytes, .dims = {bytes.size()}, .perm = {0}};
  }

  static Constant copy_of(std::span<const std::byte> bytes) {
    return {.own = {bytes.begin(), bytes.end()}, .dims = {bytes.size()}, .perm = {0}};
  }

  std::span<const std::byte> bytes() const { return own.empty() ? stored : own; }
  std::size_t size() const;  // in bytes, when it is written
  // Requires size() bytes.
  void write(std::span<std::byte> to) const;

  // Constants with the same place of stored bytes or the same own bytes, and the same order.
  friend std::strong_ordering operator<=>(const Constant& a, const Constant& b);
};

// What a segment of a program consists of.
class Segment {
 public:
  // Returns where the bytes begin: at a multiple of 16, as any element needs it. Requires that they outlive the object.
  std::size_t add(const Constant& bytes);
  std::size_t size() const { return size_; }
  void write(std::span<std::byte> to) const;  // requires size() bytes

 private:
  struct Piece {
    std::size_t begin;
    const Constant* bytes;
  };
  std::vector<Piece> pieces_;
  std::size_t size_ = 0;
};

}  // namespace assay::xnnpack

#pragma once

#include <cstddef>
#include <span>

namespace assay::loaders {

// A copy of a file on read-only pages, with a guard page behind it. A write to the file, or a read of more than 15
// bytes past its end, ends the process at once. The copy begins at a multiple of 16.
class ReadOnlyFile {
 public:
  explicit ReadOnlyFile(std::span<const std::byte> file);  // throws std::bad_alloc
  ~ReadOnlyFile();
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::byte* pages_;
  std::size_t size_;
  std::span<const std::byte> bytes_;
};

}  // namespace assay::loaders

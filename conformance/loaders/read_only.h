#pragma once

#include <cstddef>
#include <span>

namespace assay {

// A copy of a file at the end of pages that nobody writes to, before one that nobody touches, so that who reads beyond
// the file by more than 15 bytes, or writes to it, ends at once. It begins at a multiple of 16.
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

}  // namespace assay

#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace assay::sandbox {

// Bytes as a file, for functions that take only a path. The file lives as long as this object.
class FileInMemory {
 public:
  explicit FileInMemory(std::span<const std::byte> bytes);  // throws exhausted Faults of `output`
  ~FileInMemory();
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;
  std::filesystem::path path() const;

 private:
  int descriptor_;
};

}  // namespace assay::sandbox

#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace assay {

// Bytes as a file of their own, for those who only take one, as long as this lives.
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

}  // namespace assay

#pragma once

#include <unistd.h>

#include <filesystem>

#include "conformance/files/file.h"
#include "reference/fault.h"

namespace assay::fuzz {

// A folder for the files of a target, for readers that take a path. It is removed at the end of the process, unless the
// process ends by a finding.
class Folder {
 public:
  Folder() { files::make_folder(path_); }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path with(const char* name, std::span<const std::byte> bytes) const {
    files::write_file(path_ / name, bytes);
    return path_ / name;
  }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / concat("assay-fuzz-", getpid());
};

}  // namespace assay::fuzz

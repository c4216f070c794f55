#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "reference/fault.h"

namespace assay::files {

// A folder that the destructor removes with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "assay-XXXXXX").string()) {
    if (!mkdtemp(path_.data())) throw Fault(Outcome::exhausted, "output", concat(path_, " cannot be made"));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return std::filesystem::path(path_) / name; }

 private:
  std::string path_;
};

}  // namespace assay::files

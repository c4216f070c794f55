#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace assay::executorch_kernels {

inline constexpr const char* xnnpack = "executorch_backend_xnnpack";  // programs with "XnnpackBackend" need it

inline std::string file_of(const std::string& library) { return "lib" + library + ".so"; }

// The files of the package's libraries that this module is linked with.
inline std::vector<std::string> package_binaries() {
  std::istringstream libraries(ASSAY_EXECUTORCH_LIBRARIES);
  std::vector<std::string> files;
  for (std::string name; libraries >> name;) files.push_back(file_of(name));
  return files;
}

}  // namespace assay::executorch_kernels

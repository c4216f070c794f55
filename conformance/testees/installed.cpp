#include "conformance/testees/installed.h"

namespace assay {

std::filesystem::path folder_above(const std::filesystem::path& path) {
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe");
  for (std::filesystem::path folder : {executable.parent_path(), std::filesystem::current_path()})
    for (; folder.has_relative_path(); folder = folder.parent_path())
      for (const std::filesystem::path& data : {folder, folder / "share/assay"})
        if (std::filesystem::is_directory(data / path)) return data / path;
  return {};
}

}  // namespace assay

#include "conformance/testee/data_folder.h"

#include <array>

#include "reference/fault.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// The installation prefixes of this build and of our packages.
constexpr std::array prefixes{ASSAY_PREFIXES};

std::array<fs::path, 2> beginnings() { return {fs::read_symlink("/proc/self/exe").parent_path(), fs::current_path()}; }

fs::path share(const fs::path& prefix) { return prefix / "share/assay"; }

}  // namespace

fs::path find_folder(const fs::path& path) {
  for (fs::path folder : beginnings())
    for (; folder.has_relative_path(); folder = folder.parent_path())
      for (const fs::path& data : {folder, share(folder)})
        if (fs::is_directory(data / path)) return data / path;
  for (const char* prefix : prefixes)
    if (fs::is_directory(share(prefix) / path)) return share(prefix) / path;
  return {};
}

fs::path folder_of(const fs::path& path, const char* rule) {
  if (const fs::path folder = find_folder(path); !folder.empty()) return folder;
  const auto [executable, working] = beginnings();
  std::string installed;
  for (const char* prefix : prefixes) installed += text(installed.empty() ? "" : " or ", share(prefix).string());
  throw Fault(Outcome::malformed, rule,
              text("there is no folder ", path.string(), " in or above ", executable.string(),
                   ", where the command is, or ", working.string(), ", nor in share/assay there, nor in ", installed));
}

}  // namespace assay

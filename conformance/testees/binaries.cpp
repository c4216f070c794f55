#include "conformance/testees/binaries.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "conformance/cases/fingerprint.h"

namespace assay {
namespace {

struct Loaded {
  std::string name;
  std::filesystem::path path;
};

std::vector<Loaded> all_loaded() {
  std::vector<Loaded> all;
  const auto add = [](dl_phdr_info* object, std::size_t, void* to) {
    const std::filesystem::path path = object->dlpi_name;
    static_cast<std::vector<Loaded>*>(to)->push_back(path.empty() ? Loaded{executable, "/proc/self/exe"}
                                                                  : Loaded{path.filename(), path});
    return 0;
  };
  dl_iterate_phdr(add, &all);
  return all;
}

std::string digest_of(const std::filesystem::path& path) {
  std::string bytes(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return fmt::format("{:016x}", digest(bytes));
}

}  // namespace

Digests digests_of_loaded(std::span<const std::string> names) {
  Digests digests;
  for (const auto& [name, path] : all_loaded())
    if (std::ranges::find(names, name) != names.end()) digests.emplace_back(name, digest_of(path));
  return digests;
}

}  // namespace assay

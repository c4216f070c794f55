#include "conformance/testee/binaries.h"

#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "conformance/text/digest.h"

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

// The file that a shell runs for this word; empty if there is none.
std::filesystem::path program_of(const std::string& word) {
  if (word.find('/') != std::string::npos) return word;
  const char* const folders = std::getenv("PATH");
  std::istringstream all(folders ? folders : "");
  for (std::string folder; std::getline(all, folder, ':');)
    if (const auto path = std::filesystem::path(folder) / word; std::filesystem::is_regular_file(path)) return path;
  return {};
}

}  // namespace

std::string digest_of_file(const std::filesystem::path& path) {
  std::string bytes(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return digits_of(digest(bytes));
}

Digests digests_of_loaded(std::span<const std::string> names) {
  Digests digests;
  for (const auto& [name, path] : all_loaded())
    if (std::ranges::find(names, name) != names.end()) digests.emplace_back(name, digest_of_file(path));
  return digests;
}

std::vector<std::string> loaded_binaries(std::string_view beginning) {
  std::vector<std::string> names;
  for (const auto& [name, path] : all_loaded())
    if (name.starts_with(beginning)) names.push_back(name);
  return names;
}

std::filesystem::path loaded_file(std::string_view name) {
  const auto all = all_loaded();
  const auto found = std::ranges::find(all, name, &Loaded::name);
  return found == all.end() ? std::filesystem::path() : found->path;
}

Digests digests_of_command(std::span<const std::string> words) {
  Digests digests;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (const auto path = i == 0 ? program_of(words[i]) : std::filesystem::path(words[i]);
        std::filesystem::is_regular_file(path))
      digests.emplace_back("file " + path.filename().string(), digest_of_file(path));
  return digests;
}

}  // namespace assay

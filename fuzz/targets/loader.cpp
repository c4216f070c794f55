#include <cstdlib>
#include <filesystem>

#include "conformance/loaders/loader.h"
#include "fuzz/attached.h"
#include "fuzz/limits.h"
#include "fuzz/target.h"

// Attacks a loader by its C interface (conformance/api/loader.h): $ASSAY_LOADER, such as "./mine.so", or the reference.
// The loader loads, prepares and runs the files that it accepts. Sanitizers and signals report errors.
namespace assay::fuzz {
namespace {

std::unique_ptr<loaders::Loader> chosen() {
  const char* name = std::getenv("ASSAY_LOADER");
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe");
  return loaders::load_loader(name ? name : "reference", executable.parent_path(),
                              {.executes = true, .bytes = limits.bytes, .instructions = most_instructions});
}

Bytes copy(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

void attack_loader(Input input) {
  static const std::unique_ptr<loaders::Loader> loader = chosen();
  const auto [program, data] = split(input);
  corrupt::Files files{copy(program), {}};
  if (!data.empty()) files.data.push_back(copy(data));
  loader->take(files);
}

}  // namespace assay::fuzz

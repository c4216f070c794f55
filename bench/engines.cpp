#include "bench/engines.h"

#include "conformance/adapters/load.h"
#include "conformance/adapters/optimized/client.h"

namespace assay::bench {

namespace fs = std::filesystem;

Contender contender(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos) return {argument, {}};
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

std::string text_of(const Contender& c) { return c.file.empty() ? c.name : c.name + '=' + c.file.string(); }

fs::path program_of(const Contender& c, const fs::path& program) {
  return c.file.empty() ? program : fs::exists(c.file) ? c.file : program.parent_path() / c.file;
}

std::unique_ptr<Engine> make_engine(const std::string& name, const fs::path& folder) {
  if (name == "reference") return make_reference();
  if (const auto testee = optimized_for(name)) return make_optimized(*testee);
  if (name == "onnxruntime") return make_onnxruntime(folder / "libonnxruntime.so");
  return load_engine(name, folder);
}

}  // namespace assay::bench

#include "bench/engines.h"

namespace assay::bench {

namespace fs = std::filesystem;

Contender contender(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  const bool is_command = argument.starts_with("-- ");  // which may have "=" in its words
  if (is_command || equals == std::string::npos) return {argument, {}};
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

std::string text_of(const Contender& c) { return c.file.empty() ? c.name : c.name + '=' + c.file.string(); }

fs::path program_of(const Contender& c, const fs::path& program) {
  return c.file.empty() ? program : fs::exists(c.file) ? c.file : program.parent_path() / c.file;
}

}  // namespace assay::bench

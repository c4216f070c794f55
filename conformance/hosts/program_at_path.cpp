#include "conformance/hosts/program_at_path.h"

#include "conformance/inspect/value_or_throw.h"
#include "reference/program/program.h"

namespace assay::hosts {

File program_in_file(const File& file) {
  const bool is_bundle = format::file_kind(file.bytes) == &format::bundle_kind;
  return is_bundle ? program_of(inspect::value_or_throw(open_bundle(file))) : file;
}

ProgramAtPath program_at_path(const std::filesystem::path& path, const File& file, const File& program) {
  const bool is_whole = program.bytes.data() == file.bytes.data();
  if (is_whole && std::filesystem::is_regular_file(path)) return {path};
  const auto copy = std::make_shared<const sandbox::FileInMemory>(program.bytes);
  return {copy->path(), copy};
}

ProgramAtPath program_at_path(const std::filesystem::path& path, const files::Access& access) {
  const File file = files::open_file(path, access);
  return program_at_path(path, file, program_in_file(file));
}

}  // namespace assay::hosts

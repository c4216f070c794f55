#pragma once

#include <filesystem>
#include <memory>

#include "conformance/files/file.h"
#include "conformance/sandbox/file_in_memory.h"

namespace assay::hosts {

// The program in a .bpte file; any other file itself. Throws the Faults of open_bundle.
File program_in_file(const File& file);

// A program as a file, for runtimes that read files themselves.
struct ProgramAtPath {
  std::filesystem::path path;
  std::shared_ptr<const sandbox::FileInMemory> copy = {};  // the file at `path`, if it is a copy
};

// The file at `path` itself if it is regular and contains nothing but the program; else a copy of the program in
// memory. `file` is the content of the file, and `program` its program.
ProgramAtPath program_at_path(const std::filesystem::path& path, const File& file, const File& program);
ProgramAtPath program_at_path(const std::filesystem::path& path, const files::Access& access = {});

}  // namespace assay::hosts

#pragma once

#include <string_view>
#include <vector>

#include "reference/program/program.h"

namespace assay::corrupt {

// Files that meet every rule. The files of a kind together have each field of the kind's schema, also fields with their
// default value, and no empty list or string. Each kind has at least one file.
struct CompleteFile {
  const FileKind* kind;
  Bytes file;
};
std::vector<CompleteFile> complete_files();

// The complete programs by names that no file has. The first one, "sample:plain", has only what every runtime supports:
// no delegates, no memory that is allocated while a method runs, no data files.
struct SampleProgram {
  std::string_view name;  // "sample:plain"
  Bytes file;
};
std::vector<SampleProgram> sample_programs();

}  // namespace assay::corrupt

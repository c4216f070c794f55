#pragma once

#include <string_view>
#include <vector>

#include "reference/program/program.h"

namespace assay::corrupt {

// Files that keep every rule and that have, together, each field of the schema of their kind, also where it has its
// default, and each list and string with something in it.
std::vector<Bytes> complete_programs();
std::vector<Bytes> complete_data();
std::vector<Bytes> complete_bundles();

// The programs of the above by names that no file has, and first one without what a runtime need not have: delegates,
// memory that it takes while it runs, data from elsewhere.
struct SampleProgram {
  std::string_view name;  // "sample:plain"
  Bytes file;
};
std::vector<SampleProgram> sample_programs();

}  // namespace assay::corrupt

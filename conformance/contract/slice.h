#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conformance/contract/yaml.h"
#include "conformance/features/features.h"

namespace assay::contract {

// A set of cases: those for which all flags of `all`, no flag of `none` and, unless `any` is empty, at least one flag
// of `any` hold.
struct CaseSlice {
  std::string name, about;
  std::vector<features::Phrase> all, any, none;

  bool has(const features::Features& call) const;
};

// Reads the slices of a folder, one per file, sorted by name. Throws Fault (malformed) with place and rule:
// contract.yaml, contract.key, contract.kind, contract.flag for a flag that no call can have, contract.slice if a file
// is not named after its slice.
std::vector<CaseSlice> read_slices(const std::filesystem::path& folder);

// The flags about calls that a map lists under a key; none if the key is missing.
std::vector<features::Phrase> flags_in(const Yaml& map, const std::string& key);

}  // namespace assay::contract

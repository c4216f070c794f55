#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conformance/contract/yaml.h"
#include "conformance/features/features.h"

namespace assay {

// A set of cases: those of which all flags of `all`, none of `none` and, unless it is empty, one of `any` hold.
struct CaseSlice {
  std::string name, about;
  std::vector<Phrase> all, any, none;

  bool has(const Features& call) const;
};

// The slices of a folder, a file each, by name. Throws Fault (malformed) with place and rule: contract.yaml,
// contract.key, contract.kind, contract.flag for a flag that no call has, contract.slice where a file is not named as
// its slice.
std::vector<CaseSlice> read_slices(const std::filesystem::path& folder);

// The flags about calls that stand under a key, none where it is missing.
std::vector<Phrase> flags_in(const Yaml& map, const std::string& key);

}  // namespace assay

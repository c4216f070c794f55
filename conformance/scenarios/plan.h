#pragma once

#include <filesystem>
#include <span>

#include "conformance/contract/contract.h"
#include "conformance/scenarios/scenario.h"

namespace assay {

// All scenarios whose id, or the program or operator in it, fits a word of the pattern; an empty one is all. Ordered by
// kind, then by program or operator. `programs` are recorded ones, golden/programs; `requests` are those that the
// runtime knows. Corpus and contract outlive what is planned. Throws Fault: unsupported, "runtime.programs", for a
// pattern that fits none.
std::vector<Scenario> plan_scenarios(const std::filesystem::path& programs, const Corpus& corpus,
                                     const Contract& contract, std::span<const std::string> requests,
                                     const std::string& pattern);

}  // namespace assay

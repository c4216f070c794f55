#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conformance/contract/contract.h"
#include "conformance/scenarios/scenario.h"
#include "conformance/testee/runtime.h"

namespace assay::scenarios {

// All scenarios that the pattern selects: a word of the pattern fits the scenario's id, or its program or operator. An
// empty pattern selects all. The order is by kind, then by program or operator. `programs` is the folder of recorded
// programs, golden/programs. The runtime decides which of the requests and steps that not every runtime knows are among
// them; null knows none. Corpus and contract outlive the scenarios. Throws Fault (unsupported, "runtime.programs") if
// the pattern selects nothing.
std::vector<Scenario> plan_scenarios(const std::filesystem::path& programs, const cases::Corpus& corpus,
                                     const contract::Contract& contract, const testee::Runtime* runtime,
                                     const std::string& pattern);

}  // namespace assay::scenarios

#pragma once

#include <vector>

#include "conformance/scenarios/recorded_program.h"

// Scenarios of files with planted changes. Each file is loaded and, if the load is answered, called: a file that breaks
// a rule must be refused by the call at the latest.
namespace assay::scenarios {

// Adds copies of a program, each changed in one place: for each rule some copies that break it, some copies of equal
// meaning, some of another meaning.
void add_changed_files(std::vector<Scenario>& all, const Recorded& program);

// Adds the smallest programs that break a rule, and programs that keep the rule at its boundary.
void add_cases_of_rules(std::vector<Scenario>& all);

}  // namespace assay::scenarios

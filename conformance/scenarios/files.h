#pragma once

#include <vector>

#include "conformance/scenarios/recorded_program.h"

// Scenarios of files that are wrong on purpose. Each is loaded and, where that is answered, called: a file that breaks
// a rule is refused at the latest then.
namespace assay {

// Of a program, changed in one place: for each rule some that break it, some that say the same, some that say something
// else.
void add_changed_files(std::vector<Scenario>& all, const Recorded& program);

// The smallest programs that break a rule, and those that keep it at its boundary.
void add_cases_of_rules(std::vector<Scenario>& all);

}  // namespace assay

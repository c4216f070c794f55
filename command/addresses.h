#pragma once

#include "conformance/verdict/facts.h"

namespace assay::command {

// Runs the program again without address space randomisation, so that testees that depend on addresses give the same
// results in every run. Returns if addresses are fixed already, or if the machine does not allow it.
void fix_addresses(char** argv);
verdict::NamedText addresses_fact();  // whether addresses are fixed, for the header of a run

}  // namespace assay::command

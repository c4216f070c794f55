#pragma once

#include "conformance/verdict/facts.h"

namespace assay {

// Runs the program again without address space randomisation, so that what a testee makes of addresses is the same in
// every run. Returns where that is so already, and where the machine does not allow it.
void fix_addresses(char** argv);
NamedText addresses_fact();  // whether it is so, for the header of a run

}  // namespace assay

#pragma once

#include <map>
#include <ostream>
#include <set>
#include <string>

#include "optimized/api/assay.h"

namespace assay::adapters {

// The kernels of the optimized runtime that programs need, as `assay select` writes them. By operator, a line for each
// kernel with the operands of its calls; under "rewrites", the rewrites that were applied.
using Selection = std::map<std::string, std::set<std::string>>;

void add_needs(const assay_method* method, Selection& selection);

// Throws Fault (malformed, "selection") for a line that write() does not write.
Selection read_selection(const std::string& file);
void write(std::ostream& out, const Selection& selection);

// Throws Fault (unsupported, "I4") for the first line that `allowed`, which was read from `file`, lacks.
void require_within(const Selection& allowed, const Selection& selection, const std::string& file);

}  // namespace assay::adapters

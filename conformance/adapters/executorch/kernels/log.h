#pragma once

#include <string>

// What ExecuTorch's kernels say while they run, instead of on stderr. A failed check logs the innermost condition
// first.
namespace assay::executorch_kernels::log {

// From now on messages are kept; an abort puts the kept ones on stderr, the only way out that is left then.
void capture();

void clear();

// Errors since clear(), in order, "file:line: message", joined by "; ".
const std::string& errors();

}  // namespace assay::executorch_kernels::log

#pragma once

#include <string>

// Keeps the log messages of ExecuTorch's kernels instead of printing them on stderr. A failed check logs the innermost
// condition first.
namespace assay::executorch_kernels::log {

// Starts to keep messages. An abort prints the kept messages on stderr, which is the only way out then.
void capture();

void clear();

// The errors since clear(), in order, each as "file:line: message", joined by "; ".
const std::string& errors();

}  // namespace assay::executorch_kernels::log

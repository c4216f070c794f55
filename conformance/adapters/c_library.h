#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/api/kernel_library.h"
#include "conformance/testee/library.h"

namespace assay {

// The library behind a table of the C interface, as spec/kernel_library.md has it, under its own name or this one;
// `binaries` are the names of its files, the first of them that of the table. Throws Fault: library.version,
// library.table; its calls throw library.reply.
std::unique_ptr<KernelLibrary> make_c_library(const assay_kernel_library* table, std::vector<std::string> binaries,
                                              std::string name = {});

}  // namespace assay

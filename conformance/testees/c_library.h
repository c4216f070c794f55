#pragma once

#include <memory>
#include <string>

#include "conformance/api/kernel_library.h"
#include "conformance/testees/library.h"

namespace assay {

// The library behind a table of the C interface, as spec/kernel_library.md has it; `binary` is the name of its file.
// Throws Fault: library.version, library.table; its calls throw library.reply.
std::unique_ptr<KernelLibrary> make_c_library(const assay_kernel_library* table, std::string binary);

}  // namespace assay

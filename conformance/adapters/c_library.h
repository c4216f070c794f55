#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/api/kernel_library.h"
#include "conformance/testee/library.h"

namespace assay::adapters {

// Makes a library from a table of the C interface, which spec/kernel_library.md defines. The library has the name in
// the table, unless `name` is given. `binaries` are the names of its files; the first one is the file that exports the
// table. Throws Fault: library.version, library.table. Calls of the library throw library.reply.
std::unique_ptr<testee::KernelLibrary> make_c_library(const assay_kernel_library* table,
                                                      std::vector<std::string> binaries, std::string name = {});

}  // namespace assay::adapters

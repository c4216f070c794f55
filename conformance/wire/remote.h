#pragma once

#include <memory>
#include <string>

#include "conformance/testee/library.h"
#include "conformance/testee/runtime.h"
#include "conformance/wire/address.h"

namespace assay::wire {

// Testees behind a wire. Each asks the server for its introduction and closes that connection. Every process that then
// calls the testee opens a connection of its own with its first call. Calls throw Lost. The functions throw Fault
// (invalid, testee) where there is no server, or it gives no introduction.
std::unique_ptr<KernelLibrary> make_remote_library(const Address& address);

// Null where the server runs no programs.
std::unique_ptr<Runtime> make_remote_runtime(const Address& address);

}  // namespace assay::wire

#pragma once

#include <memory>
#include <string>

#include "conformance/testee/library.h"
#include "conformance/testee/runtime.h"
#include "conformance/wire/address.h"

namespace assay::wire {

// Testees behind a wire. Each asks an end who it is, and lets go of it; every process that then calls the testee has a
// connection of its own, from its first call on. Calls throw Lost. Throw Fault (invalid, testee) where there is no end,
// or it does not say who it is.
std::unique_ptr<KernelLibrary> make_remote_library(const Address& address);

// Null where the end runs no programs.
std::unique_ptr<Runtime> make_remote_runtime(const Address& address);

}  // namespace assay::wire

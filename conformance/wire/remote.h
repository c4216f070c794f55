#pragma once

#include <memory>
#include <string>

#include "conformance/testee/library.h"
#include "conformance/testee/runtime.h"
#include "conformance/wire/address.h"

namespace assay::wire {

// Testees behind a wire. Each function requests the introduction of the server and closes that connection. Every
// process that calls the testee later opens its own connection at its first call. Calls throw Lost. The functions throw
// Fault (invalid, testee) if there is no server or it sends no introduction.
std::unique_ptr<KernelLibrary> make_remote_library(const Address& address);

// Returns null if the server runs no programs.
std::unique_ptr<Runtime> make_remote_runtime(const Address& address);

}  // namespace assay::wire

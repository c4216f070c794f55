#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "conformance/testee/runtime.h"

namespace assay::hosts {

// The testee "backend:./lib.so" or "backend:./lib.so=ID": the backends that the library at `file` registers with
// ExecuTorch, in the reference's runtime. The backend `id`, if it is not empty, also executes the delegates of XNNPACK.
// The payloads of these delegates are not checked before the backend gets them. Its requests about
// delegates are those of backend_checks(). Throws Fault: "testee", if the library
// cannot be used.
std::unique_ptr<testee::Runtime> make_backend_runtime(std::string_view testee, const std::filesystem::path& file,
                                                      std::string_view id);

}  // namespace assay::hosts

#pragma once

#include <memory>

#include "conformance/files/file.h"
#include "conformance/testee/runtime.h"
#include "reference/runtime/runtime.h"

namespace assay::hosts {

// The reference behind the interface of a runtime under test.
std::unique_ptr<testee::Runtime> make_reference_runtime();

// A program on the reference, with `options` where the settings state nothing. Null if it is refused; then `reply` has
// the reason.
std::unique_ptr<testee::TesteeProgram> reference_program(const File& program, const testee::LoadSettings& settings,
                                                         RuntimeOptions options, testee::Reply& reply);

}  // namespace assay::hosts

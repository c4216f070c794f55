#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "conformance/testee/library.h"

namespace assay::cases {

// The identity of a call as bytes that are equal on every machine: kinds and contents of the arguments, and the dtypes
// and dim orders of outs. The sizes of outs are left out, because the host plans them by the result.
std::string fingerprint(const Operator& op, std::span<const Value> arguments);
std::string fingerprint(const Operator& op, std::span<const testee::HostValue> arguments);

}  // namespace assay::cases

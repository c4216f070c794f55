#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "conformance/testee/library.h"

namespace assay {

// All that makes two calls of an operator the same, as bytes that are equal on every machine: kinds and contents of the
// arguments; of outs their dtypes and dim orders, since a host plans their sizes by the result.
std::string fingerprint(const Operator& op, std::span<const Value> arguments);
std::string fingerprint(const Operator& op, std::span<const HostValue> arguments);

}  // namespace assay

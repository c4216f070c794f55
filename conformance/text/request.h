#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reference/operator.h"
#include "reference/value.h"

namespace assay::text {

// A call as a request line of `assay call --jsonl`.
std::string request_line(const Operator& op, std::span<const Value> arguments, std::string_view id);

}  // namespace assay::text

#pragma once

#include "reference/value.h"

namespace assay::files {

// Whether two values are equal bit for bit.
bool same(const Value& a, const Value& b);

}  // namespace assay::files

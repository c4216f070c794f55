#pragma once

#include <cstdint>

namespace assay::optimized {

// Why rewrites left a call as the program has it: what the last rewrite that could have merged or dropped the call
// found. `none` if no rewrite takes calls like this.
enum class Reason : std::uint8_t {
  none,
  several_readers,  // several calls read its result
  other_followers,  // the calls that read its result cannot be merged into it
  stored,           // its result is an output, an input or state, or shares bytes with other values
  moving_sizes,     // sizes differ from one execution to the next, and are not known to fit
  operand_changes,  // an operand changes before the last call that would read it
  strides,          // strides do not describe what it copies
  no_kernel         // no kernel computes the merged call, or reads what it copies in place
};

}  // namespace assay::optimized

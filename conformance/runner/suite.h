#pragma once

#include <functional>
#include <string>

#include "conformance/runner/plan.h"

namespace assay::runner {

// Judges blocks in several children concurrently. `done` gets every record, in the order of the blocks and their cases.
// Throws Interrupted.
void judge_blocks(CaseRunner& case_runner, const std::vector<Block>& blocks, int workers,
                  const std::function<void(verdict::Record)>& done);

}  // namespace assay::runner

#pragma once

#include <functional>
#include <string>

#include "conformance/report/defect.h"
#include "conformance/runner/plan.h"

namespace assay {

// Judges blocks on several children at a time. `done` gets every record, in the order of the blocks and their cases.
// Throws Interrupted.
void judge_blocks(Laboratory& laboratory, const std::vector<Block>& blocks, int workers,
                  const std::function<void(Record)>& done);

// For each failing case, the smallest of its kind, a simpler call that fails alike, where the search finds one. `done`
// gets each with what it was made from, in their order. Throws Interrupted.
void shrink(Laboratory& laboratory, const std::vector<Record>& failing, int workers,
            const std::function<void(const Defect&)>& done);

}  // namespace assay

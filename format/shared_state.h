#pragma once

#include "format/view.h"
#include "format/workspace.h"

namespace assay::format {

// Returns for each planned memory whether all methods of a program share it, so that a method reads what another method
// wrote. Methods share a memory that holds only named state, if each name has the same offset in all methods. With the
// client's option `arenas`, they also share each memory that holds state of any method. The result is empty if the
// workspace has too little memory. Requires a program that meets every rule.
std::span<std::uint8_t> shared_memories(const ProgramView& program, bool arenas, Workspace& workspace);

// Returns for each value of a method whether its bytes in shared memory already have their initial value, because
// another method wrote it. made[i] must be nonzero if the method of plan i exists. The result is empty if the workspace
// has too little memory.
std::span<std::uint8_t> begun_state(const ProgramView& program, const pte::ExecutionPlan& plan,
                                    std::span<const std::uint8_t> shared, std::span<const std::byte> made,
                                    Workspace& workspace);

}  // namespace assay::format

#pragma once

#include "format/view.h"
#include "format/workspace.h"

namespace assay::format {

// Returns for each planned memory whether all methods of a program share it, so that a method reads what another method
// wrote. Methods share a memory that holds only named state, if each name has one offset. With the client's option
// `arenas`, they also share each memory that holds state of one of them. The result is empty if the workspace has too
// little memory. Requires a program that meets every rule.
std::span<std::uint8_t> shared_memories(const ProgramView& program, bool arenas, Workspace& workspace);

// Returns for each value of a method whether another method has already written the initial value to its bytes in
// shared memory. made[i] must be nonzero if the method of plan i exists. The result is empty if the workspace has too
// little memory.
std::span<std::uint8_t> begun_state(const ProgramView& program, const pte::ExecutionPlan& plan,
                                    std::span<const std::uint8_t> shared, std::span<const std::byte> made,
                                    Workspace& workspace);

}  // namespace assay::format

#pragma once

#include "format/view.h"
#include "format/workspace.h"

namespace assay::format {

// For each planned memory, whether all methods of a program share it, so that one method reads what another one wrote.
// Methods share a memory into which they plan only named state, if each name is at one place. With `arenas`, an option
// of the client, they also share each memory into which a method plans state. Empty: the workspace has too little
// memory. The program keeps every rule.
std::span<std::uint8_t> shared_memories(const ProgramView& program, bool arenas, Workspace& workspace);

// For each value of a method, whether its bytes in shared memory already have their initial value from another method.
// made[i] is not 0 for a plan i whose method exists. Empty: the workspace has too little memory.
std::span<std::uint8_t> begun_state(const ProgramView& program, const pte::ExecutionPlan& plan,
                                    std::span<const std::uint8_t> shared, std::span<const std::byte> made,
                                    Workspace& workspace);

}  // namespace assay::format

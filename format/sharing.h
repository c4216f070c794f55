#pragma once

#include "format/view.h"
#include "format/workspace.h"

namespace assay::format {

// By planned memory, whether all methods of a program have it together, so that one finds there what another left:
// those into which they plan nothing but named state, each name at one place; with `arenas`, which the client asks for,
// those into which one of them plans state, too. Empty where there is no room. The program keeps every rule.
std::span<std::uint8_t> shared_memories(const ProgramView& program, bool arenas, Workspace& workspace);

// By value of a method, whether one of those that were made, by their marks, gave its bytes in shared memory their
// initial value. Empty where there is no room.
std::span<std::uint8_t> begun_state(const ProgramView& program, const pte::ExecutionPlan& plan,
                                    std::span<const std::uint8_t> shared, std::span<const std::byte> made,
                                    Workspace& workspace);

}  // namespace assay::format

#pragma once

#include <optional>
#include <span>

#include "format/rule.h"
#include "format/view.h"
#include "format/workspace.h"

// Checks files by the rules of spec/format/rules.yaml, without heap, exceptions or copies, in three phases: locate →
// open → check. Each phase reports every fault that it finds to `findings`. A phase requires that the phase before it
// found no fault. The reference and the optimized runtime call these functions and check no rule a second time.
namespace assay::format {

class NamedData;

// -- locate: reads the first bytes of a file, so that a file of the wrong kind is not read further --------------------

// The number of bytes that the locate functions need as `head`. If the file is shorter, `head` must be the whole file.
inline constexpr std::size_t head_bytes = 64;

// The parts of a file as its header states them: offsets and sizes in bytes. The tables begin at offset 0.
struct Extent {
  std::uint64_t tables_size = 0;
  std::uint64_t segments_begin = 0, segments_size = 0;
};
// Each function returns the extent, or nothing if a rule is broken. The rules are H1, H2, H5 to H8 and H13 for
// locate_program, F1 to F3 for locate_data, and B1 for locate_bundle. `file_size` is the size of the whole file in
// bytes.
std::optional<Extent> locate_program(std::span<const std::byte> head, std::uint64_t file_size, Findings& findings);
std::optional<Extent> locate_data(std::span<const std::byte> head, std::uint64_t file_size, Findings& findings);
std::optional<Extent> locate_bundle(std::span<const std::byte> head, std::uint64_t file_size, Findings& findings);

// -- open -------------------------------------------------------------------------------------------------------------

// `tables` must be the first tables_size bytes of the file, aligned to 16 bytes; they must not change as long as the
// view is used. `segments` must be the segments_size bytes of the file from segments_begin on. The functions check the
// rules that rules.yaml marks `decode`: structure, presence, versions, segments. They return nothing if a rule is
// broken.
std::optional<ProgramView> open_program(std::span<const std::byte> tables, std::span<const std::byte> segments,
                                        Findings& findings);
std::optional<DataView> open_data(std::span<const std::byte> tables, std::span<const std::byte> segments,
                                  Findings& findings);
std::optional<BundleView> open_bundle(std::span<const std::byte> tables, Findings& findings);

// -- check: rules that rules.yaml marks `validate` --------------------------------------------------------------------

// The other files that the rules of a file refer to. Requires that these files meet their own rules.
struct Related {
  std::span<const DataView> data = {};   // for a program, the data files that it is loaded with
  const ProgramView* program = nullptr;  // for a bundle, its program; for a payload, the outer program
  // For a payload: the named data of the outer program and its data files, and the plan and the index of the delegate.
  const NamedData* named = nullptr;
  const pte::ExecutionPlan* plan = nullptr;
  std::uint32_t delegate = 0;
};

// Each check takes memory from the workspace and gives it back. With a workspace that only counts bytes, a check checks
// no rule and counts the bytes that it needs. A check takes at most twice as many bytes of memory as the tables have,
// and time O(n log n), where n is the size that rule H15 bounds. The first function checks a program, including its
// data flow (format/flow.h), with the data files that it is loaded with.
void check(const ProgramView& program, std::span<const DataView> data, Workspace& workspace, Findings& findings);
void check(const DataView& data, Workspace& workspace, Findings& findings);
// Checks a bundle against the program in it. Requires a program that meets every rule.
void check(const BundleView& bundle, const ProgramView& program, Workspace& workspace, Findings& findings);

// Checks the memories that a client supplies for a method, by the rules M11 and T17. memories[i] is memory i + 1 of the
// plan. Requires a plan that meets every rule.
void check_memories(const pte::ExecutionPlan& plan, std::span<const std::span<std::byte>> memories, Findings& findings);

}  // namespace assay::format

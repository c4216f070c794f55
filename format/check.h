#pragma once

#include <optional>
#include <span>

#include "format/rule.h"
#include "format/view.h"
#include "format/workspace.h"

// The rules of files, without heap, exceptions or copies, in three phases: locate → open → check. Each phase reports
// everything that it finds. The caller skips a phase when the previous one found a fault. Every runtime calls these
// functions and checks no rule a second time.
namespace assay::format {

// -- locate: reads the first bytes of a file, so that no more is read of a file of the wrong kind ---------------------

inline constexpr std::size_t head_bytes = 64;  // or the whole file, if it is shorter

// Where the parts of a file are, by its header, as offsets in the file. The tables begin with the file.
struct Extent {
  std::uint64_t tables_size = 0;
  std::uint64_t segments_begin = 0, segments_size = 0;
};
// Rules H1, H2, H5 to H8, H13 · F1 to F3 · B1.
std::optional<Extent> locate_program(std::span<const std::byte> head, std::uint64_t file_size, Findings& findings);
std::optional<Extent> locate_data(std::span<const std::byte> head, std::uint64_t file_size, Findings& findings);
std::optional<Extent> locate_bundle(std::span<const std::byte> head, std::uint64_t file_size, Findings& findings);

// -- open -------------------------------------------------------------------------------------------------------------

// `tables` are the first tables_size bytes of the file, at a multiple of 16 in memory; nobody may change them from here
// on. `segments` are the bytes of the file that the header gives to segments. These functions check the rules that
// rules.yaml marks `decode`: structure, presence, versions, segments.
std::optional<ProgramView> open_program(std::span<const std::byte> tables, std::span<const std::byte> segments,
                                        Findings& findings);
std::optional<DataView> open_data(std::span<const std::byte> tables, std::span<const std::byte> segments,
                                  Findings& findings);
std::optional<BundleView> open_bundle(std::span<const std::byte> tables, Findings& findings);

// -- check: rules that rules.yaml marks `validate` --------------------------------------------------------------------

// Other files that the rules of a file refer to. They keep every rule of their own.
struct Related {
  std::span<const DataView> data = {};   // of a program: those that it is loaded with
  const ProgramView* program = nullptr;  // of a bundle: the program in it; of a payload: the program around it
};

// Each function takes memory from the workspace and gives it back; with a workspace that only counts, it does nothing
// else. It takes at most twice as many bytes as the tables have, and time n log n in the size that H15 bounds.
// Checks a program with the data files that it is loaded with, including its data flow (format/flow.h).
void check(const ProgramView& program, std::span<const DataView> data, Workspace& workspace, Findings& findings);
void check(const DataView& data, Workspace& workspace, Findings& findings);
// Checks a bundle against the program in it, which keeps every rule.
void check(const BundleView& bundle, const ProgramView& program, Workspace& workspace, Findings& findings);

// Checks the memories that a client supplies for a method's plan, from memory 1 on, by the rules M11 and T17. The plan
// keeps every rule.
void check_memories(const pte::ExecutionPlan& plan, std::span<const std::span<std::byte>> memories, Findings& findings);

}  // namespace assay::format

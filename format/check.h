#pragma once

#include <optional>
#include <span>

#include "format/rule.h"
#include "format/view.h"
#include "format/workspace.h"

// The rules of files, without heap, exceptions or copies: locate → open → check. Each phase reports all that it finds
// and is skipped when the one before it found something. Every runtime asks these; none asks a rule again.
namespace assay::format {

// -- locate: from the first bytes of a file, so that a file of the wrong kind is not read any further -----------------

inline constexpr std::size_t head_bytes = 64;  // or the whole file, where it is shorter

// Where the header says things are, as offsets in the file. The tables begin with the file.
struct Extent {
  std::uint64_t tables_size = 0;
  std::uint64_t segments_begin = 0, segments_size = 0;
};
// Rules H1, H2, H5 to H8, H13 · F1 to F3 · B1.
std::optional<Extent> locate_program(std::span<const std::byte> head, std::uint64_t file_size, Findings& findings);
std::optional<Extent> locate_data(std::span<const std::byte> head, std::uint64_t file_size, Findings& findings);
std::optional<Extent> locate_bundle(std::span<const std::byte> head, std::uint64_t file_size, Findings& findings);

// -- open: `tables` are the first tables_size bytes of the file, at a multiple of 16 in memory, which nobody changes
// from here on; `segments` are the bytes where the header says they are
// ---------------------------------------------------

// Rules that rules.yaml marks `decode`: structure, presence, versions, segments.
std::optional<ProgramView> open_program(std::span<const std::byte> tables, std::span<const std::byte> segments,
                                        Findings& findings);
std::optional<DataView> open_data(std::span<const std::byte> tables, std::span<const std::byte> segments,
                                  Findings& findings);
std::optional<BundleView> open_bundle(std::span<const std::byte> tables, Findings& findings);

// -- check: rules that rules.yaml marks `validate` --------------------------------------------------------------------

// Other files that the rules of a file are about, which keep every rule of their own.
struct Related {
  std::span<const DataView> data = {};   // that a program is to be loaded with
  const ProgramView* program = nullptr;  // the one in a bundle, or around a payload
};

// Each takes what it needs from the workspace and gives it back; with a workspace that only counts it does nothing
// else. What they take is at most twice as much as the tables, and their time n log n in what H15 bounds. A program
// with the data files that it is to be loaded with, data flow included (format/flow.h).
void check(const ProgramView& program, std::span<const DataView> data, Workspace& workspace, Findings& findings);
void check(const DataView& data, Workspace& workspace, Findings& findings);
// A bundle against the program it holds, which keeps every rule.
void check(const BundleView& bundle, const ProgramView& program, Workspace& workspace, Findings& findings);

// The memories that a client gives a method for its plan, from memory 1 on: rules M11 and T17. The plan keeps the
// rules.
void check_memories(const pte::ExecutionPlan& plan, std::span<const std::span<std::byte>> memories, Findings& findings);

}  // namespace assay::format

#pragma once

#include "format/check.h"
#include "format/names.h"
#include "format/schema.h"
#include "format/take.h"

// The table of the kinds of files. It has one row for each kind. A row also finds the files that lie inside a file of
// its kind. A new kind needs
// - its schema in spec/format, with the rules that its fields name in rules.yaml,
// - sources in this folder that define its row and check its rules (structure.h has the common part), and a line in
//   kinds.cpp,
// - its ContentWriters in conformance/inspect/describe.cpp, and
// - in conformance/corrupt: a complete file in complete.cpp, and a case for each of its rules.
// Tests loop over the rows and fail if a row lacks one of these.
namespace assay::format {

struct FileKind;

// A file inside another file, which is the outer file. The nested file is either a part of the outer file, such as the
// program of a bundle, or the payload of a delegate.
struct Nested {
  const FileKind* kind;                      // null if no row has the payload's backend
  std::span<const std::byte> bytes;          // the file's bytes, in the outer file or in one of its data files
  const Place& place;                        // its position in the outer file
  std::string_view backend = {};             // the backend of a payload, else empty
  const pte::ExecutionPlan* plan = nullptr;  // the plan of a payload's delegate
  std::uint32_t delegate = 0;                // the index of this delegate
  // If no named data have the key that the delegate states for its payload, `missing` is this key; else it is empty.
  std::string_view missing = {};
};
// Calls `take` for each nested file. `named` is the named data of the program and its data files. If `named` is null, a
// payload that is named data is reported as missing.
using EachNested = void (*)(const AnyView& file, const NamedData* named, Take<Nested> take);

// A number of a header: its name, its offset in the file and its number of bytes.
struct HeaderNumber {
  std::string_view name;
  std::uint8_t at, width;
};

// The fields of a header: an identifier and numbers. "segments" is the offset of the segments. "begin" is the offset of
// the tables; if no number has this name, the tables begin at offset 0. A header has either "size", the number of bytes
// of the tables, or "end", the offset of their end.
struct HeaderFields {
  std::string_view identifier;
  std::size_t identifier_at = 0;
  std::span<const HeaderNumber> numbers;  // empty if files of this kind have no header
  bool offsets_from_begin = false;        // whether offsets in the tables count from "begin", not from the file's begin
};

// A group of rules: those whose ids begin with `letter`.
struct Area {
  char letter;
  std::string_view name;  // the name in texts, such as "data files"
};

// A kind of file: a row of the table.
struct FileKind {
  std::string_view name;                // the name in commands and JSON, such as "data"
  std::string_view noun;                // the name in sentences, such as "data file"
  std::span<const Area> areas;          // the groups of rules that files of this kind must meet
  bool has_methods;                     // whether the file is a program or contains one
  std::string_view backend = {};        // the backend whose payloads are files of this kind, or empty
  const Schema& schema;                 // also states the identifier at byte 4 and the file name's extension
  const std::uint8_t* (*reflection)();  // the schema in flatc's binary form (.bfbs)
  std::span<const std::string_view> other_identifiers = {};  // that a file may have at byte 4 instead of the schema's
  HeaderFields header = {};

  // The functions for the phases that format/check.h defines.
  std::optional<Extent> (*locate)(std::span<const std::byte> head, std::uint64_t file_size, Findings& findings);
  std::optional<AnyView> (*open)(std::span<const std::byte> tables, std::span<const std::byte> segments,
                                 Findings& findings);
  void (*check)(const AnyView& file, const Related& related, Workspace& workspace, Findings& findings);
  // Reports the rules marked `lint` that the file breaks. Requires a file that meets its other rules.
  void (*lint)(const AnyView& file, const Related& related, Workspace& workspace,
               Findings& lints) = [](const AnyView&, const Related&, Workspace&, Findings&) {};
  // Enumerates the parts of a file. Requires that `open` succeeded. A file meets its rules only if its parts meet their
  // rules.
  EachNested parts = [](const AnyView&, const NamedData*, Take<Nested>) {};
  // Enumerates the payloads in a file. Requires a file that meets its rules. A payload's own rules are checked when the
  // payload is loaded.
  EachNested payloads = [](const AnyView&, const NamedData*, Take<Nested>) {};
};

std::span<const FileKind* const> file_kinds();  // all rows of the table
extern const FileKind program_kind, data_kind, bundle_kind, xnnpack_kind;

// Returns the row with an identifier that equals the four characters at byte 4 of `head`, or null if no row has them.
const FileKind* file_kind(std::span<const std::byte> head);
// Returns the row whose payloads belong to this backend, or null if no row has this backend.
const FileKind* kind_of_payload(std::string_view backend);

// An entry of a table that has values for some kinds of files. Folders that use format/ have such tables, for example a
// table of functions that describe files.
template <class T>
struct OfKind {
  const FileKind* kind;
  T value;
};
// Returns the entry's value, or null if the table has no entry for this kind.
template <class T, std::size_t N>
const T* find_of_kind(const OfKind<T> (&entries)[N], const FileKind& kind) {
  for (const OfKind<T>& entry : entries)
    if (entry.kind == &kind) return &entry.value;
  return nullptr;
}

}  // namespace assay::format

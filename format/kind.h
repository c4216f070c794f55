#pragma once

#include "format/check.h"
#include "format/names.h"
#include "format/schema.h"
#include "format/take.h"

// The kinds of files, a row each, and the files that lie inside other files. A new kind is
// - its schema in spec/format, with the rules that its fields name in rules.yaml,
// - sources in this folder that define its row and check its rules (structure.h has the common part), and a line in
//   kinds.cpp,
// - its ContentWriters in conformance/inspect/describe.cpp,
// - in conformance/corrupt: a complete file in complete.cpp, and a case for each of its rules.
// Tests loop over the rows and fail where one of these is missing.
namespace assay::format {

struct FileKind;

// A file inside another: a part of it, such as the program of a bundle, or the payload of a delegate.
struct Nested {
  const FileKind* kind;              // null: no row has the payload's backend
  std::span<const std::byte> bytes;  // in the outer file, or in one of its data files
  const Place& place;                // in the outer file
  std::string_view backend = {};     // of a payload
  std::string_view missing = {};     // the key of the named data that should be the payload, but do not exist
};
// `named` are the named data that a program sees; null: none.
using EachNested = void (*)(const AnyView& file, const NamedData* named, Take<Nested> take);

// The fields of a header at byte 8: an identifier, the header's length, and 64-bit numbers of these names. "segments"
// is the offset of the segments. The tables begin at "begin", or with the file, and have "size" bytes, or end at "end".
struct HeaderFields {
  std::string_view identifier;
  std::span<const std::string_view> numbers;  // empty: files of this kind have no header
};

// The rules whose ids begin with a letter.
struct Area {
  char letter;
  std::string_view name;  // "data files"
};

// A row of the table.
struct FileKind {
  std::string_view name;                // "data", as commands and JSON call the kind
  std::string_view noun;                // "data file"
  std::span<const Area> areas;          // of the rules that concern such a file
  bool has_methods;                     // the file is or holds a program
  std::string_view backend = {};        // the payloads of this backend are files of this kind
  const Schema& schema;                 // with the identifier at byte 4 and the extension
  const std::uint8_t* (*reflection)();  // the schema as flatc writes it for reflection
  HeaderFields header = {};

  // The phases of format/check.h.
  std::optional<Extent> (*locate)(std::span<const std::byte> head, std::uint64_t file_size, Findings& findings);
  std::optional<AnyView> (*open)(std::span<const std::byte> tables, std::span<const std::byte> segments,
                                 Findings& findings);
  void (*check)(const AnyView& file, const Related& related, Workspace& workspace, Findings& findings);
  // Tells of each part of a file that opens. A file keeps its rules only if its parts keep theirs.
  EachNested parts = [](const AnyView&, const NamedData*, Take<Nested>) {};
  // Tells of each payload in a file that keeps its rules. The rules of a payload are checked when it is loaded.
  EachNested payloads = [](const AnyView&, const NamedData*, Take<Nested>) {};
};

std::span<const FileKind* const> file_kinds();  // all rows
extern const FileKind program_kind, data_kind, bundle_kind;

const FileKind* file_kind(std::span<const std::byte> head);  // by the identifier at byte 4; null: none has it
const FileKind* kind_of_payload(std::string_view backend);   // null: no row has this backend

// An entry of a table in a room above, such as a function that describes files of this kind.
template <class T>
struct OfKind {
  const FileKind* kind;
  T value;
};
template <class T, std::size_t N>
const T* find_of_kind(const OfKind<T> (&entries)[N], const FileKind& kind) {  // null: it has no entry
  for (const OfKind<T>& entry : entries)
    if (entry.kind == &kind) return &entry.value;
  return nullptr;
}

}  // namespace assay::format

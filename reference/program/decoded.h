#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bundled_program_objects_generated.h"
#include "flat_tensor_objects_generated.h"
#include "program_objects_generated.h"
#include "reference/program/program.h"
#include "xnnpack_payload_objects_generated.h"

// Files as structures that own their contents, for code that builds or changes files.
namespace assay {

// The contents of a .pte file. spec/format/program.fbs defines the tables. `segments` holds the bytes of each segment.
// The list tables.segments stays empty.
struct Program {
  pte::ProgramT tables;
  std::vector<Bytes> segments;

  bool operator==(const Program&) const = default;
};

// The contents of a .ptd file, in the same form as Program.
struct DataFile {
  ptd::FlatTensorT tables;
  std::vector<Bytes> segments;

  bool operator==(const DataFile&) const = default;
};

// The contents of a .bpte file. Its field `program` has the bytes of a .pte file.
using BundledProgram = bpte::BundledProgramT;

// The payload of an XNNPACK delegate. spec/format/xnnpack_payload.fbs defines the graph. `constants` is the region of
// constants, which is empty if the payload has no header.
struct XnnpackPayload {
  xnn::GraphT graph;
  Bytes constants = {};

  bool operator==(const XnnpackPayload&) const = default;
};

// Each function decodes a file. It checks the same rules as the function that opens such a file.
Program decoded(const ProgramFile& file);
pte::ProgramT decoded_tables(const ProgramFile& file);  // without the list of segments
Result<Program> decode_program(std::span<const std::byte> file);
Result<DataFile> decode_data_file(std::span<const std::byte> file);
Result<BundledProgram> decode_bundle(std::span<const std::byte> file);
Result<XnnpackPayload> decode_xnnpack(std::span<const std::byte> payload);

// Each function returns the bytes of a file. Equal programs give equal bytes, and decoding these bytes gives the same
// program. Segments begin at multiples of `alignment` bytes. `defaults` states whether numbers that equal the default
// of their field are written.
Bytes encode(const Program& program, std::size_t alignment = 128, bool defaults = false);
// The same file for code that writes the segments of a program where they belong, given their sizes.
struct EncodedHead {
  Bytes bytes;                        // the file up to its segments
  std::vector<std::size_t> segments;  // the offset of each segment in the file
  std::size_t size;                   // of the file
};
EncodedHead encode_head(const pte::ProgramT& tables, std::span<const std::size_t> segments, std::size_t alignment = 128,
                        bool defaults = false);
Bytes encode(const DataFile& file, std::size_t alignment = 128, bool defaults = false);
Bytes encode(const BundledProgram& bundle, bool defaults = false);
Bytes encode(const XnnpackPayload& payload, bool defaults = false);
// A payload that has no header, and consists only of tables.
Bytes encode_tables(const xnn::GraphT& graph, bool defaults = false);

}  // namespace assay

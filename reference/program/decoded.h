#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bundled_program_objects_generated.h"
#include "flat_tensor_objects_generated.h"
#include "program_objects_generated.h"
#include "reference/program/program.h"

// Programs to build and to change, as structures that own what a file says.
namespace assay {

// What a .pte file says. The tables are those of spec/format/program.fbs; the bytes behind them stand in `segments`, so
// that tables.segments is empty.
struct Program {
  pte::ProgramT tables;
  std::vector<Bytes> segments;

  bool operator==(const Program&) const = default;
};

// What a .ptd file says, likewise.
struct DataFile {
  ptd::FlatTensorT tables;
  std::vector<Bytes> segments;

  bool operator==(const DataFile&) const = default;
};

// What a .bpte file says. tables.program are the bytes of a .pte file.
using BundledProgram = bpte::BundledProgramT;

// From bytes, by the same rules as open_program and its like.
Result<Program> decode_program(std::span<const std::byte> file);
Result<DataFile> decode_data_file(std::span<const std::byte> file);
Result<BundledProgram> decode_bundle(std::span<const std::byte> file);

// To bytes. The same program gives the same bytes; decoding them gives the same program. Segments start at multiples of
// `alignment`. With `defaults` numbers are written, too, that are their field's default.
Bytes encode(const Program& program, std::size_t alignment = 128, bool defaults = false);
Bytes encode(const DataFile& file, std::size_t alignment = 128, bool defaults = false);
Bytes encode(const BundledProgram& bundle, bool defaults = false);

}  // namespace assay

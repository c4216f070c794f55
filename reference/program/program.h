#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "bundled_program_generated.h"
#include "flat_tensor_generated.h"
#include "program_generated.h"
#include "reference/program/rule.h"

// Programs as bytes and as what they say: bytes → Program (decoded) → ValidProgram (every rule holds).
namespace assay {

using Bytes = std::vector<std::byte>;

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

// From bytes. Structure, the header, the version and presence of what must be there are checked: the rules that
// spec/format/rules.yaml marks `decode`, and the presence of what others are about.
Result<Program> decode_program(std::span<const std::byte> file);
Result<DataFile> decode_data_file(std::span<const std::byte> file);
Result<BundledProgram> decode_bundle(std::span<const std::byte> file);

// To bytes. The same program gives the same bytes; decoding them gives the same program. Segments start at multiples of
// `alignment`.
Bytes encode(const Program& program, std::size_t alignment = 128);
Bytes encode(const DataFile& file, std::size_t alignment = 128);
Bytes encode(const BundledProgram& bundle);

enum class FileKind : std::uint8_t { program, data, bundle, unknown };
FileKind file_kind(std::span<const std::byte> file);  // by its identifier

// A program that keeps every rule which protects its execution; the later phases check none of them again.
class ValidProgram {
 public:
  const Program& operator*() const { return program_; }
  const Program* operator->() const { return &program_; }
  const pte::ExecutionPlanT* plan(std::string_view name) const;  // null: no such method

 private:
  explicit ValidProgram(Program program) : program_(std::move(program)) {}
  friend Result<ValidProgram> validate(Program, std::span<const DataFile>);
  Program program_;
};

// Every rule that a program by itself keeps, and those about the data files that it is to be loaded with.
Result<ValidProgram> validate(Program program, std::span<const DataFile> data = {});
std::vector<Fault> faults_of(const Program& program, std::span<const DataFile> data = {});
std::vector<Fault> faults_of(const DataFile& file);
// A bundle against the program it holds.
std::vector<Fault> faults_of(const BundledProgram& bundle, const ValidProgram& program);

// Tensors whose bytes are asked for by name, in a data file or among the program's own named data.
inline std::uint64_t planned_offset(const pte::AllocationDetailsT& a) {
  return std::uint64_t{a.memory_offset_high} << 32 | a.memory_offset_low;
}
inline bool is_external(const pte::TensorT& t) {
  return t.extra_tensor_info && t.extra_tensor_info->location == pte::TensorDataLocation::EXTERNAL;
}

// "aten::add.out".
inline std::string operator_name(const pte::OperatorT& op) {
  return op.overload.empty() ? op.name : op.name + "." + op.overload;
}

bool uses_constant_buffer(const Program& program);  // as old programs do; else constants are in constant_segment
// The bytes of the constant with this data_buffer_idx, from where it starts to the end of what holds it: its size is
// that of the tensor. Out of range: none.
std::optional<std::span<const std::byte>> constant_data(const Program& program, std::uint32_t index);
// Likewise of a mutable buffer's initial value.
std::optional<std::span<const std::byte>> initial_data(const Program& program, std::uint32_t index);
std::optional<std::span<const std::byte>> named_data(const Program& program, std::string_view key);
const ptd::NamedDataT* find_named(const DataFile& file, std::string_view key);  // null: no such key

}  // namespace assay

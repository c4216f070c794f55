#include <algorithm>
#include <cstring>

#include "conformance/corrupt/cases.h"
#include "format/header.h"
#include "reference/program/decoded.h"

// Changes of the sample's bytes: the rules of headers, structure and segments.
namespace assay::corrupt {
namespace {

using format::load;

template <class T>
Bytes with(Bytes file, std::size_t at, T value) {
  std::memcpy(&file[at], &value, sizeof value);
  return file;
}
template <class T>
Bytes plus(const Bytes& file, std::size_t at, T more) {
  return with(file, at, load<T>(file, at) + more);
}

constexpr std::size_t length_at = 12, end_at = 16, base_at = 24, size_at = 32;  // offsets in the header of a program
constexpr std::size_t data_begin_at = 16, data_tables_at = 24, data_base_at = 32,
                      data_size_at = 40;  // offsets in the header of a data file

Sample plain_sample() {
  Sample s;
  s.make_plain();
  return s;
}
Bytes program_file() { return encode(plain_sample().program); }
Bytes data_file() { return encode(Sample().data); }
Bytes bundle_file() { return Sample().encoded_bundle(); }

// The smallest program. Our own encoder would also write empty lists.
Bytes small_file(std::size_t size) {
  flatbuffers::FlatBufferBuilder b;
  const auto plans = b.CreateVector(std::vector<flatbuffers::Offset<pte::ExecutionPlan>>());
  pte::FinishProgramBuffer(b, pte::CreateProgram(b, 0, plans));
  const auto bytes = std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize()));
  Bytes file(bytes.begin(), bytes.end());
  file.resize(std::max(file.size(), size));
  return file;
}

// The same with a header that states the end of the tables: `beyond` bytes behind the end of the file. The file has no
// segments.
Bytes small_file_ending(std::uint64_t beyond) {
  Bytes file = small_file(64);
  constexpr std::uint32_t more = sizeof(format::ProgramHeader);
  file.insert(file.begin() + format::header_at, more, std::byte{0});
  const format::ProgramHeader header{.identifier = format::program_header_id, .fields = {file.size() + beyond, 0, 0}};
  return with(plus(file, 0, more), format::header_at, header);
}

// A header with 16 more bytes; the argument is the last one.
Bytes longer_header(std::byte reserved) {
  Bytes file = program_file();
  file.insert(file.begin() + 40, 16, std::byte{0});
  file[55] = reserved;
  file = with(plus(file, 0, std::uint32_t{16}), length_at, std::uint32_t{48});
  return plus(plus(file, end_at, std::uint64_t{16}), base_at, std::uint64_t{16});
}

// Entries that share a key of 4096 characters.
Bytes shared_key(int entries) {
  flatbuffers::FlatBufferBuilder b;
  const auto key = b.CreateString(std::string(4096, 'k'));
  std::vector<flatbuffers::Offset<pte::NamedData>> named;
  for (int i = 0; i < entries; ++i) named.push_back(pte::CreateNamedData(b, key, 1));
  const auto plans = b.CreateVector(std::vector<flatbuffers::Offset<pte::ExecutionPlan>>());
  pte::FinishProgramBuffer(b, pte::CreateProgram(b, 0, plans, 0, 0, 0, 0, 0, b.CreateVector(named)));
  const auto bytes = std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize()));
  return {bytes.begin(), bytes.end()};
}

template <class Table>
void set(const Table& table, flatbuffers::voffset_t field, std::uint64_t value) {
  reinterpret_cast<flatbuffers::Table*>(const_cast<Table*>(&table))->SetField<std::uint64_t>(field, value, 0);
}
const pte::DataSegment& last_segment(const Bytes& file) {
  const auto* all = pte::GetProgram(file.data())->segments();
  return *all->Get(all->size() - 1);
}

Bytes last_segment_size(std::int64_t more) {
  Bytes file = program_file();
  set(last_segment(file), pte::DataSegment::VT_SIZE, static_cast<std::uint64_t>(3 + more));
  return file;
}

// Named data without bytes that begin at the largest offset of 64 bits, or `more` bytes later.
Bytes last_segment_begin(std::uint64_t more) {
  Sample s = plain_sample();
  s.program.segments.back().clear();
  Bytes file = encode(s.program);
  set(last_segment(file), pte::DataSegment::VT_OFFSET, ~load<std::uint64_t>(file, base_at) + more);
  return file;
}

// Likewise, a constant that no tensor has.
Bytes last_constant_begin(std::uint64_t more) {
  Sample s = plain_sample();
  s.constant_offsets().push_back(s.constant_offsets().back());
  Bytes file = encode(s.program);
  const auto& program = *pte::GetProgram(file.data());
  const auto& constants = *program.constant_segment();
  const std::uint64_t segment = program.segments()->Get(constants.segment_index())->offset();
  const_cast<flatbuffers::Vector<std::uint64_t>*>(constants.offsets())
      ->Mutate(2, ~(load<std::uint64_t>(file, base_at) + segment) + more);
  return file;
}

Bytes bool_item(std::uint8_t item) {
  const Sample s = plain_sample();
  Bytes file = encode(s.program);
  const auto* value = pte::GetProgram(file.data())
                          ->execution_plan()
                          ->Get(0)
                          ->values()
                          ->Get(static_cast<flatbuffers::uoffset_t>(s.at.bools));
  const_cast<std::uint8_t*>(value->val_as_BoolList()->items()->Data())[1] = item;
  return file;
}

}  // namespace

std::vector<ByteCase> byte_cases() {
  const Bytes p = program_file(), d = data_file(), b = bundle_file();
  const auto root = load<std::uint32_t>(p, 0);
  const std::uint64_t base = load<std::uint64_t>(p, base_at);
  return {
      {"H1", small_file(64), small_file(63)},
      {"H2", p, with(p, 4, 'X')},
      {"H5", with(p, length_at, std::uint32_t{24}), with(p, length_at, std::uint32_t{23})},
      {"H5", p, with(p, length_at, std::uint32_t{0xffffffff})},
      {"H6", with(p, length_at, std::uint32_t{24}), with(p, length_at, std::uint32_t{25})},
      {"H6", p, with(p, length_at, std::uint32_t{31})},
      {"H7", with(p, size_at, std::uint64_t{0}), plus(p, size_at, std::uint64_t{1})},
      {"H7", p, with(p, size_at, ~std::uint64_t{0})},
      {"H8", with(p, end_at, base), with(p, end_at, base + 1)},
      {"H8", p, with(p, end_at, std::uint64_t{39})},
      {"H8", small_file_ending(0), small_file_ending(1)},
      {"H9", longer_header(std::byte{0}), longer_header(std::byte{1})},
      {"H11", p, with(p, 0, std::uint32_t{7})},
      {"H11", p, with(p, 0, static_cast<std::uint32_t>(base) - 3)},
      {"H12", p, with(p, root, 0x7fffffff)},
      {"H15", shared_key(200), shared_key(1200)},
      {"G6", last_constant_begin(0), last_constant_begin(1)},
      {"G7", last_segment_size(0), last_segment_size(1)},
      {"G13", last_segment_begin(0), last_segment_begin(1)},
      {"G17", small_file(64), with(p, base_at, std::uint64_t{0})},
      {"V5", bool_item(1), bool_item(2)},
      {"F1", d, with(d, 8, 'X')},
      {"F1", d, with(d, length_at, std::uint32_t{39})},
      {"F2", with(d, data_size_at, std::uint64_t{0}), plus(d, data_size_at, std::uint64_t{1})},
      {"F2", d, with(d, data_base_at, ~std::uint64_t{0})},
      {"F3", d, with(d, data_begin_at, std::uint64_t{47})},
      {"F3", d, with(d, data_tables_at, ~std::uint64_t{0})},
      {"F5", d, with(d, load<std::uint32_t>(d, 0), 0x7fffffff)},
      {"B1", b, with(b, load<std::uint32_t>(b, 0), 0x7fffffff)},
  };
}

}  // namespace assay::corrupt

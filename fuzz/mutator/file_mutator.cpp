#include "fuzz/mutator/file_mutator.h"

#include <cstring>

#include "bundled_program_bfbs_generated.h"
#include "flat_tensor_bfbs_generated.h"
#include "fuzz/attached.h"
#include "fuzz/mutator/bytes.h"
#include "fuzz/mutator/instruction_mutator.h"
#include "fuzz/mutator/tree_mutator.h"
#include "program_bfbs_generated.h"
#include "reference/program/decoded.h"
#include "xnnpack_payload_bfbs_generated.h"

namespace assay::fuzz {
namespace {

std::span<const std::byte> bytes_of(const auto& text) { return std::as_bytes(std::span(text)); }
std::string to_string(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// -- tables -------------------------------------------------------------------------------------------------------

template <class Tables>
struct Schema;
template <>
struct Schema<pte::Program> {
  using Binary = pte::ProgramBinarySchema;
};
template <>
struct Schema<ptd::FlatTensor> {
  using Binary = ptd::FlatTensorBinarySchema;
};
template <>
struct Schema<bpte::BundledProgram> {
  using Binary = bpte::BundledProgramBinarySchema;
};
template <>
struct Schema<xnn::Graph> {
  using Binary = xnn::GraphBinarySchema;
};

// Flatc's objects converted to a tree.
template <class Tables>
Table tree_of(const typename Tables::NativeTableType& tables) {
  flatbuffers::FlatBufferBuilder b;
  b.Finish(Tables::Pack(b, &tables));
  return read(*reflection::GetSchema(Schema<Tables>::Binary::data()),
              *flatbuffers::GetRoot<flatbuffers::Table>(b.GetBufferPointer()));
}
template <class Tables>
typename Tables::NativeTableType objects_of(const Table& tree) {
  flatbuffers::FlatBufferBuilder b;
  write(*reflection::GetSchema(Schema<Tables>::Binary::data()), tree, b);
  typename Tables::NativeTableType tables;
  flatbuffers::GetRoot<Tables>(b.GetBufferPointer())->UnPackTo(&tables);
  return tables;
}

// Half of the copied parts come from `other`, which is read only if it is needed.
template <class Tables, class Other>
void mutate_tables(typename Tables::NativeTableType& tables, Other other, Random& random) {
  Table root = tree_of<Tables>(tables);
  std::optional<Table> second;
  if (random.one_in(2)) second = other();
  for (std::size_t n = 1 + random.few(6); n > 0; --n) mutate(root, second ? *second : root, random);
  tables = objects_of<Tables>(root);
}

// -- segments -----------------------------------------------------------------------------------------------------

// While tables are mutated, the table of a segment holds the index and the size of the segment. An index counts the
// segments of the file first, then the segments of `other`.
template <class Segment>
std::vector<std::unique_ptr<Segment>> stand_ins(const std::vector<Bytes>& segments, std::size_t first) {
  std::vector<std::unique_ptr<Segment>> all;
  for (const Bytes& s : segments) {
    all.push_back(std::make_unique<Segment>());
    all.back()->offset = first++, all.back()->size = s.size();
  }
  return all;
}
template <class Segment>
std::vector<Bytes> segments_named_by(const std::vector<std::unique_ptr<Segment>>& tables, const std::vector<Bytes>& a,
                                     const std::vector<Bytes>& b) {
  constexpr std::size_t most = 1 << 16;
  std::vector<Bytes> all;
  for (const auto& t : tables) {
    all.push_back(t->offset < a.size()              ? a[t->offset]
                  : t->offset - a.size() < b.size() ? b[t->offset - a.size()]
                                                    : Bytes());
    if (t->size != all.back().size() && t->size <= most) all.back().resize(t->size);
  }
  return all;
}

template <class Tables, class File>
void mutate_with_segments(File& file, const std::string& other, Result<File> (*decode)(std::span<const std::byte>),
                          Random& random) {
  using Segment = typename decltype(file.tables.segments)::value_type::element_type;
  std::vector<Bytes> more;
  file.tables.segments = stand_ins<Segment>(file.segments, 0);
  const auto second = [&]() -> std::optional<Table> {
    auto decoded = decode(bytes_of(other));
    if (!decoded) return std::nullopt;
    more = std::move(decoded->segments);
    decoded->tables.segments = stand_ins<Segment>(more, file.segments.size());
    return tree_of<Tables>(decoded->tables);
  };
  mutate_tables<Tables>(file.tables, second, random);
  file.segments = segments_named_by(file.tables.segments, file.segments, more);
  file.tables.segments.clear();
}

void mutate_segment(std::vector<Bytes>& segments, Random& random) {
  if (segments.empty()) return;
  Bytes& segment = random.of(segments);
  std::string bytes = to_string(segment);
  mutate_bytes(bytes, random);
  segment.assign(bytes_of(bytes).begin(), bytes_of(bytes).end());
}

// -- files --------------------------------------------------------------------------------------------------------

void change(Program& program, const std::string& other, Random& random) {
  if (random.one_in(16)) mutate_segment(program.segments, random);
  if (random.one_in(3) && !program.tables.execution_plan.empty())
    for (std::size_t n = 1 + random.few(3); n > 0; --n)
      mutate_instructions(*random.of(program.tables.execution_plan), random);
  else
    mutate_with_segments<pte::Program>(program, other, decode_program, random);
}

void change(DataFile& file, const std::string& other, Random& random) {
  if (random.one_in(4)) return mutate_segment(file.segments, random);
  mutate_with_segments<ptd::FlatTensor>(file, other, decode_data_file, random);
}

void change(BundledProgram& bundle, const std::string& other, Random& random) {
  const auto second = [&]() -> std::optional<Table> {
    const auto decoded = decode_bundle(bytes_of(other));
    return decoded ? std::optional(tree_of<bpte::BundledProgram>(*decoded)) : std::nullopt;
  };
  if (!random.one_in(3)) return mutate_tables<bpte::BundledProgram>(bundle, second, random);
  std::string program = to_string(bytes_of(bundle.program));
  mutate_file(program, other, random);
  bundle.program.assign(program.begin(), program.end());
}

void change(XnnpackPayload& payload, const std::string& other, Random& random) {
  const auto second = [&]() -> std::optional<Table> {
    const auto decoded = decode_xnnpack(bytes_of(other));
    return decoded ? std::optional(tree_of<xnn::Graph>(decoded->graph)) : std::nullopt;
  };
  mutate_tables<xnn::Graph>(payload.graph, second, random);
}

// Changes a field of the header: a number at a multiple of 4 near the beginning of the file.
void mutate_header(std::string& file, Random& random) {
  const std::size_t at = 4 * random.below(14);
  if (file.size() < at + 8) return;
  std::int64_t n = 0;
  std::memcpy(&n, file.data() + at, 8);
  n = another_number(n, random);
  std::memcpy(file.data() + at, &n, random.one_in(2) ? 4 : 8);
}

template <class File>
bool mutate_decoded(std::string& file, Result<File> decoded, const std::string& other, Random& random) {
  if (!decoded) return false;
  change(*decoded, other, random);
  file = to_string(encode(*decoded));
  return true;
}

}  // namespace

void mutate_file(std::string& file, const std::string& other, Random& random) {
  if (random.one_in(24)) return mutate_header(file, random);
  if (random.one_in(24)) return mutate_bytes(file, random);
  auto [first, attached] = split(bytes_of(file));
  std::string main = to_string(first), data = to_string(attached);
  std::string& one = !data.empty() && random.one_in(4) ? data : main;
  if (!mutate_decoded(one, decode_program(bytes_of(one)), other, random) &&
      !mutate_decoded(one, decode_data_file(bytes_of(one)), other, random) &&
      !mutate_decoded(one, decode_bundle(bytes_of(one)), other, random) &&
      !mutate_decoded(one, decode_xnnpack(bytes_of(one)), other, random))
    mutate_bytes(one, random);
  file = attach(main, data);
}

}  // namespace assay::fuzz

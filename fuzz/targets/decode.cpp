#include "conformance/inspect/check.h"
#include "fuzz/attached.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"
#include "reference/program/decoded.h"

// What decodes is decoded again as the same after it was encoded, and the same is found wrong with it.
namespace assay::fuzz {
namespace {

std::string ids(const CheckReport& report) {
  std::string all;
  for (const Fault& f : report.faults.first) all += text(f.rule, ' ', f.place, '\n');
  return all;
}

// A file's tables as flatc packs them: bytes are compared, since a NaN of a program equals nothing.
template <class Tables>
std::string packed(const typename Tables::NativeTableType& tables) {
  flatbuffers::FlatBufferBuilder b;
  b.Finish(Tables::Pack(b, &tables));
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

bool equal(const Program& a, const Program& b) {
  return packed<pte::Program>(a.tables) == packed<pte::Program>(b.tables) && a.segments == b.segments;
}
bool equal(const DataFile& a, const DataFile& b) {
  return packed<ptd::FlatTensor>(a.tables) == packed<ptd::FlatTensor>(b.tables) && a.segments == b.segments;
}
bool equal(const BundledProgram& a, const BundledProgram& b) {
  return packed<bpte::BundledProgram>(a) == packed<bpte::BundledProgram>(b);
}

template <class File>
void check_encoding(Input file, const Result<File>& decoded, auto decode) {
  if (!decoded) return must(!decoded.faults.empty(), "identity", "a file is refused without a reason");
  const Bytes bytes = encode(*decoded);
  const auto again = decode(bytes);
  must(again && equal(*decoded, *again), "identity", "a file that was decoded and encoded decodes to other contents");
  const std::string before = ids(check(borrowed(file))), after = ids(check(borrowed(bytes)));
  must(before == after, "verdict", "before encoding the file breaks\n", before, "but after encoding it breaks\n",
       after);
}

}  // namespace

void attack_decode(Input input) {
  const Input file = split(input).first;
  check_encoding(file, decode_program(file), decode_program);
  check_encoding(file, decode_data_file(file), decode_data_file);
  check_encoding(file, decode_bundle(file), decode_bundle);
}

}  // namespace assay::fuzz

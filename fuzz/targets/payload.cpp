#include "conformance/inspect/describe_payload.h"
#include "fuzz/oracle.h"
#include "fuzz/printed.h"
#include "fuzz/target.h"
#include "reference/program/decoded.h"

// Checks, describes, decodes and encodes a payload of an XNNPACK delegate. An encoded payload must decode to the same
// graph, and must break the same rules.
namespace assay::fuzz {
namespace {

std::string ids(const std::vector<Fault>& faults) {
  std::string all;
  for (const Fault& f : faults) all += concat(f.rule, ' ', f.place, '\n');
  return all;
}

// The graph as flatc packs it: bytes are compared, since a NaN equals nothing.
std::string packed(const xnn::GraphT& graph) {
  const Bytes bytes = encode_tables(graph);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void attack_payload(Input input) {
  const auto decoded = decode_xnnpack(input);
  if (!decoded) return must(!decoded.faults.empty(), "identity", "a payload is refused without a reason");
  const Bytes bytes = encode(*decoded);
  const auto again = decode_xnnpack(bytes);
  must(again && packed(decoded->graph) == packed(again->graph) && decoded->constants == again->constants, "identity",
       "a payload that was decoded and encoded decodes to other contents");
  const std::string before = ids(faults_of(borrowed(input), format::xnnpack_kind)),
                    after = ids(faults_of(borrowed(bytes), format::xnnpack_kind));
  must(before == after, "verdict", "before encoding the payload breaks\n", before, "but after encoding it breaks\n",
       after);
  printed(input.size(), [&](text::Output& out) {
    const auto opened = open_as(borrowed(input), format::xnnpack_kind);
    inspect::write_graph(format::xnnpack::PayloadView(opened->view()), "", out);
  });
}

}  // namespace assay::fuzz

#include "conformance/reproduce/call_program.h"
#include "conformance/reproduce/kinds.h"
#include "conformance/text/call_json.h"

// The kinds that consist of data only.
namespace assay {
std::string bpte_reproduction(const Reproduced& call) {
  const Bytes bytes = encode(bundle_of_call(call.op(), call.host.arguments));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string json_reproduction(const Reproduced& call) {
  const std::string id = to_text(call.c.id);
  const Json request = request_json(id, call.op(), call.host.arguments);
  const Json answer = answer_json(id, call.host.expected.answer, std::span(call.host.arguments).last(call.op().outs()));
  return line_of({{"request", request}, {"answer", answer}}) + '\n';
}

}  // namespace assay

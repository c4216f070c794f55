#include "conformance/files/same.h"
#include "conformance/text/arguments.h"
#include "conformance/text/call_json.h"
#include "conformance/text/printable.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"

// A call of an operator, as a request in JSON: it changes nothing but its outs, and these only when it is not refused;
// the same call gives the same.
namespace assay::fuzz {
namespace {

void check_same(std::string_view oracle, std::span<const Value> a, std::span<const Value> b, const std::string& why) {
  for (std::size_t i = 0; i < a.size(); ++i) must(same(a[i], b[i]), oracle, "argument ", i, " differs ", why);
}

Answer measured_call(const CallRequest& request, std::vector<Value>& arguments, std::size_t size) {
  const Measured measured(heap_for(size), most_seconds);
  return call(*request.op, arguments, Budget(limits));
}

void attack(const CallRequest& request, std::size_t size) {
  std::vector<Value> arguments = request.arguments, again = request.arguments;
  const Answer answer = measured_call(request, arguments, size);
  check_text(printable(answer.message), limits.output);
  const bool refused = answer.outcome != Outcome::ok;
  must(refused == !answer.rule.empty(), "refusal", "the outcome is ", name(answer.outcome), ", but the rule \"",
       answer.rule, '"');
  const std::size_t kept = refused ? arguments.size() : input_count(*request.op);
  check_same("refusal", std::span(arguments).first(kept), std::span(request.arguments).first(kept),
             refused ? "after the call was refused by " + answer.rule : "after the call");
  measured_call(request, again, size);
  check_same("fresh", arguments, again, "in a second, equal call");
}

}  // namespace

void attack_call(Input input) {
  try {
    const CallRequest request = request_in(parse_json({reinterpret_cast<const char*>(input.data()), input.size()}));
    attack(request, input.size());
  } catch (const Fault&) {  // no call can be made of it
  }
}

}  // namespace assay::fuzz

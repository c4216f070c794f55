#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "conformance/text/json.h"
#include "reference/call.h"

// The reference behind a stream of JSON lines; spec/call.md defines both sides.
namespace assay {

// What a request asks for, within what is left of the budget. Throws malformed and unsupported Faults.
struct CallRequest {
  const Operator* op;
  std::vector<Value> arguments;  // out arguments included
  Budget budget;
};
CallRequest request_in(const Json& request, const Budget& budget = Budget());

// The request of a call; of the tensors among its out arguments only what they are is asked.
Json request_json(const Json& id, const Operator& op, std::span<const Value> arguments);

// The answer object; `outs` are the out arguments after the call.
Json answer_json(const Json& id, const Answer& answer, std::span<const Value> outs);

// The answer to a request of which no call could be made.
inline Answer answer_of(const Fault& fault) { return {fault.outcome, fault.rule, fault.message, {}}; }

// The answer to one request, a line without its end, for which `most` may be used, or less if the request says so.
// Never throws: whatever is wrong with the request is the answer.
std::string answer_line(std::string_view line, const Budget::Limits& most = {});

// Answers every line of `requests` with one line, and flushes it before the next is read. Of a line that is too long
// for its budget no more is kept. Throws a Fault of limits.work where one does not end.
void answer_lines(std::istream& requests, std::ostream& answers, const Budget::Limits& most = {});

}  // namespace assay

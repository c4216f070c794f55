#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "conformance/text/json.h"
#include "reference/call.h"

// The reference behind a stream of JSON lines; spec/call.md defines both sides.
namespace assay {

// What a request asks for. Throws malformed and unsupported Faults.
struct CallRequest {
  const Operator* op;
  std::vector<Value> arguments;  // out arguments included
  Budget budget;
};
CallRequest request_in(const Json& request);

// The answer object; `outs` are the out arguments after the call.
Json answer_json(const Json& id, const Answer& answer, std::span<const Value> outs);

// The answer to a request of which no call could be made.
inline Answer answer_of(const Fault& fault) { return {fault.outcome, fault.rule, fault.message, {}, 1}; }

// The answer to one request, a line without its end. Never throws: whatever is wrong with the request is the answer.
std::string answer_line(std::string_view line);

// Answers every line of `requests` with one line, and flushes it before the next is read.
void answer_lines(std::istream& requests, std::ostream& answers);

}  // namespace assay

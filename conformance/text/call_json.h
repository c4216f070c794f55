#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "conformance/text/json.h"
#include "reference/call.h"

// The reference as a server that reads and writes JSON lines; spec/call.md defines requests and answers.
namespace assay {

// A parsed request, with a budget of at most the rest of the given one. Throws malformed and unsupported Faults.
struct CallRequest {
  const Operator* op;
  std::vector<Value> arguments;  // out arguments included
  Budget budget;
};
CallRequest request_in(const Json& request, const Budget& budget = Budget());

// The request for a call. For the tensors among its out arguments, it states dtype, sizes and dim order only.
Json request_json(const Json& id, const Operator& op, std::span<const Value> arguments);

// The JSON object of an answer. `outs` are the out arguments after the call.
Json answer_json(const Json& id, const Answer& answer, std::span<const Value> outs);

// The answer to a request that does not denote a call.
inline Answer answer_of(const Fault& fault) { return {fault.outcome, fault.rule, fault.message, {}}; }

// The answer to one request, a line without its end. The request may lower the limits `most`. Never throws: an error in
// the request is the answer.
std::string answer_line(std::string_view line, const Budget::Limits& most = {});

// Answers every line of `requests` with one line, and flushes it before the next line is read. Of a line that is too
// long for its budget, no more is kept. Throws a Fault of limits.work if a line does not end.
void answer_lines(std::istream& requests, std::ostream& answers, const Budget::Limits& most = {});

}  // namespace assay

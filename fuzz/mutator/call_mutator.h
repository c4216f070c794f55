#pragma once

#include <string>

#include "conformance/text/call_json.h"
#include "fuzz/mutator/random.h"

namespace assay::fuzz {

// The line of the request, without limits.
std::string line_of(const CallRequest& request);

// Changes a request to the reference, one line of JSON: its arguments, in the way that conformance/cases changes
// recorded calls; sizes, up to the largest of tensors without elements; the operator, to another with the same
// arguments; or anything in the JSON.
void mutate_request(std::string& line, Random& random);

// Changes anything in a JSON text. A text that does not parse is changed bytewise.
void mutate_json(std::string& text, Random& random);

}  // namespace assay::fuzz

#pragma once

#include <string>

#include "conformance/text/oracle.h"
#include "fuzz/mutator/random.h"

namespace assay::fuzz {

// The request as it is asked, without limits.
std::string line_of(const CallRequest& request);

// Changes a request to the reference, a line of JSON: its arguments as conformance/cases changes recorded calls, sizes
// to the largest of tensors without elements, the operator to another of the same arguments, or anything in the JSON.
void mutate_request(std::string& line, Random& random);

// Changes anything in a text of JSON; one that does not parse changes bytewise.
void mutate_json(std::string& text, Random& random);

}  // namespace assay::fuzz

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/verdict/tier.h"

// One judged case and its JSON text. A run is a stream of records, one JSON object a line.
namespace assay::verdict {

struct NamedText {
  std::string name;
  std::string text;
  bool operator==(const NamedText&) const = default;
};

struct Record {
  std::string testee;
  std::string operator_name;
  std::string case_id;
  std::vector<std::string> dtypes;   // the dtypes of the tensor arguments, inputs first
  std::vector<std::string> layouts;  // the layout of each of these tensors: a name, or a dim order as "(0,2,1)"
  bool valid = true;                 // the reference accepts the call
  std::vector<std::string> slices;   // the slices that contain the call, sorted
  bool promised = true;              // the testee's contract promises the call
  Verdict verdict = Verdict::pass;
  Class failure = Class::none;  // set for `fail`, and for a `crash` or `timeout` with a known cause
  // The distance of the worst element, in units of its bound; empty if the value is not numeric.
  std::optional<double> distance;
  double seconds = 0;
  std::string call;      // a digest of the operator and its arguments; empty if unknown
  std::string features;  // the features of the call, as features_from() reads them; empty if unknown

  // Details of a verdict other than pass; empty if there are none.
  std::string rule;     // id of the rule, or the accuracy row, that the verdict is about
  std::string message;  // one sentence
  std::vector<NamedText> inputs;
  std::vector<NamedText> outs;  // the out arguments as they were given
  std::string expected;
  std::string got;
  std::string bound;
  std::optional<std::uint64_t> elements;  // the number of elements of all inputs, which is the size of the case
  bool known = false;                     // a listed expected failure

  bool operator==(const Record&) const = default;
};

Tier tier_of(const Record& record);

// Whether the testee answered a valid call, rightly or wrongly.
bool answers_valid_call(const Record& record);

// The JSON object of a record, fields in the order above. Infinity and NaN are "inf", "-inf" and "nan".
nlohmann::ordered_json to_json(const Record& record);

// `to_json` on one line without its newline. Bytes that are not UTF-8 become U+FFFD.
std::string to_json_line(const Record& record);

// The record that an object or a line states. Throws std::invalid_argument with one sentence that names the field, the
// expected and the actual value.
Record record_from(const nlohmann::ordered_json& object);
Record from_json_line(std::string_view line);

// A record as bytes for another process of the same program. Throws std::invalid_argument if the bytes are not a
// record.
std::string to_bytes(const Record& record);
Record from_bytes(std::string_view bytes);

// The shell command that runs the case again, on `testee`, or on the default testee of `assay case` if it is empty.
std::string repro_line(const Record& record, std::string_view testee = {}, std::string_view contract = {},
                       bool thorough = false);

}  // namespace assay::verdict

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/verdict/tier.h"

/// One judged case and its JSON text. A run is a stream of these, one JSON object a line.
namespace assay {

struct NamedText {
  std::string name;
  std::string text;
  bool operator==(const NamedText&) const = default;
};

struct Record {
  std::string testee;
  std::string operator_name;
  std::string case_id;
  std::vector<std::string> dtypes;   ///< of the tensor arguments, inputs then outs
  std::vector<std::string> layouts;  ///< of the same tensors: a name, or a dim_order as "(0,2,1)"
  bool valid = true;                 ///< for the reference
  std::vector<std::string> slices;   ///< that the call lies in, sorted
  bool promised = true;              ///< by the testee's contract
  Verdict verdict = Verdict::pass;
  Class failure = Class::none;     ///< of `fail` always, of `crash` and `timeout` perhaps
  std::optional<double> distance;  ///< of the worst element, in units of its bound; none: not numeric
  double seconds = 0;

  // Said of a verdict other than pass; empty where there is nothing to say.
  std::string rule;     ///< id of the rule, or the accuracy row, that the verdict is about
  std::string message;  ///< one sentence
  std::vector<NamedText> inputs;
  std::vector<NamedText> outs;  ///< as they were given
  std::string expected;
  std::string got;
  std::string bound;
  std::optional<std::uint64_t> elements;  ///< of all inputs together: the size of the case
  bool known = false;                     ///< a listed expected failure

  bool operator==(const Record&) const = default;
};

Tier tier_of(const Record& record);

/// The JSON object of a record, fields in the order above. Infinity and NaN are "inf", "-inf", "nan".
nlohmann::ordered_json to_json(const Record& record);

/// `to_json` on one line without its newline. Bytes that are not UTF-8 become U+FFFD.
std::string to_json_line(const Record& record);

/// The record that an object or a line states. Throws std::invalid_argument with one sentence that names the field,
/// what was wanted and what came.
Record record_from(const nlohmann::ordered_json& object);
Record from_json_line(std::string_view line);

/// A record as one process gives it to another of the same program; throws std::invalid_argument where it is none.
std::string to_bytes(const Record& record);
Record from_bytes(std::string_view bytes);

/// The shell command that runs the case again, on the testee that `assay case` asks unless one is named.
std::string repro_line(const Record& record, std::string_view testee = {}, std::string_view contract = {},
                       bool thorough = false);

}  // namespace assay

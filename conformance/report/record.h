#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// One judged case and its JSON text. A run is a stream of these, one JSON object a line.
namespace assay {

/// How much a finding matters, least first.
enum class Severity {
  none,
  quality,      ///< inside the bound, yet less accurate than it should be
  acceptance,   ///< a valid call refused, an invalid one accepted
  result,       ///< a wrong answer
  side_effect,  ///< output left unwritten, input changed
  breakdown,    ///< the process ended or hung
  corruption,   ///< memory that is not the call's own was written
};

enum class Verdict { pass, quality, fail, unsupported, crash, timeout };

struct VerdictRow {
  Verdict verdict;
  std::string_view name;
  Severity severity;  ///< of `fail`, the class decides
};

inline constexpr std::array verdicts = std::to_array<VerdictRow>({
    {Verdict::pass, "pass", Severity::none},
    {Verdict::quality, "quality", Severity::quality},
    {Verdict::fail, "fail", Severity::none},
    {Verdict::unsupported, "unsupported", Severity::none},
    {Verdict::crash, "crash", Severity::breakdown},
    {Verdict::timeout, "timeout", Severity::breakdown},
});

/// What is wrong with a failing case.
enum class Class {
  none,
  value,
  nan,
  shape,
  dtype,
  layout,
  unwritten,
  out_of_bounds,
  input_changed,
  abort,
  refused_though_valid,
  accepted_though_invalid,
};

struct ClassRow {
  Class failure;
  std::string_view name;
  Severity severity;
};

inline constexpr std::array classes = std::to_array<ClassRow>({
    {Class::none, "", Severity::none},
    {Class::value, "value", Severity::result},
    {Class::nan, "nan", Severity::result},
    {Class::shape, "shape", Severity::result},
    {Class::dtype, "dtype", Severity::result},
    {Class::layout, "layout", Severity::result},
    {Class::unwritten, "unwritten", Severity::side_effect},
    {Class::out_of_bounds, "out-of-bounds", Severity::corruption},
    {Class::input_changed, "input-changed", Severity::side_effect},
    {Class::abort, "abort", Severity::breakdown},
    {Class::refused_though_valid, "refused-though-valid", Severity::acceptance},
    {Class::accepted_though_invalid, "accepted-though-invalid", Severity::acceptance},
});

constexpr const VerdictRow& row(Verdict verdict) { return verdicts[static_cast<std::size_t>(verdict)]; }
constexpr const ClassRow& row(Class failure) { return classes[static_cast<std::size_t>(failure)]; }
constexpr bool is_failure(Verdict v) { return v == Verdict::fail || v == Verdict::crash || v == Verdict::timeout; }
constexpr std::string_view name(Verdict verdict) { return row(verdict).name; }
constexpr std::string_view name(Class failure) { return row(failure).name; }

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
  Verdict verdict = Verdict::pass;
  Class failure = Class::none;     ///< of `fail` always, of `crash` and `timeout` perhaps
  std::optional<double> distance;  ///< of the worst element, in units of its bound; none: not numeric
  double seconds = 0;

  // Said of a verdict other than pass; empty where there is nothing to say.
  std::string rule;     ///< id of the rule, or the accuracy row, that the verdict is about
  std::string message;  ///< one sentence
  std::vector<NamedText> inputs;
  std::string expected;
  std::string got;
  std::string bound;
  std::optional<std::uint64_t> elements;  ///< of all inputs together: the size of the case
  bool known = false;                     ///< a listed expected failure

  bool operator==(const Record&) const = default;
};

/// The JSON object of a record, fields in the order above. Infinity and NaN are "inf", "-inf", "nan".
nlohmann::ordered_json to_json(const Record& record);

/// `to_json` on one line without its newline. Bytes that are not UTF-8 become U+FFFD.
std::string to_json_line(const Record& record);

/// The record that a line states. Throws std::invalid_argument with one sentence that names the field,
/// what was wanted and what came.
Record from_json_line(std::string_view line);

/// The shell command that runs the case again.
std::string repro_line(const Record& record);

}  // namespace assay

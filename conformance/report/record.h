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
  reads_uninitialised,  ///< the answer depends on memory that nobody had written to
  not_repeatable,       ///< the same call is answered in two ways
  spoils_state,         ///< a later call is answered differently for it
  changes_input,
  writes_out_of_bounds,  ///< of memory that it was given
  heap_damage,           ///< of memory that it allocated, or a wrong free
  uses_freed,            ///< memory that it freed, or that it was given for an earlier call
  double_free,
  segmentation_fault,
  bus_error,
  arithmetic_trap,
  illegal_instruction,
  signal,     ///< any other
  exit,       ///< the process ended itself without a signal
  abort,      ///< deliberate
  assertion,  ///< a failed one
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
    {Class::reads_uninitialised, "reads-uninitialised", Severity::side_effect},
    {Class::not_repeatable, "not-repeatable", Severity::side_effect},
    {Class::spoils_state, "spoils-state", Severity::side_effect},
    {Class::changes_input, "changes-input", Severity::side_effect},
    {Class::writes_out_of_bounds, "writes-out-of-bounds", Severity::corruption},
    {Class::heap_damage, "heap-damage", Severity::corruption},
    {Class::uses_freed, "uses-freed", Severity::corruption},
    {Class::double_free, "double-free", Severity::corruption},
    {Class::segmentation_fault, "segmentation-fault", Severity::breakdown},
    {Class::bus_error, "bus-error", Severity::breakdown},
    {Class::arithmetic_trap, "arithmetic-trap", Severity::breakdown},
    {Class::illegal_instruction, "illegal-instruction", Severity::breakdown},
    {Class::signal, "signal", Severity::breakdown},
    {Class::exit, "exit", Severity::breakdown},
    {Class::abort, "abort", Severity::breakdown},
    {Class::assertion, "assertion", Severity::breakdown},
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
  std::vector<NamedText> outs;  ///< as they were given
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

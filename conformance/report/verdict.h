#pragma once

#include <array>
#include <cstdint>
#include <string_view>

/// The closed lists of what can be said of a case.
namespace assay {

enum class Verdict : std::uint8_t { pass, quality, fail, unsupported, crash, timeout };

struct VerdictRow {
  Verdict verdict;
  std::string_view name;
};

inline constexpr std::array verdicts = std::to_array<VerdictRow>({
    {Verdict::pass, "pass"},
    {Verdict::quality, "quality"},
    {Verdict::fail, "fail"},
    {Verdict::unsupported, "unsupported"},
    {Verdict::crash, "crash"},
    {Verdict::timeout, "timeout"},
});

/// What is wrong with a failing case.
enum class Class : std::uint8_t {
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

/// What a library did that has a class, as far as it decides how much that matters.
enum class Deed : std::uint8_t {
  nothing,
  wrong,         ///< it answered wrongly
  unrepeatable,  ///< it answered in two ways
  damage,        ///< memory, state or the process suffered
  refusal,       ///< it did not answer, on purpose
  acceptance,    ///< it answered what should be refused
};

struct ClassRow {
  Class failure;
  std::string_view name;
  Deed deed;
};

inline constexpr std::array classes = std::to_array<ClassRow>({
    {Class::none, "", Deed::nothing},
    {Class::value, "value", Deed::wrong},
    {Class::nan, "nan", Deed::wrong},
    {Class::shape, "shape", Deed::wrong},
    {Class::dtype, "dtype", Deed::wrong},
    {Class::layout, "layout", Deed::wrong},
    {Class::unwritten, "unwritten", Deed::wrong},
    {Class::reads_uninitialised, "reads-uninitialised", Deed::unrepeatable},
    {Class::not_repeatable, "not-repeatable", Deed::unrepeatable},
    {Class::spoils_state, "spoils-state", Deed::damage},
    {Class::changes_input, "changes-input", Deed::damage},
    {Class::writes_out_of_bounds, "writes-out-of-bounds", Deed::damage},
    {Class::heap_damage, "heap-damage", Deed::damage},
    {Class::uses_freed, "uses-freed", Deed::damage},
    {Class::double_free, "double-free", Deed::damage},
    {Class::segmentation_fault, "segmentation-fault", Deed::damage},
    {Class::bus_error, "bus-error", Deed::damage},
    {Class::arithmetic_trap, "arithmetic-trap", Deed::damage},
    {Class::illegal_instruction, "illegal-instruction", Deed::damage},
    {Class::signal, "signal", Deed::damage},
    {Class::exit, "exit", Deed::refusal},
    {Class::abort, "abort", Deed::refusal},
    {Class::assertion, "assertion", Deed::refusal},
    {Class::refused_though_valid, "refused-though-valid", Deed::refusal},
    {Class::accepted_though_invalid, "accepted-though-invalid", Deed::acceptance},
});

constexpr const VerdictRow& row(Verdict verdict) { return verdicts[static_cast<std::size_t>(verdict)]; }
constexpr const ClassRow& row(Class failure) { return classes[static_cast<std::size_t>(failure)]; }
constexpr bool is_failure(Verdict v) { return v == Verdict::fail || v == Verdict::crash || v == Verdict::timeout; }
constexpr std::string_view name(Verdict verdict) { return row(verdict).name; }
constexpr std::string_view name(Class failure) { return row(failure).name; }

}  // namespace assay

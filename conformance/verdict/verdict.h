#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// The closed lists of verdicts, classes and reasons.
namespace assay::verdict {

enum class Verdict : std::uint8_t { pass, quality, fail, unsupported, crash, timeout, undecided };

struct VerdictRow {
  Verdict verdict;
  std::string_view name;
  std::string_view sentence;
};

inline constexpr std::array verdicts = std::to_array<VerdictRow>({
    {Verdict::pass, "pass", "The answer is right: the right results, or the right refusal."},
    {Verdict::quality, "quality", "The answer is right, but less accurate than it should be."},
    {Verdict::fail, "fail", "The answer is wrong; the class tells how."},
    {Verdict::unsupported, "unsupported",
     "The testee has no kernel for the operator, or refuses a call that its contract does not promise."},
    {Verdict::crash, "crash", "The call ends the process in which it runs."},
    {Verdict::timeout, "timeout", "The call does not return within the time limit."},
    {Verdict::undecided, "undecided", "The answer may be right: too many answers would count as right."},
});

// The class of a failing case: what is wrong with it.
enum class Class : std::uint8_t {
  none,
  value,
  nan,
  shape,
  dtype,
  layout,
  unwritten,
  reads_uninitialised,
  depends_on_addresses,
  not_repeatable,
  spoils_state,
  changes_input,
  writes_out_of_bounds,
  reads_out_of_bounds,
  heap_damage,
  uses_freed,
  double_free,
  leaks,
  segmentation_fault,
  bus_error,
  arithmetic_trap,
  illegal_instruction,
  signal,
  exit,
  abort,
  assertion,
  refused_though_valid,
  accepted_though_invalid,
};

// The effect of a failure, by which its tier is decided.
enum class Effect : std::uint8_t {
  nothing,
  wrong,         // a wrong answer
  unrepeatable,  // two different answers to one call
  damage,        // memory, state or the process was damaged
  refusal,       // a deliberate refusal to answer
  acceptance,    // an answer where a refusal is right
};

struct ClassRow {
  Class failure;
  std::string_view name;
  Effect effect;
  std::string_view sentence;
};

inline constexpr std::array classes = std::to_array<ClassRow>({
    {Class::none, "", Effect::nothing, ""},
    {Class::value, "value", Effect::wrong, "The error of a value exceeds its bound."},
    {Class::nan, "nan", Effect::wrong, "A value is NaN but must not be, or is not NaN but must be."},
    {Class::shape, "shape", Effect::wrong, "A result has wrong sizes."},
    {Class::dtype, "dtype", Effect::wrong, "A result has a wrong dtype."},
    {Class::layout, "layout", Effect::wrong, "A result has a wrong dim order."},
    {Class::unwritten, "unwritten", Effect::wrong, "The call does not write a result, or a part of it."},
    {Class::reads_uninitialised, "reads-uninitialised", Effect::unrepeatable,
     "The answer depends on the contents of uninitialised memory."},
    {Class::depends_on_addresses, "depends-on-addresses", Effect::unrepeatable,
     "The answer depends on the addresses of tensors, such as their alignment."},
    {Class::not_repeatable, "not-repeatable", Effect::unrepeatable, "The same call gives two different answers."},
    {Class::spoils_state, "spoils-state", Effect::damage, "The call changes the answer of a later call."},
    {Class::changes_input, "changes-input", Effect::damage, "The call changes an input."},
    {Class::writes_out_of_bounds, "writes-out-of-bounds", Effect::damage, "The call writes outside of its buffers."},
    {Class::reads_out_of_bounds, "reads-out-of-bounds", Effect::damage, "The call reads outside of its buffers."},
    {Class::heap_damage, "heap-damage", Effect::damage,
     "The call damages memory that the testee allocated, or frees memory wrongly."},
    {Class::uses_freed, "uses-freed", Effect::damage, "The call uses freed memory, or a buffer of an earlier call."},
    {Class::double_free, "double-free", Effect::damage, "The call frees memory twice."},
    {Class::leaks, "leaks", Effect::damage, "Each repeat of the call keeps memory that it never frees."},
    {Class::segmentation_fault, "segmentation-fault", Effect::damage,
     "The process ends in a segmentation fault (SIGSEGV)."},
    {Class::bus_error, "bus-error", Effect::damage, "The process ends in a bus error (SIGBUS)."},
    {Class::arithmetic_trap, "arithmetic-trap", Effect::damage, "The process ends in an arithmetic trap (SIGFPE)."},
    {Class::illegal_instruction, "illegal-instruction", Effect::damage,
     "The process ends in an illegal instruction (SIGILL, SIGTRAP)."},
    {Class::signal, "signal", Effect::damage, "The process ends in a signal that has no class of its own."},
    {Class::exit, "exit", Effect::refusal, "The process exits without a signal, or breaks the wire protocol."},
    {Class::abort, "abort", Effect::refusal, "The process aborts itself (SIGABRT)."},
    {Class::assertion, "assertion", Effect::refusal, "A failed assertion aborts the process."},
    {Class::refused_though_valid, "refused-though-valid", Effect::refusal, "The testee refuses a valid call."},
    {Class::accepted_though_invalid, "accepted-though-invalid", Effect::acceptance,
     "The testee answers an invalid call."},
});

constexpr const VerdictRow& row(Verdict verdict) { return verdicts[static_cast<std::size_t>(verdict)]; }
constexpr const ClassRow& row(Class failure) { return classes[static_cast<std::size_t>(failure)]; }
constexpr bool is_right(Verdict v) { return v == Verdict::pass || v == Verdict::quality; }
constexpr bool is_failure(Verdict v) { return v == Verdict::fail || v == Verdict::crash || v == Verdict::timeout; }
constexpr std::string_view name(Verdict verdict) { return row(verdict).name; }
constexpr std::string_view name(Class failure) { return row(failure).name; }

}  // namespace assay::verdict

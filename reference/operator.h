#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "outcome.gen.h"
#include "reference/dtype.h"
#include "reference/value.h"

// The facts that the spec states about an operator, as a table generated from spec/operators.
namespace assay {

class Call;

// An argument of the schema. `type` is ATen's name ("Tensor?", "int[]"), without the list length and SymInt.
struct SchemaArgument {
  std::string_view name;
  std::string_view type;
  std::string_view default_text;  // empty: no default
  bool out;
  Int length = 0;        // 2 for an int[2]; 0: any length
  bool mutated = false;  // the call leaves it unchanged and returns its new value as the out argument <name>_out; a
                         // host stores that value back into the argument

  bool is_out_number() const { return out && !type.starts_with("Tensor"); }
};

// How far a result may be from the exact result.
struct Accuracy {
  enum class Measure : std::uint8_t {
    exact,        // the exact value rounded once, bit for bit
    ulp,          // within `amount` units in the last place of the value before rounding
    dot,          // within amount * roundoffs(terms) of the magnitude, then rounded; see spec/numerics.md
    unspecified,  // any value
    choice,       // data-dependent: one of several answers, judged by the `choice` that the spec entry names
  };
  Measure measure = Measure::exact;
  double amount = 0;
  bool either_zero = false;  // a zero may have either sign
  bool flush = false;        // a subnormal result may be flushed to zero
  bool overflow = false;     // where the magnitude overflows, the result may be NaN or infinite
  bool mean = false;  // the result is a mean of `terms` addends; their sum may overflow although the mean does not
  bool half_partials = false;  // partial results of a half type may be held in the half type
};

struct AccuracyRow {
  int output;                  // the index of an out tensor, -1 for all
  std::optional<DType> dtype;  // none: every dtype without an earlier row
  Accuracy accuracy;
};

// A rule of an entry, as text for people and as data for the breakers, which make calls that break the rule.
struct Rule {
  std::string_view id;                          // "add.R2"
  std::string_view sentence;                    // "dtype_of(self, real)"
  std::string_view word;                        // "dtype_of"
  std::span<const std::string_view> arguments;  // {"self", "real"}
  Outcome outcome;
};

struct Operator {
  std::string_view name;    // "aten::add.out"
  std::string_view id;      // prefix of its rule ids, "add"
  std::string_view schema;  // ATen's text
  std::string_view file;    // spec/operators/<file>.yaml and reference/operators/<file>.cpp
  std::string_view math;
  std::string_view choice;  // which answers are allowed; empty if there is only one
  // The arguments of the schema, then an out for each mutated argument, and `result` for a number that the operator
  // returns.
  std::span<const SchemaArgument> arguments;
  std::span<const Rule> rules;
  std::span<const AccuracyRow> accuracy;
  void (*run)(Call&);

  std::size_t outs() const;                       // the number of out arguments; they are the last arguments
  std::size_t mutated() const;                    // the number of arguments that are changed in place
  std::size_t new_value_of(std::size_t i) const;  // the position in `arguments` of the out argument
                                                  // <name>_out of the mutated argument at position i
};

// Sorted by name.
std::span<const Operator> operator_table();
const Operator* find_operator(std::string_view name);

// The row for an out tensor of this dtype. Integer and bool results are exact unless the row states otherwise.
Accuracy accuracy(const Operator& op, int output, DType dtype);

}  // namespace assay

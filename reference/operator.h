#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "outcome.gen.h"
#include "reference/dtype.h"
#include "reference/value.h"

// What the spec states about an operator, as a table generated from spec/operators.
namespace assay {

class Call;

// An argument of the schema. `type` is ATen's word for it ("Tensor?", "int[]"), without list length and SymInt.
struct SchemaArgument {
  std::string_view name;
  std::string_view type;
  std::string_view default_text;  // empty: no default
  bool out;
  Int length = 0;        // of an int[2]: 2; 0: any
  bool mutated = false;  // the call leaves it alone and gives its new value as the out argument <name>_out; a host
                         // stores that in its place

  bool is_out_number() const { return out && !type.starts_with("Tensor"); }
};

// How far a result may be from the exact one.
struct Accuracy {
  enum class Measure : std::uint8_t {
    exact,        // the exact value rounded once, bit for bit
    ulp,          // within `amount` units in the last place of the value before its rounding
    dot,          // within amount * roundoffs(terms) of the magnitude, then rounded: spec/numerics.md
    unspecified,  // any value
    choice,       // data-dependent: one of several answers, judged by the `choice` named in the spec entry
  };
  Measure measure = Measure::exact;
  double amount = 0;
  bool either_zero = false;    // the sign of a zero is free
  bool flush = false;          // a subnormal result may be zero
  bool overflow = false;       // where the magnitude overflows, the result may be NaN or infinite
  bool mean = false;           // of terms addends, whose sum may overflow though the mean does not
  bool half_partials = false;  // partial results of a half type may be held in it
};

struct AccuracyRow {
  int output;                  // which out tensor, -1 for all
  std::optional<DType> dtype;  // none: every dtype not named by an earlier row
  Accuracy accuracy;
};

// A rule of an entry, as text for people and as data for the breakers.
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
  std::string_view choice;  // which answers are allowed, empty where there is one
  // Behind those of the schema: an out for each mutated one, and `result` for a number that the operator returns.
  std::span<const SchemaArgument> arguments;
  std::span<const Rule> rules;
  std::span<const AccuracyRow> accuracy;
  void (*run)(Call&);

  std::size_t outs() const;                       // how many of the arguments, at the end, are out arguments
  std::size_t mutated() const;                    // how many of them are changed in place
  std::size_t new_value_of(std::size_t i) const;  // the position of the out argument for mutated argument i
};

// Sorted by name.
std::span<const Operator> operator_table();
const Operator* find_operator(std::string_view name);

// The row for an out tensor of this dtype; integer and bool results are exact unless the row says otherwise.
Accuracy accuracy(const Operator& op, int output, DType dtype);

}  // namespace assay

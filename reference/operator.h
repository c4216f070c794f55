#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "outcome.gen.h"
#include "reference/dtype.h"
#include "reference/value.h"

// The facts that spec/operators states about each operator, as a generated table.
namespace assay {

class Call;

// An argument of the schema. `type` is ATen's name of the type, such as "Tensor?" or "int[]". The name has no list
// length, and "int" replaces SymInt.
struct SchemaArgument {
  std::string_view name;
  std::string_view type;
  std::string_view default_text;  // empty if there is no default
  bool out;
  Int length = 0;  // the length of a list, such as 2 for int[2]; 0 if any length is allowed
  // Whether the operator changes the argument in place. The reference's call leaves the argument unchanged and stores
  // its new value in the out argument <name>_out. The caller copies that value back into the argument.
  bool mutated = false;

  bool is_out_number() const { return out && !type.starts_with("Tensor"); }
};

// The largest allowed difference between a result and the exact result.
struct Accuracy {
  enum class Measure : std::uint8_t {
    exact,  // the result equals the exact value rounded once, bit for bit
    // The result is within `amount` units in the last place of the exact value before rounding.
    ulp,
    // Before the result is rounded to its dtype, its error is at most amount * roundoffs(terms) times the magnitude of
    // the exact value. See spec/numerics.md.
    dot,
    unspecified,  // every value is right
    // Several answers are right. The function that the entry names as `choice` decides whether the result is one of
    // them.
    choice,
  };
  Measure measure = Measure::exact;
  double amount = 0;
  bool either_zero = false;  // a zero may have either sign
  bool flush = false;        // a subnormal result may be flushed to zero
  bool overflow = false;     // if the magnitude overflows, the result may be NaN or infinite
  // The result is a mean of `terms` addends. Their sum may overflow although the mean does not.
  bool mean = false;
  bool half_partials = false;  // partial results of a half type may be rounded to that type
};

struct AccuracyRow {
  int output;                  // the index of an out tensor, or -1 for all outs
  std::optional<DType> dtype;  // if empty, the row is for each dtype without an earlier row
  Accuracy accuracy;
};

// A rule of an entry: as a text for people, and as data for the code that makes calls in order to break the rule.
struct Rule {
  std::string_view id;                          // the id, such as "add.R2"
  std::string_view sentence;                    // the rule as the entry states it, such as "dtype_of(self, real)"
  std::string_view word;                        // the word of the rule, such as "dtype_of"
  std::span<const std::string_view> arguments;  // the arguments of the word, such as {"self", "real"}
  Outcome outcome;
};

struct Operator {
  std::string_view name;    // the full name, such as "aten::add.out"
  std::string_view id;      // the prefix of its rule ids, such as "add"
  std::string_view schema;  // the schema as ATen writes it
  std::string_view file;    // names spec/operators/<file>.yaml and reference/operators/<file>.cpp
  std::string_view math;    // the formula in one line
  std::string_view choice;  // the function that decides for Accuracy::Measure::choice; empty if the entry names none
  // The arguments of the schema, then one out for each argument that is changed in place, then `result` if the operator
  // returns a number.
  std::span<const SchemaArgument> arguments;
  std::span<const Rule> rules;
  std::span<const AccuracyRow> accuracy;
  void (*run)(Call&);
  // Whether this object is an in-place form (see in_place_table). The only out of a form is stored in its first
  // argument.
  bool in_place = false;

  std::size_t outs() const;     // the number of out arguments; they are the last arguments
  std::size_t mutated() const;  // the number of arguments that are changed in place
  // The position in `arguments` of the out <name>_out, where <name> is the argument at position i. Requires that
  // argument i is changed in place.
  std::size_t new_value_of(std::size_t i) const;
};

// The operators that have an entry, sorted by name.
std::span<const Operator> operator_table();
// The in-place forms of these operators, sorted by name. For example, "aten::relu_" is "aten::relu.out" with `self` as
// its out. A form has the rules, the accuracy and the id of its operator. In addition, the result must have the sizes
// of `self`.
std::span<const Operator> in_place_table();
// The operator or in-place form of that name, or null.
const Operator* find_operator(std::string_view name);

// The accuracy of an out tensor with this index and dtype. Integer and bool results are exact unless a row states
// otherwise.
Accuracy accuracy(const Operator& op, int output, DType dtype);

}  // namespace assay

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/judge/arithmetic_mode.h"
#include "conformance/judge/refusals.h"
#include "conformance/verdict/record.h"
#include "reference/call.h"

namespace assay::judge {

// The out tensors among arguments; each tensor of an out list counts alone; a number becomes a tensor of one element.
std::vector<Tensor> out_tensors(const Operator& op, std::span<const Value> arguments);

// The reference's answer to a call, in the form that judge() compares with.
struct Expectation {
  Answer answer;
  std::vector<Value> arguments;  // the arguments of the call, with the results in place of its out arguments
  std::vector<Tensor> outs;      // the rounded results; each tensor of an out list counts alone

  // For each out of an operator with accuracy `dot` or `overflow`, the magnitude of each element. Few calls need it, so
  // the reference computes it on first use.
  const std::vector<Buffer<Real>>& magnitudes(const Operator& op) const;

 private:
  mutable std::optional<std::vector<Buffer<Real>>> magnitudes_;
};

// Asks the reference. `arguments` follow the schema. An out argument states the dtype and dim order of its result; None
// stands for those that the entry states.
Expectation expect(const Operator& op, std::span<const Value> arguments, const Budget& budget = {});

// A testee's answer to a call, as judge() takes it: its reply, and what its contract allows.
struct Reaction {
  Outcome outcome = Outcome::ok;
  std::string message;                       // the testee's reason, if it refused
  Refusals allowed = Refusals::unsupported;  // the refusals of a valid call that the contract allows
  std::vector<Tensor> outs;                  // the results, unless it refused
  bool has_values = true;                    // false if only dtype and sizes of the outs are known
};

// A judgement. A Record adds the facts of the case.
struct Judgement {
  verdict::Verdict verdict = verdict::Verdict::pass;
  verdict::Class failure = verdict::Class::none;
  double distance = 0;                 // of the worst element, in units of its bound; 0 when exact
  std::string rule;                    // the broken rule, or the accuracy row
  std::string message;                 // one sentence
  std::optional<Int> output, element;  // the worst element: the index of its out, and its row-major index
  std::string bound;                   // the bound of the worst element
};

// Compares the reaction of a testee with this arithmetic with the expectation.
Judgement judge(const Operator& op, std::span<const Value> arguments, const Expectation& expected,
                const Reaction& reaction, ArithmeticMode mode = ArithmeticMode::ieee);

// For each element of `got`, in row-major order, whether it is right; for complex dtypes each part counts. `got` has
// the expected dtype and sizes. If the operator's entry has a choice, only the expected answer counts as right.
std::vector<bool> right_elements(const Operator& op, const Expectation& expected, std::size_t output,
                                 const Tensor& got);

// The upper bound of the error of each number of an out; for complex dtypes each part counts. 0 means that only the
// correctly rounded value is right, and infinity that any value is right. Rows may allow more, such as zero for a
// subnormal number.
std::vector<Real> error_bounds(const Operator& op, const Expectation& expected, std::size_t output);

// The interval of right values for each element of an out. If signs of zeros count, a zero must have the sign of an
// expected zero. NaN is right if it is expected. An interval from -inf to inf allows any value, NaN too.
struct RightAnswers {
  Tensor expected, lowest, highest;
  bool zeros_have_signs;
};

// The intervals for the outs of a valid call, for a testee with this arithmetic; none where any values are right. If
// the entry has a choice, only the expected answer is right.
std::optional<RightAnswers> right_answers(const Operator& op, const Expectation& expected, std::size_t output,
                                          ArithmeticMode mode = ArithmeticMode::ieee);

}  // namespace assay::judge

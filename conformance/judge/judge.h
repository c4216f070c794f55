#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/judge/arithmetic_mode.h"
#include "conformance/judge/refusals.h"
#include "conformance/verdict/record.h"
#include "reference/call.h"

namespace assay {

// The out tensors among arguments, those of an out list one by one; a number as the tensor of it.
std::vector<Tensor> out_tensors(const Operator& op, std::span<const Value> arguments);

// What the reference says to a call, ready to judge others by.
struct Expectation {
  Answer answer;
  std::vector<Value> arguments;  // those of the call, with the results in the place of its out arguments
  std::vector<Tensor> outs;      // the results, rounded, those of an out list one by one

  // For each out of an operator with `dot` or `overflow` the magnitude of each element: what many never need, so the
  // reference is asked when one first does.
  const std::vector<Buffer<Real>>& magnitudes(const Operator& op) const;

 private:
  mutable std::optional<std::vector<Buffer<Real>>> magnitudes_;
};

// Asks the reference. `arguments` follow the schema; its out arguments say in which dtype and dim order the results are
// wanted (None: as the entry gives them).
Expectation expect(const Operator& op, std::span<const Value> arguments, const Budget& budget = {});

// What a library did with a call.
struct Reaction {
  Outcome outcome = Outcome::ok;
  std::string message;                       // its reason when it refused
  Refusals allowed = Refusals::unsupported;  // by its contract, of the call if it is valid
  std::vector<Tensor> outs;                  // its results when it did not refuse
  bool has_values = true;                    // false: only dtype and sizes of the outs are known
};

// A judgement, without the facts of the case that a Record adds.
struct Judgement {
  Verdict verdict = Verdict::pass;
  Class failure = Class::none;
  double distance = 0;                 // of the worst element, in units of its bound; 0 when exact
  std::string rule;                    // the broken rule, or the accuracy row it is about
  std::string message;                 // one sentence
  std::optional<Int> output, element;  // where the worst element is: which out, row-major
  std::string bound;                   // the bound of the worst element
};

// Holds a reaction, of a testee that computes in this arithmetic, against the expectation.
Judgement judge(const Operator& op, std::span<const Value> arguments, const Expectation& expected,
                const Reaction& reaction, ArithmeticMode mode = ArithmeticMode::ieee);

// Which elements of `got`, an out of the dtype and sizes expected of it, are right, row-major, of complex ones which
// parts. Of what an operator
// chooses, the expected answer.
std::vector<bool> right_elements(const Operator& op, const Expectation& expected, std::size_t output,
                                 const Tensor& got);

// How far each number of an out, of complex ones each part, may be from its exact value: 0 where it is that one rounded
// and nothing else, infinite where any is right. What else a row admits, as zero for a subnormal number, is not in it.
std::vector<Real> error_bounds(const Operator& op, const Expectation& expected, std::size_t output);

// What may stand in an out: each element from the lowest to the highest right answer; a zero only with the sign of an
// expected zero, where signs count. NaN is right where it is expected; anything, NaN too, from -inf to inf.
struct RightAnswers {
  Tensor expected, lowest, highest;
  bool zeros_have_signs;
};

// Those to a valid call, for an out; none where any values are right. Of what an operator chooses, the expected answer.
std::optional<RightAnswers> right_answers(const Operator& op, const Expectation& expected, std::size_t output);

}  // namespace assay

#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "conformance/cases/case.h"
#include "conformance/judge/judge.h"

namespace assay::numbers {

// Every call, or each `every`-th one, of the operators that match the pattern. Each prints a line for each operator,
// out and dtype, and gives how many things it found wrong.

// How far doubles are from 113 bits: the error of the reference itself. Wrong is one of more than half of its bound, or
// a result that is finite in one of both alone, where `known`, a list of such rows, has it not; and a row there that is
// none.
int own_error(const Corpus& corpus, std::string_view pattern, std::size_t every, const std::string& known);

// How much of a bound is needed by kernels that make the formulas of the reference in the compute dtype, with sums in
// any of some orders and functions within one ulp, on the recorded data and on harder ones, and by eager PyTorch. Wrong
// is what is beyond its bound, and a bound of more than four times what is needed, where `known`, a list of such rows,
// has it not; and a row there that is none. Rows whose exact results are all numbers of their dtype, and come out so,
// have no bound to measure.
int tightness(const Corpus& corpus, std::string_view pattern, std::size_t every, const std::string& known);

inline std::string name_of_out(const Operator& op, std::size_t output) {
  return output == 0 ? std::string(op.name) : fmt::format("{} out {}", op.name, output);
}

// f(operator, each): each(g) calls g(case, what is expected of it) for every valid call that has values.
template <class F>
void each_operator(const Corpus& corpus, std::string_view pattern, std::size_t every, F f) {
  for (const RecordedCalls* calls : corpus.matching(pattern)) {
    const Operator& op = calls->op();
    f(op, [&](auto g) {
      for (std::size_t i = 0; i < calls->size(); i += every) {
        const Case c = corpus.make({std::string(op.name), calls->digest(i), {}});
        const Expectation expected = expect(op, c.arguments);
        if (expected.answer.outcome == Outcome::ok && !expected.outs.empty()) g(c, expected);
      }
    });
  }
}

}  // namespace assay::numbers

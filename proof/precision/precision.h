#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

#include "conformance/cases/case.h"
#include "conformance/judge/judge.h"

namespace assay::precision {

// The recorded calls that a program reads: of the operators that match the pattern, each `every`-th.
struct Selection {
  Corpus corpus;
  std::string pattern;
  std::size_t every = 1;
};

// Each function prints a line for each operator, out and dtype, and returns how many things are wrong.

// How far doubles are from 113 bits: the error of the reference itself. Wrong is an error of more than half of its
// bound, or a result that is finite in one of both arithmetics alone, which known_own_errors.txt does not list.
int own_error(const Selection& selection);

// How much of a bound is needed by eager PyTorch and by kernels that make the formulas of the reference in the compute
// dtype, with sums in several orders and functions within one ulp, on the recorded data and on harder data. Wrong is
// a result beyond its bound, or a bound of more than four times what is needed, which known_loose.txt does not list.
// Results that are never rounded have no bound to measure.
int tightness(const Selection& selection);

// Prints how loose the judge is. For each operator and dtype it prints the number of results, the largest share of the
// bound that eager PyTorch needs, the least and the median relative error that is judged wrong, in ulp, and the number
// of results that are accepted whatever their value is:
//   number    0 and twice the number are right, though nothing cancels: the magnitude is less than eight times as large
//   infinity  0 is right, or the opposite infinity though the magnitude tells of no terms of its sign
//   NaN       0 is right
// Numbers below the smallest normal one are left out, as their bound is a step that does not shrink with them. Wrong is
// more than one number in 1,000 that is taken vacuously, or one infinity or NaN in 50.
int looseness(const Selection& selection);

inline std::string name_of_out(const Operator& op, std::size_t output) {
  return output == 0 ? std::string(op.name) : fmt::format("{} out {}", op.name, output);
}

// A list of rows that are wrong for a known reason. A listed row that is right is wrong, too.
class KnownRows {
 public:
  KnownRows(std::string_view file, const Selection& selection);

  // Counts the row if it differs from the list, and returns whether it is listed. A listed row may be right for some of
  // the calls.
  bool is_known(const std::string& row, bool is_wrong, std::string_view found);
  int count_wrong();  // the total number of wrong rows, with the listed rows that were not found

 private:
  void count(std::string_view row, std::string_view found);

  std::set<std::string> known_;
  bool all_calls_, all_operators_;
  int wrong_ = 0;
};

// f(operator, each): each(g) calls g(case, its expectation) for every valid call that has values.
template <class F>
void each_operator(const Selection& selection, F f) {
  for (const RecordedCalls* calls : selection.corpus.matching(selection.pattern)) {
    const Operator& op = calls->op();
    f(op, [&](auto g) {
      for (std::size_t i = 0; i < calls->size(); i += selection.every) {
        const Case c = selection.corpus.make({std::string(op.name), calls->digest(i), {}});
        const Expectation expected = expect(op, c.arguments);
        if (expected.answer.outcome == Outcome::ok && !expected.outs.empty()) g(c, expected);
      }
    });
  }
}

}  // namespace assay::precision

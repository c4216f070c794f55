#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "conformance/cases/host_call.h"

namespace assay::defects {

// At most `most` elements of a list, evenly spread.
template <class T>
std::vector<T> evenly_chosen(const std::vector<T>& all, std::size_t most) {
  const std::size_t number = std::min(all.size(), most);
  std::vector<T> some;
  for (std::size_t k = 0; k < number; ++k) some.push_back(all[k * all.size() / number]);
  return some;
}

// A failing call with the testee's answer: the results, or a refusal.
struct Answered {
  const cases::HostCall& call;
  verdict::Class failure;
  const std::vector<Tensor>& outs;  // none if the testee refused

  bool refused() const { return failure == verdict::Class::refused_though_valid; }
};

// What a mistake is about. Of hypotheses that explain as much, the one of the earliest kind is told.
enum class About : std::uint8_t {
  arguments,    // the kernel computes another call
  results,      // the kernel gives certain elements certain values
  computation,  // the kernel computes, rounds or stores results in another manner
  places,       // certain elements are wrong; their values are not known
};

// What a kernel may do in place of what its operator says. It is a cause if it foretells the answers of failing calls,
// and if the calls in which it makes no difference pass.
struct Hypothesis {
  std::string does;  // a verb phrase in the plural: "ignore alpha"
  About about = About::arguments;
  bool states_condition = false;  // whether `does` states when, as "return 0 for NaN"
  bool may_pass = false;          // whether such a kernel's results may be right by chance where they can differ
  std::function<bool(const cases::HostCall&)>
      differs;                                    // whether a kernel that does so gives another answer than is right
  std::function<bool(const Answered&)> explains;  // whether a kernel that does so gives this answer
  // For each compared element of an answer: whether it is right, or what a kernel that does so gives. Null: not known.
  std::function<std::vector<bool>(const Answered&)> covers = {};
  bool is_everywhere = false;  // whether a kernel that does so does it in each call
  bool is_general = false;     // one of many that are tried with every operator: few calls may show it by chance
  bool knows_complex = true;   // false: what complex results would be is not known
  // Whether a kernel that does so gives an invalid call results, as if it were valid. Null: not known.
  std::function<bool(const cases::HostCall&)> admits = {};
};

// The known mistakes of kernel authors that the operator's arguments allow, the plainest first: each answers as the
// reference answers a changed call, or changes the reference's results.
std::vector<Hypothesis> known_mistakes(const Operator& op);

// What wrong results can look like: right numbers in wrong places, elements of an input from wrong places, or right
// results that are all changed by one factor or difference. Which mistake makes them so is not known.
std::vector<Hypothesis> appearances_of(const Operator& op);

// What the wrong elements of some answers have in common, and no right element: a special value among the numbers that
// each was computed from, or its place. The most telling comes first. `dtypes`: those of the first results of all
// failing calls, of which these answers may be a part.
std::vector<Hypothesis> mistakes_in_elements(const Operator& op, std::span<const Answered> failing,
                                             const std::set<DType>& dtypes);

// The value of an argument with which a kernel is right that does not look at it: its default, None, or what changes
// nothing, 1 for strides and 0 for paddings. An integer stands for a list of equal integers. None if there is no such
// value, and for dimensions and dtypes.
std::optional<Value> default_of(const SchemaArgument& a);
bool is_same(const Value& a, const Value& b);  // numbers are the same if their values are; tensors never are

}  // namespace assay::defects

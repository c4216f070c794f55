#pragma once

#include <bitset>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "conformance/cases/tensors.h"
#include "conformance/contract/slice.h"
#include "conformance/judge/arithmetic_mode.h"
#include "conformance/judge/refusals.h"

namespace assay {

using DTypes = std::bitset<64>;  // by the format's numbers

// Operators by their names; all where nobody names any.
struct Operators {
  std::optional<std::unordered_set<std::string_view>> names;

  bool has(const Operator& op) const;
};

// Which dtypes the tensors of an operator's calls have together. A row gives each of `arguments` the number of a set;
// where two of them have the same number, they have the same dtype. The last arguments are the results, in their order;
// what is not named may have any dtype.
struct Declaration {
  std::vector<std::string> arguments;
  std::vector<DTypes> sets;
  std::vector<std::vector<std::uint8_t>> rows;

  bool has(const Operator& op, std::span<const Value> arguments) const;
};

struct LayoutPromise {
  Operators operators;
  std::vector<std::string> allowed;  // as layout_name() has them
  bool shared = false;               // by all tensors of a call

  bool has(std::span<const Value> arguments) const;
};

struct RankPromise {
  Operators operators;
  Int most;
};

// Calls that are not promised: those of `operators` for which all flags of `when` and none of `unless` hold.
struct Exclusion {
  Operators operators;
  std::vector<Phrase> when, unless;
};

// What holds of a call, whoever answers it, and whether the contract promises it.
struct Promise {
  std::vector<std::string> slices;
  bool promised = true;
};

// What a testee promises: spec/contracts.md. What a contract does not speak of, it promises.
struct Contract {
  std::string name = "everything", about;
  ArithmeticMode arithmetic = ArithmeticMode::ieee;
  std::vector<CaseSlice> slices;  // all there are
  std::optional<std::vector<std::string>> promised_slices;
  std::optional<DTypes> dtypes;
  std::vector<LayoutPromise> layouts;  // the first that has the operator decides, as of
  std::vector<RankPromise> ranks;
  Operators operators;
  std::vector<Exclusion> excluded;
  std::map<std::string, Declaration, std::less<>> declarations;
  bool allows_unsupported = true;  // as an answer to promised calls

  Refusals allowed_refusals(bool promised) const;

  Promise promise(const Operator& op, const HostCall& call) const;
  Promise promise(const Operator& op, const HostCall& call, const Features& features) const;

  // What can be said of a call before there are values in its tensors: operator, dtypes, layouts and ranks.
  bool promises_types(const Operator& op, std::span<const Value> arguments) const;
};

}  // namespace assay

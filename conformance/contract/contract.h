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

namespace assay::contract {

using DTypes = std::bitset<64>;  // indexed by the numbers that the file format gives to dtypes

// A set of operators, by their names; without names, all operators.
struct Operators {
  std::optional<std::unordered_set<std::string_view>> names;

  bool has(const Operator& op) const;
};

// The combinations of dtypes that the tensors of an operator's calls may have. A row gives each of `arguments` the
// index of a set; arguments with the same index in a row have the same dtype. The last arguments are the results, in
// their order. An argument that is not named may have any dtype.
struct Declaration {
  std::vector<std::string> arguments;
  std::vector<DTypes> sets;
  std::vector<std::vector<std::uint8_t>> rows;

  bool has(const Operator& op, std::span<const Value> arguments) const;
  // The dtypes that the rows give to an argument; none if the declaration omits it.
  DTypes dtypes_of(const Operator& op, std::size_t argument) const;
};

struct LayoutPromise {
  Operators operators;
  std::vector<std::string> allowed;  // names as layout_name() returns them
  bool shared_inputs = false;        // inputs_share_layouts() holds
  bool stated_outs = false;          // outs_have_stated_layouts() holds

  // Returns what the promise does not allow, such as "tensors of different dim orders"; empty if it allows the call.
  std::string excludes(const Operator& op, std::span<const Value> arguments) const;
};

// Whether all input tensors of one rank have the same layout. A weight of rank 1 may be contiguous beside a
// channels-last image. `arguments` follow the schema; the outs may be missing.
bool inputs_share_layouts(const Operator& op, std::span<const Value> arguments);

// Whether each out has the layout of all inputs or the one that the operator's entry states. True without outs.
bool outs_have_stated_layouts(const Operator& op, std::span<const Value> arguments);

struct RankPromise {
  Operators operators;
  Int most;
};

// Calls that are not promised: calls of `operators` for which all flags of `when` hold and no flag of `unless` holds.
struct Exclusion {
  Operators operators;
  std::vector<features::Phrase> when, unless;
};

// The slices that contain a call, which do not depend on the testee, and whether the contract promises the call.
struct Promise {
  std::vector<std::string> slices;
  bool promised = true;
};

// What a testee promises: spec/contracts.md. A contract promises everything that it does not restrict.
struct Contract {
  std::string name = "everything", about;
  judge::ArithmeticMode arithmetic = judge::ArithmeticMode::ieee;
  std::vector<CaseSlice> slices;  // all slices that exist
  std::optional<std::vector<std::string>> promised_slices;
  std::optional<DTypes> dtypes;
  std::vector<LayoutPromise> layouts;  // the first element that has the operator decides; the same holds for `ranks`
  std::vector<RankPromise> ranks;
  Operators operators;
  std::vector<Exclusion> excluded;
  std::map<std::string, Declaration, std::less<>> declarations;
  // Whether promised calls may be answered with "unsupported". The default is that of the contract `everything`. In a
  // contract file without the key `unsupported`, it is false.
  bool allows_unsupported = true;

  judge::Refusals allowed_refusals(bool promised) const;

  Promise promise(const Operator& op, const cases::HostCall& call) const;
  Promise promise(const Operator& op, const cases::HostCall& call, const features::Features& features) const;

  // Returns what the contract does not promise among the facts that are known before the tensors have values: operator,
  // dtypes, layouts and ranks. Returns an empty text if the contract promises all these facts.
  std::string excluded_type(const Operator& op, std::span<const Value> arguments) const;
  bool promises_types(const Operator& op, std::span<const Value> arguments) const {
    return excluded_type(op, arguments).empty();
  }
};

}  // namespace assay::contract

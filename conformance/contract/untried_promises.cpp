#include "conformance/contract/untried_promises.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay::contract {
namespace {

// The dtypes that the contract allows and the operator's declaration has for its first tensor; none without a
// declaration of this tensor.
std::set<std::string> declared_dtypes(const Contract& contract, const std::string& operator_name) {
  const Operator* op = find_operator(operator_name);
  const auto declared = contract.declarations.find(operator_name);
  if (!op || declared == contract.declarations.end()) return {};
  const auto first = std::ranges::find_if(
      op->arguments, [](const SchemaArgument& argument) { return argument.type.starts_with("Tensor"); });
  if (first == op->arguments.end()) return {};
  const DTypes of_first = declared->second.dtypes_of(*op, static_cast<std::size_t>(first - op->arguments.begin()));
  std::set<std::string> names;
  for (std::size_t number = 0; number < of_first.size(); ++number)
    if (of_first.test(number) && (!contract.dtypes || contract.dtypes->test(number)))
      names.emplace(info(static_cast<DType>(number)).name);
  return names;
}

}  // namespace

void UntriedPromises::add(const verdict::Record& r) {
  if (!r.valid || r.dtypes.empty()) return;
  Calls& calls = operators_[r.operator_name];
  calls.valid.insert(r.dtypes.front());
  if (r.promised) calls.promised.insert(r.dtypes.front());
  if (verdict::answers_valid_call(r)) calls.answered.insert(r.dtypes.front());
}

std::vector<verdict::NamedText> UntriedPromises::found() const {
  std::vector<verdict::NamedText> all;
  for (const auto& operator_and_calls : operators_) {
    const std::string& name = operator_and_calls.first;
    const Calls& calls = operator_and_calls.second;
    std::set<std::string> promised = declared_dtypes(contract_, name);
    std::erase_if(promised, [&](const std::string& dtype) { return calls.valid.contains(dtype); });
    promised.insert(calls.promised.begin(), calls.promised.end());
    std::erase_if(promised, [&](const std::string& dtype) { return calls.answered.contains(dtype); });
    if (!promised.empty()) all.push_back({name, fmt::format("{}", fmt::join(promised, ", "))});
  }
  return all;
}

}  // namespace assay::contract

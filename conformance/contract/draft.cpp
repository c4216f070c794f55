#include "conformance/contract/draft.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "reference/fault.h"

namespace assay::contract {
namespace {

std::string quoted(const std::string& text) { return '"' + text + '"'; }

// The positions of the arguments that a declaration names: inputs that may be tensors, and all outs.
std::vector<std::size_t> columns(const Operator& op, const std::set<std::size_t>& without) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < op.arguments.size(); ++i)
    if (op.arguments[i].out || (op.arguments[i].type.starts_with("Tensor") && !without.contains(i))) all.push_back(i);
  return all;
}

}  // namespace

void Draft::add(const Operator& op, const cases::HostCall& call, const verdict::Record& r) {
  if (!r.valid) {
    if (r.verdict == verdict::Verdict::pass) slices_.insert(r.slices.begin(), r.slices.end());
    return;
  }
  ++valid_;
  if (!verdict::answers_valid_call(r)) return;
  ++answered_;
  slices_.insert(r.slices.begin(), r.slices.end());
  Accepted& accepted = operators_[op.name];
  accepted.layouts.insert(r.layouts.begin(), r.layouts.end());
  accepted.shared_inputs = accepted.shared_inputs && inputs_share_layouts(op, call.arguments);
  accepted.stated_outs = accepted.stated_outs && outs_have_stated_layouts(op, call.arguments);
  Row row(op.arguments.size());
  cases::each_tensor(call.arguments, [&](const Tensor& t, std::size_t i) {
    accepted.most_rank = std::max<Int>(accepted.most_rank, t.rank());
    if (row[i] && row[i] != t.dtype) accepted.mixed.insert(i);
    row[i] = t.dtype;
  });
  accepted.rows.insert(std::move(row));
}

void Draft::write(std::ostream& out) const {
  const std::string source = fmt::format("source: \"drafted: {} of {} valid calls were answered\"", answered_, valid_);
  std::vector<std::string> operators;
  std::map<std::string, std::vector<std::string>> by_layouts, by_rank;  // operators with the same promise
  for (const auto& [name, accepted] : operators_) {
    operators.push_back(quoted(std::string(name)));
    std::vector<std::string> layouts;
    for (const std::string& layout : accepted.layouts) layouts.push_back(quoted(layout));
    by_layouts[fmt::format("allowed: [{}]\n    shared_inputs: {}\n    stated_outs: {}", fmt::join(layouts, ", "),
                           accepted.shared_inputs, accepted.stated_outs)]
        .push_back(operators.back());
    by_rank[fmt::format("most: {}", accepted.most_rank)].push_back(operators.back());
  }
  const auto write_alike = [&](std::string_view key, const auto& promises) {
    fmt::print(out, "{}:{}\n", key, promises.empty() ? " []" : "");
    for (const auto& [promise, names] : promises)
      fmt::print(out, "  - operators: [{}]\n    {}\n    {}\n", fmt::join(names, ", "), promise, source);
    fmt::print(out, "\n");
  };
  fmt::print(out, "contract: {}\nabout: What {} accepts, right or wrong; a draft.\n\n", testee_, testee_);
  fmt::print(out, "slices:\n  - allowed: [{}]\n    {}\n\n", fmt::join(slices_, ", "), source);
  write_alike("layouts", by_layouts);
  write_alike("ranks", by_rank);
  fmt::print(out, "operators:\n  allowed: [{}]\n  {}\n\n", fmt::join(operators, ", "), source);
  fmt::print(out, "declarations:\n  {}\n  operators:{}\n", source, operators_.empty() ? " {}" : "");
  for (const auto& [name, accepted] : operators_) write_declaration(out, *find_operator(name), accepted);
}

// Writes one set for each dtype, and an empty set for arguments that are not tensors.
void Draft::write_declaration(std::ostream& out, const Operator& op, const Accepted& accepted) {
  const std::vector<std::size_t> all = columns(op, accepted.mixed);
  std::vector<std::string_view> arguments;
  for (const std::size_t i : all) arguments.push_back(op.arguments[i].name);
  std::vector<std::optional<DType>> sets;
  std::set<std::string> rows;
  for (const Row& row : accepted.rows) {
    std::string text;
    for (const std::size_t i : all) {
      auto at = std::ranges::find(sets, row[i]);
      if (at == sets.end()) at = sets.insert(sets.end(), row[i]);
      text += (text.empty() ? "" : " ") + std::to_string(at - sets.begin());
    }
    rows.insert(text);
  }
  std::vector<std::string> names;
  for (const auto& dtype : sets) names.push_back(dtype ? fmt::format("[{}]", info(*dtype).name) : "[]");
  fmt::print(out, "    \"{}\":\n      arguments: [{}]\n      sets: [{}]\n      rows: [{}]\n", op.name,
             fmt::join(arguments, ", "), fmt::join(names, ", "), fmt::join(rows, ", "));
}

}  // namespace assay::contract

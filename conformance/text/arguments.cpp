#include "conformance/text/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <tuple>
#include <utility>

#include "conformance/text/literal.h"
#include "conformance/text/malformed.h"
#include "conformance/text/printable.h"

namespace assay {
namespace {

// "add" for "aten::add.out": the name without namespace, overload and surrounding underscores.
std::string_view base_name(std::string_view name) {
  if (const auto colons = name.find("::"); colons != std::string_view::npos) name.remove_prefix(colons + 2);
  name = name.substr(0, name.find('.'));
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

// The number of insertions, deletions and replacements of characters that make b of a (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::vector<std::string_view> similar_names(std::string_view name) {
  constexpr std::size_t longest = 64, far = 2, wanted = 3;
  // The distance of the base name, the distance of the name, and the name.
  std::vector<std::tuple<std::size_t, std::size_t, std::string_view>> found;
  if (name.size() > longest) return {};
  for (const Operator& op : operator_table()) {
    const std::size_t distance = edit_distance(base_name(name), base_name(op.name));
    if (distance <= far && distance < base_name(name).size())
      found.emplace_back(distance, edit_distance(name, op.name), op.name);
  }
  std::ranges::sort(found);
  std::vector<std::string_view> names;
  for (const auto& [distance, all, similar] : found)
    if (distance == std::get<0>(found.front()) && names.size() < wanted) names.push_back(similar);
  return names;
}

}  // namespace

void complete(const Operator& op, std::vector<Value>& arguments) {
  const std::size_t inputs = input_count(op);
  well_formed(arguments.size() <= inputs, "call.argument", op.name, " takes ", inputs, " arguments, but ",
              arguments.size(), " came");
  while (arguments.size() < inputs) {
    const SchemaArgument& a = op.arguments[arguments.size()];
    well_formed(!a.default_text.empty(), "call.argument", a.name, " is missing, and the schema gives it no default");
    arguments.push_back(read_literal(a.default_text, a.type, a.length));
  }
  arguments.resize(op.arguments.size());
}

std::vector<Value> read_arguments(const Operator& op, std::span<const std::string> inputs,
                                  std::span<const std::string> outs) {
  const std::size_t count = input_count(op);
  std::vector<Value> arguments;
  for (std::size_t i = 0; i < std::min(inputs.size(), count); ++i) {
    const SchemaArgument& a = op.arguments[i];
    arguments.push_back(within([&] { return read_literal(inputs[i], a.type, a.length); }, a.name));
  }
  well_formed(inputs.size() <= count, "call.argument", op.name, " takes ", count, " arguments, but ", inputs.size(),
              " came");
  complete(op, arguments);
  well_formed(outs.size() <= op.outs(), "call.out", op.name, " has ", op.outs(), " out arguments, but ", outs.size(),
              " came");
  for (std::size_t i = 0; i < outs.size(); ++i) {
    const SchemaArgument& a = op.arguments[count + i];
    well_formed(a.type == "Tensor", "call.out", a.name, " is of type ", a.type, ", which no literal gives");
    arguments[count + i] = within([&] { return read_out_literal(outs[i]); }, a.name);
  }
  return arguments;
}

const Operator& operator_named(std::string_view name) {
  if (const Operator* op = find_operator(name)) return *op;
  const std::vector<std::string_view> similar = similar_names(name);
  const std::string hint = similar.empty() ? "" : fmt::format("; similar: {}", fmt::join(similar, ", "));
  throw Fault(Outcome::unsupported, "call.operator", fmt::format("there is no operator {}{}", in_quotes(name), hint));
}

}  // namespace assay

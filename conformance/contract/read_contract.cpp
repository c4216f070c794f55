#include "conformance/contract/read_contract.h"
#include "conformance/testee/data_folder.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>

#include "reference/fault.h"

namespace assay::contract {
namespace {

// The operators that match any of the patterns, as matches() defines it.
Operators operators_in(const Yaml& patterns) {
  std::unordered_set<std::string_view> names;
  for (const Yaml& word : patterns.items()) {
    bool is_any = false;
    for (const Operator& op : operator_table())
      if (cases::matches(word.text(), op.name)) names.insert(op.name), is_any = true;
    if (!is_any) word.refuse("contract.operator", concat("no operator matches \"", word.text(), '"'));
  }
  return {std::move(names)};
}

DTypes dtypes_in(const Yaml& names) {
  DTypes set;
  for (const Yaml& name : names.items()) {
    const auto dtype = dtype_named(name.text());
    if (!dtype) name.refuse("contract.dtype", concat("there is no dtype \"", name.text(), '"'));
    set.set(static_cast<std::size_t>(*dtype));
  }
  return set;
}

// The operators under the key "operators"; all operators if the key is missing.
Operators operators_of(const Yaml& map) {
  const Yaml* patterns = map.find("operators");
  return patterns ? operators_in(*patterns) : Operators();
}

LayoutPromise layout_in(const Yaml& map) {
  map.check_keys({"operators", "allowed", "shared_inputs", "stated_outs", "source"});
  for (const Yaml& name : map.at("allowed").items())
    if (name.text() != "contiguous" && name.text() != "channels_last" && !name.text().starts_with('('))
      name.refuse("contract.layout", concat("there is no layout \"", name.text(), '"'));
  const auto is_set = [&](const char* key) { return map.find(key) && map.find(key)->boolean(); };
  return {operators_of(map), map.at("allowed").texts(), is_set("shared_inputs"), is_set("stated_outs")};
}

RankPromise rank_in(const Yaml& map) {
  map.check_keys({"operators", "most", "source"});
  return {operators_of(map), map.at("most").whole_number()};
}

judge::ArithmeticMode arithmetic_in(const Yaml& mode) {
  const auto at = std::ranges::find(judge::arithmetic_modes, mode.text());
  if (at == judge::arithmetic_modes.end())
    mode.refuse("contract.arithmetic", concat("the arithmetic \"", mode.text(), "\" is not defined"));
  return static_cast<judge::ArithmeticMode>(at - judge::arithmetic_modes.begin());
}

std::vector<std::uint8_t> row_in(const Yaml& yaml, const Declaration& d) {
  std::istringstream words(yaml.text());
  std::vector<std::uint8_t> row;
  for (std::string word; words >> word;) {
    std::uint8_t set = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), set);
    if (error != std::errc{} || end != word.data() + word.size() || set >= d.sets.size())
      yaml.refuse("contract.row", concat("there is no set ", word));
    row.push_back(set);
  }
  if (row.size() != d.arguments.size())
    yaml.refuse("contract.row", concat("a row has ", d.arguments.size(), " sets, not ", row.size()));
  return row;
}

// The names of the inputs that a declaration covers, then one name for each out, which the contract may choose.
std::vector<std::string> arguments_in(const Yaml& list, const Operator& op) {
  const std::span<const Yaml> names = list.items();
  if (names.size() < op.outs()) list.refuse("contract.argument", concat(op.name, " has ", op.outs(), " outs"));
  for (const Yaml& name : names.first(names.size() - op.outs()))
    if (std::ranges::find(op.arguments, name.text(), &SchemaArgument::name) == op.arguments.end())
      name.refuse("contract.argument", concat(op.name, " has no argument \"", name.text(), '"'));
  return list.texts();
}

Declaration declaration_in(const std::string& name, const Yaml& map) {
  map.check_keys({"arguments", "sets", "rows"});
  const Operator* op = find_operator(name);
  if (!op) map.refuse("contract.operator", concat("there is no operator \"", name, '"'));
  Declaration d{arguments_in(map.at("arguments"), *op), {}, {}};
  for (const Yaml& set : map.at("sets").list()) d.sets.push_back(dtypes_in(set));
  for (const Yaml& row : map.at("rows").list()) d.rows.push_back(row_in(row, d));
  return d;
}

// The value of a promise that has only this key and a source.
const Yaml& said(const Yaml& promise, const std::string& key) {
  promise.check_keys({key, "source"});
  return promise.at(key);
}

std::vector<std::string> slices_in(const Yaml& names, const std::vector<CaseSlice>& slices) {
  for (const Yaml& name : names.items())
    if (std::ranges::find(slices, name.text(), &CaseSlice::name) == slices.end())
      name.refuse("contract.slice", concat("there is no slice \"", name.text(), '"'));
  return names.texts();
}

Exclusion exclusion_in(const Yaml& map) {
  map.check_keys({"operators", "when", "unless", "source"});
  return {operators_of(map), flags_in(map, "when"), flags_in(map, "unless")};
}

// Refuses a promise without a source.
const Yaml& sourced(const Yaml& promise) {
  if (promise.at("source").text().empty()) promise.refuse("contract.key", "a promise must state its source");
  return promise;
}

Contract contract_in(const Yaml& yaml, std::vector<CaseSlice> slices) {
  yaml.check_keys({"contract", "about", "arithmetic", "slices", "dtypes", "layouts", "ranks", "operators", "excluded",
                   "declarations", "unsupported"});
  Contract c;
  c.allows_unsupported = false;
  c.name = yaml.at("contract").text(), c.about = yaml.at("about").text();
  c.slices = std::move(slices);
  const auto one = [&](const std::string& key, auto read) {
    if (const Yaml* promise = yaml.find(key)) read(sourced(*promise));
  };
  const auto each = [&](const std::string& key, auto read) {
    if (const Yaml* promises = yaml.find(key))
      for (const Yaml& promise : promises->list()) read(sourced(promise));
  };
  if (yaml.find("slices")) c.promised_slices.emplace();
  one("arithmetic", [&](const Yaml& y) { c.arithmetic = arithmetic_in(said(y, "mode")); });
  each("slices", [&](const Yaml& y) {
    std::ranges::move(slices_in(said(y, "allowed"), c.slices), std::back_inserter(*c.promised_slices));
  });
  one("dtypes", [&](const Yaml& y) { c.dtypes = dtypes_in(said(y, "allowed")); });
  each("layouts", [&](const Yaml& y) { c.layouts.push_back(layout_in(y)); });
  each("ranks", [&](const Yaml& y) { c.ranks.push_back(rank_in(y)); });
  one("operators", [&](const Yaml& y) { c.operators = operators_in(said(y, "allowed")); });
  one("unsupported", [&](const Yaml& y) { c.allows_unsupported = said(y, "allowed").boolean(); });
  each("excluded", [&](const Yaml& y) { c.excluded.push_back(exclusion_in(y)); });
  one("declarations", [&](const Yaml& y) {
    for (const auto& [name, map] : said(y, "operators").map()) c.declarations.emplace(name, declaration_in(name, map));
  });
  return c;
}

std::filesystem::path conformance_folder(const char* name) {
  return testee::folder_of(std::filesystem::path("conformance/data") / name, "contract.file");
}

}  // namespace

Contract read_contract(const std::string& name_or_file) {
  std::vector<CaseSlice> slices = read_slices(conformance_folder("slices"));
  if (std::filesystem::is_regular_file(name_or_file)) return contract_in(Yaml::read(name_or_file), std::move(slices));
  const std::filesystem::path file = conformance_folder("contracts") / (name_or_file + ".yaml");
  if (!std::filesystem::exists(file))
    throw Fault(Outcome::malformed, "contract.file", concat("there is no contract \"", name_or_file, '"'));
  return contract_in(Yaml::read(file), std::move(slices));
}

Contract contract_of(std::string_view testee) {
  const std::size_t colon = testee.find(':');
  const std::filesystem::path file = conformance_folder("contracts") / concat(testee.substr(0, colon), ".yaml");
  Contract contract = read_contract(std::filesystem::exists(file) ? file.string() : "everything");
  contract.allows_unsupported |= colon != std::string_view::npos;
  return contract;
}

}  // namespace assay::contract

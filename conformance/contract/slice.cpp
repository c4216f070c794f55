#include "conformance/contract/slice.h"

#include <algorithm>

#include "reference/fault.h"

namespace assay::contract {
namespace {

CaseSlice read_slice(const std::filesystem::path& file) {
  const Yaml yaml = Yaml::read(file);
  yaml.check_keys({"slice", "about", "all", "any", "none"});
  CaseSlice s{yaml.at("slice").text(), yaml.at("about").text(), flags_in(yaml, "all"), flags_in(yaml, "any"),
              flags_in(yaml, "none")};
  if (s.name != file.stem())
    yaml.at("slice").refuse("contract.slice", concat("the slice is \"", s.name, "\", but its file another"));
  return s;
}

}  // namespace

std::vector<features::Phrase> flags_in(const Yaml& map, const std::string& key) {
  const Yaml* list = map.find(key);
  if (!list) return {};
  std::vector<features::Phrase> flags;
  for (const Yaml& item : list->items()) {
    flags.emplace_back(item.text());
    if (std::ranges::find(features::call_flags(), flags.back()) == features::call_flags().end())
      item.refuse("contract.flag", concat("no call is described as \"", item.text(), '"'));
  }
  return flags;
}

bool CaseSlice::has(const features::Features& call) const {
  const auto holds = [&](features::Phrase flag) { return call.has(flag); };
  return std::ranges::all_of(all, holds) && std::ranges::none_of(none, holds) &&
         (any.empty() || std::ranges::any_of(any, holds));
}

std::vector<CaseSlice> read_slices(const std::filesystem::path& folder) {
  std::vector<CaseSlice> slices;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".yaml") slices.push_back(read_slice(entry.path()));
  std::ranges::sort(slices, {}, &CaseSlice::name);
  return slices;
}

}  // namespace assay::contract

#include <unordered_set>

#include "reference/program/checks.h"

// Data files: the rules of area F.
namespace assay {
namespace {

constexpr LayoutRules layout_rules{"F12", "F11", "F11", "F12", "F12"};

void check_entry(const DataFile& file, const ptd::NamedDataT& entry, const Place& place, Findings& f) {
  const auto bytes = entry.tensor_layout ? check_layout(*entry.tensor_layout, layout_rules, place, f) : std::nullopt;
  if (!f.check(entry.segment_index < file.segments.size(), "F9", place, "names segment ", entry.segment_index,
               ", but there are ", file.segments.size()))
    return;
  const std::size_t size = file.segments[entry.segment_index].size();
  if (bytes)
    f.check(*bytes == size, "F13", place, "its layout is that of ", *bytes, " bytes, but its segment has ", size);
}

}  // namespace

std::vector<Fault> faults_of(const DataFile& file) {
  Findings f;
  std::unordered_set<std::string_view> keys;
  for (std::size_t i = 0; i < file.tables.named_data.size(); ++i) {
    const ptd::NamedDataT& entry = *file.tables.named_data[i];
    const Place place{nullptr, "named_data", static_cast<Int>(i)};
    f.check(keys.insert(entry.key).second, "F8", place, "its key \"", entry.key, "\" is there already");
    check_entry(file, entry, place, f);
  }
  return std::move(f.faults);
}

const ptd::NamedDataT* find_named(const DataFile& file, std::string_view key) {
  const auto& entries = file.tables.named_data;
  const auto found = std::ranges::find_if(entries, [&](const auto& e) { return e->key == key; });
  return found == entries.end() ? nullptr : found->get();
}

}  // namespace assay

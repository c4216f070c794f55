#include "tools/plant/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "reference/fault.h"

namespace assay::plant {

std::string to_text(const Planted& p) { return fmt::format("{} | {} | {} | {}", p.of, p.kind, p.place, p.change); }

Survivors::Survivors(const char* file) {
  std::ifstream in(file);
  if (!in) throw Fault(Outcome::malformed, "survivors", fmt::format("there is no file {}", file));
  for (std::string line; std::getline(in, line);)
    if (const std::size_t bar = line.rfind(" | "); bar != std::string::npos && !line.starts_with('#'))
      reasons_[line.substr(0, bar)] = line.substr(bar + 3);
}

const std::string* Survivors::reason(const Planted& planted) const {
  const auto at = reasons_.find(to_text(planted));
  return at == reasons_.end() ? nullptr : &at->second;
}

Options::Options(int argc, const char* const* argv) {
  std::span words(argv + 1, static_cast<std::size_t>(argc - 1));
  if (words.size() > 1 && std::string_view(words[0]) == "--sample")
    sample = std::strtoul(words[1], nullptr, 10), words = words.subspan(2);
  if (words.size() < 2) throw Fault(Outcome::invalid, "arguments", "wanted are [--sample N] SURVIVORS FOLDER...");
  listed = Survivors(words[0]);
  folders.assign(words.begin() + 1, words.end());
}

std::vector<std::size_t> Options::chosen(std::span<const Planted> planted) const {
  std::map<std::string_view, std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < planted.size(); ++i)
    if (sample == 0 || !listed.reason(planted[i])) kinds[planted[i].kind].push_back(i);
  std::vector<std::size_t> some;
  for (const auto& [kind, all] : kinds) {
    const std::size_t count = sample == 0 ? all.size() : std::min(sample, all.size());
    for (std::size_t k = 0; k < count; ++k) some.push_back(all[k * all.size() / count]);
  }
  std::ranges::sort(some);
  return some;
}

void Report::add(const Planted& planted, bool noticed, const std::string& found,
                 std::initializer_list<std::string_view> groups) {
  const std::string* const reason = listed_.reason(planted);
  const std::string& said = reason ? *reason : found;
  for (const std::string_view group : groups) {
    Count& count = counts_.try_emplace(std::string(group)).first->second;
    ++count.all, count.noticed += noticed, count.equal += !noticed && is_equal(said);
  }
  if (!noticed) fmt::print("{} | {}\n", to_text(planted), said);
  if (noticed && reason) fmt::print("noticed, though listed: {}\n", to_text(planted));
  as_listed_ &= noticed == (reason == nullptr);
}

bool Report::finish() const {
  for (const auto& [group, c] : counts_)
    fmt::print("{:<18} {:>5} of {:>5} noticed, {:>4} equal: {:.1f} % of the others\n", group, c.noticed, c.all, c.equal,
               100.0 * c.noticed / std::max(c.all - c.equal, 1));
  return as_listed_;
}

}  // namespace assay::plant

#include "conformance/corrupt/corruption.h"

#include <algorithm>

namespace assay::corrupt {
namespace {

// The name of a change of a number omits the kind.
std::string behind(const Site& site, std::string_view change) {
  return site.kind == SiteKind::number ? concat('=', change) : concat(':', word(site.kind), '=', change);
}

bool breaks_nothing_else(const Expectation& e, std::string_view rule) {
  return std::ranges::all_of(e.faults, [&](const Fault& f) { return f.rule == rule; });
}

Attempt attempt_of(const RuleCase& c, bool breaks) {
  const Files& files = breaks ? c.breaks : c.meets;
  std::vector<Fault> faults = faults_of(file_kind(c.meets.file), files.file, files.data);
  const Expected expected = faults.empty() ? Expected::accepted : expected_of(faults);
  const std::string meets = c.name + "-meets";
  return {breaks ? c.name + "-breaks" : meets, std::string(c.rule), meets, files, {expected, std::move(faults)}};
}

}  // namespace

Corruptions::Corruptions(Bytes file, std::vector<Bytes> data, std::size_t places)
    : original_(std::move(file), std::move(data)),
      corrupter_(original_.file()),
      sites_(spread(corrupter_.sites(), places)) {}

void Corruptions::each_name(const TakeName& take) const {
  for (const Site& site : sites_)
    for (const std::string_view change : corrupter_.changes(site)) take(site, change);
}

void Corruptions::each(const Take& take) const {
  for (const Site& site : sites_)
    for (const std::string_view change : corrupter_.changes(site))
      if (const auto made = attempt(site, change); made && !take(*made)) return;
}

std::vector<std::string> Corruptions::names() const {
  std::vector<std::string> all;
  each_name([&](const Site& site, std::string_view change) {
    if (changed(site, change)) all.push_back(site.place + behind(site, change));
  });
  return all;
}

std::optional<Attempt> Corruptions::find(std::string_view name) const {
  for (const Site& site : sites_)
    for (const std::string_view change : corrupter_.changes(site))
      if (name == site.place + behind(site, change)) return attempt(site, change);
  return std::nullopt;
}

std::optional<Attempt> Corruptions::that_breaks(std::string_view rule) const {
  std::optional<Attempt> found;
  each([&](const Attempt& a) {
    const auto& faults = a.expectation.faults;
    const bool alone = !faults.empty() && breaks_nothing_else(a.expectation, rule);
    if (alone || (!found && std::ranges::find(faults, rule, &Fault::rule) != faults.end())) found = a;
    return !alone;
  });
  return found;
}

std::optional<Bytes> Corruptions::changed(const Site& site, std::string_view change) const {
  Bytes bytes = corrupter_.changed(site, change);
  if (bytes == original_.file()) return std::nullopt;
  return bytes;
}

std::optional<Attempt> Corruptions::attempt(const Site& site, std::string_view change) const {
  auto bytes = changed(site, change);
  if (!bytes) return std::nullopt;
  Expectation expectation = original_.expectation(*bytes);
  const std::string what = behind(site, change);
  return Attempt{
      site.place + what, site.field + what, "", {std::move(*bytes), original_.data()}, std::move(expectation)};
}

namespace {

void each_of(const std::vector<RuleCase>& cases, const Corruptions::Take& take) {
  for (const RuleCase& c : cases)
    for (const bool breaks : {false, true})
      if (!take(attempt_of(c, breaks))) return;
}

}  // namespace

void each_case(const Corruptions::Take& take) { each_of(rule_cases(), take); }
void each_payload_case(const Corruptions::Take& take) { each_of(payload_rule_cases(), take); }

}  // namespace assay::corrupt

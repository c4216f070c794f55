#include "conformance/defects/draw.h"

#include "conformance/cases/fingerprint.h"
#include "conformance/text/digest.h"

namespace assay::defects {
namespace {

constexpr std::size_t tries = 8;     // calls that are made for each wanted call that is found
constexpr std::size_t changes = 48;  // changes that are tried for each wanted call that is found; many give no new call
constexpr std::size_t extra_tries = 4;     // added to the number of found calls in both limits
constexpr std::size_t most_changed = 160;  // changes of one argument that are tried for a wanted call
constexpr std::size_t most_added = 2;      // mutations that are added to a known call
constexpr Int mutation_numbers = 64;       // each parameter of a mutation is below this number, as in generated cases

}  // namespace

Drawer::Drawer(const cases::Corpus& corpus, const contract::Contract& contract, const cases::RecordedCalls& calls)
    : corpus_(corpus), contract_(contract), calls_(calls), random_(text::digest(calls.op().name)) {}

features::Features Drawer::know(const cases::Case& made, const cases::HostCall& call) {
  mutated_.insert(digest_of(made.arguments)), made_.insert(digest_of(call.arguments));
  return features::features_of(*made.op, call);
}

std::vector<DescribedCase> Drawer::neighbours(const cases::CaseId& of, std::size_t count) {
  const cases::Case c = corpus_.make(of);
  std::vector<DescribedCase> found;
  std::vector<std::vector<cases::Mutation>> of_arguments;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) of_arguments.push_back(cases::changes_of(*c.op, c.arguments, i));
  const auto add = [&](const cases::Mutation& m) {
    cases::CaseId id = of;
    id.mutations.push_back(m);
    if (auto made = made_first(std::move(id))) found.push_back(std::move(*made));
  };
  for (std::size_t i = 0; i + c.op->outs() < c.arguments.size(); ++i)
    for (const cases::Mutation& m : cases::plain_numbers_of(*c.op, c.arguments, i))
      if (found.size() < count / 3) add(m);
  for (std::size_t tried = 0; found.size() < count && tried < tries * count; ++tried) {
    std::vector<cases::Mutation>& some = of_arguments[tried % of_arguments.size()];
    if (some.empty()) continue;
    const auto at = some.begin() + below(some.size());
    add(*at);
    some.erase(at);
  }
  return found;
}

std::vector<DescribedCase> Drawer::changed_in_one(const cases::CaseId& of, std::size_t count,
                                                  const std::function<bool(const features::Features&)>& wanted) {
  const cases::Case c = corpus_.make(of);
  std::vector<DescribedCase> found;
  std::size_t made = 0;
  for (std::size_t i = 0; i + c.op->outs() < c.arguments.size(); ++i)
    for (const cases::Mutation& m : cases::changes_of(*c.op, c.arguments, i)) {
      if (found.size() == count || made == most_changed) return found;
      cases::CaseId id = of;
      id.mutations.push_back(m);
      auto changed = made_first(std::move(id));
      if (!changed) continue;
      ++made;
      (wanted(changed->features) ? found : left_).push_back(std::move(*changed));
    }
  return found;
}

std::vector<DescribedCase> Drawer::draw(std::size_t count, std::span<const cases::CaseId> near,
                                        const std::function<bool(const DescribedCase&)>& wanted) {
  std::vector<DescribedCase> found;
  std::erase_if(left_, [&](DescribedCase& c) {
    const bool taken = found.size() < count && wanted(c);
    if (taken) found.push_back(std::move(c));
    return taken;
  });
  std::vector<cases::CaseId> known(near.begin(), near.end());
  std::size_t made = 0;
  const auto is_worth = [&](std::size_t tried, std::size_t for_each) {
    return tried < for_each * (found.size() + extra_tries);
  };
  for (std::size_t k = 0; found.size() < count && is_worth(k, changes) && is_worth(made, tries); ++k)
    if (auto c = made_first(changed(known))) {
      ++made;
      const bool taken = wanted(*c);
      if (taken) known.push_back(c->id);
      (taken ? found : left_).push_back(std::move(*c));
    }
  return found;
}

// Makes the case if its call is small, promised and new.
std::optional<DescribedCase> Drawer::made_first(cases::CaseId id) {
  if (!tried_.insert(cases::to_text(id)).second) return std::nullopt;
  const cases::Case c = corpus_.make(id);
  if (!mutated_.insert(digest_of(c.arguments)).second) return std::nullopt;
  const std::span inputs = std::span(c.arguments).first(c.arguments.size() - c.op->outs());
  if (!contract_.promises_types(*c.op, inputs)) return std::nullopt;  // no outs can make the call promised
  cases::HostCall call = cases::host_call(c, small_call);
  if (call.expected.answer.outcome == Outcome::exhausted) return std::nullopt;
  if (!made_.insert(digest_of(call.arguments)).second) return std::nullopt;
  features::Features features = features::features_of(*c.op, call);
  contract::Promise promise = contract_.promise(*c.op, call, features);
  if (!promise.promised) return std::nullopt;
  return DescribedCase{std::move(id), std::move(features), std::move(promise),
                       std::make_shared<const cases::HostCall>(std::move(call))};
}

std::uint64_t Drawer::digest_of(std::span<const Value> arguments) const {
  return std::hash<std::string>()(cases::fingerprint(calls_.op(), arguments));
}

cases::CaseId Drawer::changed(std::span<const cases::CaseId> near) {
  cases::CaseId id{std::string(calls_.op().name), 0, {}};
  if (near.empty() || below(4) == 0)
    id.call = calls_.digest(static_cast<std::size_t>(below(calls_.size())));
  else
    id = near[static_cast<std::size_t>(below(near.size()))];
  if (id.mutations.empty()) id.mutations = kept_outs(id);
  if (!id.mutations.empty() && below(2) == 0) {  // keeps the mutations and changes one of their numbers
    cases::Mutation& m = id.mutations[static_cast<std::size_t>(below(id.mutations.size()))];
    m.n[static_cast<std::size_t>(below(m.n.size()))] = below(mutation_numbers);
    return id;
  }
  for (Int left = 1 + below(most_added); left > 0; --left)
    id.mutations.push_back({static_cast<cases::Mutation::Kind>(below(cases::mutation_kinds)),
                            {below(mutation_numbers), below(mutation_numbers), below(mutation_numbers)}});
  return id;
}

// The mutations that give a call the dtypes of its recorded outs. A mutated call has outs as the entry computes them,
// or as recorded if the reference refuses the call; other recorded outs must be set by mutations.
const std::vector<cases::Mutation>& Drawer::kept_outs(const cases::CaseId& recorded) {
  const auto [at, is_new] = kept_outs_.try_emplace(recorded.call);
  if (!is_new) return at->second;
  const cases::Case c = corpus_.make(recorded);
  if (!cases::host_call(c).valid()) return at->second;
  const std::size_t first = c.arguments.size() - c.op->outs();
  for (std::size_t k = 0; k < c.op->outs(); ++k) {
    const Tensor* out = std::get_if<Tensor>(&c.arguments[first + k]);
    if (!out || c.op->arguments[first + k].type != "Tensor") continue;
    for (Int dtype = 0; dtype < mutation_numbers; ++dtype) {
      const cases::Mutation given{cases::Mutation::Kind::out, {static_cast<Int>(k), dtype, 0}};
      if (std::get<Tensor>(cases::mutated(*c.op, c.arguments, given)[first + k]).dtype != out->dtype) continue;
      at->second.push_back(given);
      break;
    }
  }
  return at->second;
}

}  // namespace assay::defects

#include "conformance/scenarios/plan.h"

#include <algorithm>
#include <sstream>

#include "conformance/scenarios/files.h"
#include "conformance/scenarios/operators.h"

namespace assay::scenarios {
namespace {

// Programs whose files are changed. They are small and cover internal and external constants, several methods, control
// flow and a delegate.
constexpr std::array changed_programs = std::to_array<std::string_view>(
    {"cond", "constant_methods", "delegate_segment", "external_constants", "mlp", "shared_state"});

// The program that a request is made about: one without state for "allocations", one with state otherwise.
std::string_view asked_of(std::string_view request) { return request == "allocations" ? "sorting" : "counter"; }

// Whether `fits` is true for a word of a pattern; always for an empty pattern.
template <class F>
bool any_word(const std::string& pattern, F fits) {
  if (pattern.empty()) return true;
  std::istringstream words(pattern);
  for (std::string word; std::getline(words, word, ',');)
    if (fits(word)) return true;
  return false;
}

bool fits(const std::string& pattern, const std::string& id) {
  return any_word(pattern, [&](const std::string& word) {
    return cases::matches(word, id) || cases::matches(word, subject_of(id));
  });
}

// Whether a case of a program, whose id is KIND/PROGRAM or KIND/PROGRAM:DETAIL, may fit. Others need not be made.
bool may_fit(const std::string& pattern, std::string_view program) {
  return any_word(pattern, [&](std::string_view word) {
    word = word.substr(0, word.find(':'));
    return word.find_first_of("*?[") != word.npos || cases::matches(word.substr(word.find('/') + 1), program);
  });
}

}  // namespace

std::string_view subject_of(std::string_view id) {
  id.remove_prefix(id.find('/') + 1);
  return id.substr(0, id.find("::") == std::string_view::npos ? id.find(':') : id.find('#'));
}

std::vector<Scenario> plan_scenarios(const std::filesystem::path& folder, const cases::Corpus& corpus,
                                     const contract::Contract& contract, const testee::Runtime* runtime,
                                     const std::string& pattern) {
  const std::vector<std::string> requests = runtime ? runtime->requests() : std::vector<std::string>();
  std::vector<Scenario> all;
  for (const Recorded& program : recorded_programs(folder)) {
    if (!may_fit(pattern, program->name)) continue;
    add_sequences(all, program);
    add_sizes(all, program);
    add_wrong_inputs(all, program);
    add_dim_orders(all, program);
    if (runtime && runtime->sets_inputs()) add_set_again(all, program);
    for (const std::string& request : requests)
      if (program->name == asked_of(request)) add_request(all, program, request);
    if (std::ranges::find(changed_programs, program->name) != changed_programs.end()) add_changed_files(all, program);
  }
  if (may_fit(pattern, "rules")) add_cases_of_rules(all);
  add_operators(all, corpus, contract);
  std::erase_if(all, [&](const Scenario& s) { return !fits(pattern, s.id); });
  if (all.empty()) throw Fault(Outcome::unsupported, "runtime.programs", concat("no case fits \"", pattern, "\""));
  std::ranges::stable_sort(all, {}, &Scenario::kind);
  return all;
}

}  // namespace assay::scenarios

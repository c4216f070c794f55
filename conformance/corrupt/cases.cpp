#include "conformance/corrupt/cases.h"

#include <algorithm>
#include <map>

namespace assay::corrupt {
namespace {

// The file of a sample that the rule is about, by its area.
Files files_of(const Sample& sample, std::string_view rule) {
  if (rule.front() == 'B') return {sample.encoded_bundle(), {}};
  const Bytes data = encode(sample.data);
  if (rule.front() == 'F' && rule != "F8") return {data, {}};  // F8 is also about the program
  return {encode(sample.program), {data}};
}

template <class Subject>
Subject made(const std::function<void(Subject&)>& change) {
  Subject subject;
  change(subject);
  return subject;
}

class Cases {
 public:
  void add(std::string_view rule, Files meets, Files breaks) {
    all_.push_back({rule, text(rule, '.', numbers_[rule]++), std::move(meets), std::move(breaks)});
  }
  std::vector<RuleCase> take() {
    const auto index = [](const RuleCase& c) {
      return std::ranges::find(format_rules, c.rule, &FormatRule::id) - std::begin(format_rules);
    };
    std::ranges::stable_sort(all_, {}, index);
    return std::move(all_);
  }

 private:
  std::vector<RuleCase> all_;
  std::map<std::string_view, int> numbers_;
};

}  // namespace

std::vector<RuleCase> rule_cases() {
  Cases cases;
  for (const TableCase& c : table_cases())
    cases.add(c.rule->id, files_of(made(c.meets), c.rule->id), files_of(made(c.breaks), c.rule->id));
  for (ByteCase& c : byte_cases()) cases.add(c.rule->id, {std::move(c.meets), {}}, {std::move(c.breaks), {}});
  for (const FlowCase& c : flow_cases())
    cases.add(c.rule->id, {made(c.meets).program.bytes(), {}}, {made(c.breaks).program.bytes(), {}});
  return cases.take();
}

}  // namespace assay::corrupt

#include "conformance/corrupt/cases.h"

#include <algorithm>
#include <map>

#include "conformance/corrupt/delegated.h"
#include "reference/program/decoded.h"

namespace assay::corrupt {
namespace {

template <class Subject>
Subject made(const std::function<void(Subject&)>& change, Subject subject = {}) {
  change(subject);
  return subject;
}

// A sample that the rule is about, with as few features as possible that not every loader supports.
Sample sample_for(std::string_view rule) {
  Sample sample;
  const bool about_delegates = rule == "D3" || rule == "G18" || rule == "I13";
  if (!about_delegates) sample.make_plain();
  return sample;
}

// The sample as a bundle if the rule is about bundles, else as a program with its data file.
Files files_of(const Sample& sample, std::string_view rule) {
  if (rule.front() == 'B') return {sample.encoded_bundle(), {}};
  return {encode(sample.program), {encode(sample.data)}};
}

// A file of any kind; a program with the sample's data file.
Files with_data(Bytes file) {
  if (file_kind(file) == &format::program_kind) return {std::move(file), {encode(Sample().data)}};
  return {std::move(file), {}};
}

class Cases {
 public:
  void add(std::string_view rule, Files meets, Files breaks) {
    all_.push_back({rule, concat(rule, '.', numbers_[rule]++), std::move(meets), std::move(breaks)});
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

Tensor zeros_as(const pte::TensorT& declared) {
  Tensor t;
  t.dtype = static_cast<DType>(declared.scalar_type);
  t.sizes = Dims(Ints(declared.sizes.begin(), declared.sizes.end()));
  t.dim_order = Dims(Ints(declared.dim_order.begin(), declared.dim_order.end()));
  t.bytes.resize(static_cast<std::size_t>(count(t.sizes)) * static_cast<std::size_t>(info(t.dtype).bytes));
  return t;
}

}  // namespace

std::vector<RuleCase> rule_cases() {
  Cases cases;
  for (const TableCase& c : table_cases())
    cases.add(c.rule->id, files_of(made(c.meets, sample_for(c.rule->id)), c.rule->id),
              files_of(made(c.breaks, sample_for(c.rule->id)), c.rule->id));
  for (ByteCase& c : byte_cases()) {
    Files meets = with_data(std::move(c.meets)), breaks{std::move(c.breaks), meets.data};
    cases.add(c.rule->id, std::move(meets), std::move(breaks));
  }
  for (const FlowCase& c : flow_cases())
    cases.add(c.rule->id, {made(c.meets).program.bytes(), {}}, {made(c.breaks).program.bytes(), {}});
  return cases.take();
}

std::vector<RuleCase> payload_rule_cases() {
  Cases cases;
  for (const PayloadCase& c : payload_cases()) {
    if (c.rule->checked == FormatRule::Checked::lint) continue;
    Delegated meets, breaks;
    c.meets(meets), c.breaks(breaks);
    cases.add(c.rule->id, {meets.file(), {}}, {breaks.file(), {}});
  }
  return cases.take();
}

std::vector<BrokenPayload> broken_payloads() {
  std::vector<BrokenPayload> all;
  std::map<std::string_view, int> numbers;
  for (const PayloadCase& c : payload_cases()) {
    if (c.rule->checked == FormatRule::Checked::lint) continue;
    Delegated d;
    c.breaks(d);
    BrokenPayload& broken = all.emplace_back();
    broken.name = concat(c.rule->id, '.', numbers[c.rule->id]++);
    for (std::uint32_t i = 0; i < d.graph().inputs.size() && i < d.arguments().size(); ++i) {
      const auto& value = d.plan().values[static_cast<std::size_t>(d.arguments()[i])]->val;
      const pte::TensorT* declared = value.AsTensor();
      broken.inputs.push_back(declared ? Value(zeros_as(*declared)) : Value(Int{value.AsInt()->int_val}));
    }
    broken.file = d.method_file();
  }
  return all;
}

}  // namespace assay::corrupt

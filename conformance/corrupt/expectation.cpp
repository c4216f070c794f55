#include "conformance/corrupt/expectation.h"

#include <algorithm>

#include "conformance/files/same.h"
#include "conformance/files/some_inputs.h"
#include "reference/program/decoded.h"
#include "reference/runtime/runtime.h"

namespace assay::corrupt {
namespace {

// The limits of a run of a changed program, which may not end.
constexpr Budget::Limits limits{.bytes = Int{64} << 20, .work = 20'000'000, .output = Int{1} << 20};
constexpr Int most_instructions = 10'000;

std::vector<File> files(const std::vector<Bytes>& all) {
  std::vector<File> opened;
  for (const Bytes& bytes : all) opened.push_back(borrowed(bytes));
  return opened;
}

std::vector<Value> outputs_of(const assay::Method& method) {
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < method.plan().outputs()->size(); ++i) {
    auto output = method.output(i);
    outputs.push_back(output ? std::move(*output) : Value());
  }
  return outputs;
}

template <auto decode>
bool decode_to_the_same(const Bytes& a, const Bytes& b) {
  return *decode(a) == *decode(b);
}

constexpr format::OfKind<bool (*)(const Bytes&, const Bytes&)> comparisons[] = {
    {&format::program_kind, decode_to_the_same<decode_program>},
    {&format::data_kind, decode_to_the_same<decode_data_file>},
    {&format::bundle_kind, decode_to_the_same<decode_bundle>},
    {&format::xnnpack_kind, decode_to_the_same<decode_xnnpack>},
};

}  // namespace

std::string_view prefix(Expected expected) {
  constexpr std::string_view prefixes[] = {"n_", "y_", "i_"};
  return prefixes[static_cast<std::size_t>(expected)];
}

std::vector<Fault> faults_of(const FileKind* kind, const Bytes& file, const std::vector<Bytes>& data) {
  return assay::faults_of(borrowed(file), kind ? *kind : format::program_kind, files(data));
}

// Limits and features depend on the loader.
Expected expected_of(const std::vector<Fault>& faults) {
  const auto is_wrong = [](const Fault& f) { return f.outcome == Outcome::malformed || f.outcome == Outcome::invalid; };
  return std::ranges::any_of(faults, is_wrong) ? Expected::refused : Expected::either;
}

Original::Original(Bytes file, std::vector<Bytes> data) : file_(std::move(file)), data_(std::move(data)) {
  const auto faults = faults_of(file_kind(file_), file_, data_);
  if (!faults.empty()) throw faults.front();
  if (file_kind(file_) == &format::program_kind) meaning_ = run(file_);
}

Expectation Original::expectation(const Bytes& changed) const {
  std::vector<Fault> faults = faults_of(file_kind(file_), changed, data_);
  if (faults.empty()) return {same_meaning(changed) ? Expected::accepted : Expected::either, {}};
  const Expected expected = expected_of(faults);
  return {expected, std::move(faults)};
}

// A file of a kind without an entry counts as different in meaning.
bool Original::same_meaning(const Bytes& changed) const {
  const auto* same_tables = format::find_of_kind(comparisons, *file_kind(file_));
  const bool runs = file_kind(file_) == &format::program_kind;
  return (same_tables && (*same_tables)(changed, file_)) || (runs && same(run(changed), meaning_));
}

Original::Meaning Original::run(const Bytes& program) const {
  RuntimeOptions options;
  options.budget = Budget(limits), options.instructions = most_instructions;
  const Budget::Scope scope(options.budget, "the run");
  const auto loaded = LoadedProgram::load(borrowed(program), files(data_), options);
  if (!loaded) return {{"", loaded.faults.front().rule, {}}};
  Meaning meaning;
  for (const auto* plan : *loaded->program()->tables().execution_plan()) {
    Method& told = meaning.emplace_back(Method{plan->name()->str(), "", {}});
    auto method = loaded->method(told.name);
    Refusal refused = method ? Refusal() : method.faults.front();
    if (method) {
      const auto inputs = files::some_inputs(*method);
      for (std::size_t i = 0; i < inputs.size() && !refused; ++i)
        if (inputs[i]) refused = method->set_input(i, *inputs[i]);
      if (!refused) refused = method->execute();
    }
    if (refused)
      told.refused = refused->rule;
    else
      told.outputs = outputs_of(*method);
  }
  return meaning;
}

bool Original::same(const Meaning& a, const Meaning& b) {
  return std::ranges::equal(a, b, [](const Method& x, const Method& y) {
    return x.name == y.name && x.refused.empty() && y.refused.empty() &&
           std::ranges::equal(x.outputs, y.outputs, [](const Value& v, const Value& w) { return files::same(v, w); });
  });
}

}  // namespace assay::corrupt

#include "conformance/corrupt/expectation.h"

#include <algorithm>

#include "conformance/files/same.h"
#include "conformance/files/some_inputs.h"
#include "reference/program/decoded.h"
#include "reference/runtime/runtime.h"

namespace assay::corrupt {
namespace {

// What a run may take of which nobody knows whether it ends.
constexpr Budget::Limits limits{.bytes = Int{64} << 20, .work = 20'000'000, .output = Int{1} << 20};
constexpr Int most_instructions = 10'000;

std::vector<File> files(const std::vector<Bytes>& all) {
  std::vector<File> opened;
  for (const Bytes& bytes : all) opened.push_back(borrowed(bytes));
  return opened;
}

std::vector<Fault> faults_of_program(File program, const std::vector<Bytes>& data) {
  auto opened = open_program(std::move(program));
  if (!opened) return opened.faults;
  std::vector<NamedDataFile> named;
  for (const Bytes& bytes : data) {
    auto file = open_data(borrowed(bytes));
    if (!file) return file.faults;
    named.push_back(std::move(*file));
  }
  return validate(std::move(*opened), std::move(named)).faults;
}

std::vector<Fault> faults_of_data(File data) {
  const auto opened = open_data(std::move(data));
  return opened ? assay::faults_of(*opened) : opened.faults;
}

std::vector<Fault> faults_of_bundle(File bundle) {
  const auto opened = open_bundle(std::move(bundle));
  if (!opened) return opened.faults;
  auto program = open_program(program_of(*opened));
  if (!program) return program.faults;
  const auto valid = validate(std::move(*program));
  return valid ? assay::faults_of(*opened, *valid) : valid.faults;
}

std::vector<Value> outputs_of(const assay::Method& method) {
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < method.plan().outputs()->size(); ++i) {
    auto output = method.output(i);
    outputs.push_back(output ? std::move(*output) : Value());
  }
  return outputs;
}

}  // namespace

std::string_view prefix(Expected expected) {
  constexpr std::string_view prefixes[] = {"n_", "y_", "i_"};
  return prefixes[static_cast<std::size_t>(expected)];
}

std::vector<Fault> faults_of(FileKind kind, const Bytes& file, const std::vector<Bytes>& data) {
  switch (kind) {
    case FileKind::data:
      return faults_of_data(borrowed(file));
    case FileKind::bundle:
      return faults_of_bundle(borrowed(file));
    default:
      return faults_of_program(borrowed(file), data);
  }
}

// A limit or a feature is the loader's own matter.
Expected expected_of(const std::vector<Fault>& faults) {
  const auto is_wrong = [](const Fault& f) { return f.outcome == Outcome::malformed || f.outcome == Outcome::invalid; };
  return std::ranges::any_of(faults, is_wrong) ? Expected::refused : Expected::either;
}

Original::Original(Bytes file, std::vector<Bytes> data) : file_(std::move(file)), data_(std::move(data)) {
  const auto faults = faults_of(file_kind(file_), file_, data_);
  if (!faults.empty()) throw faults.front();
  if (file_kind(file_) == FileKind::program) meaning_ = run(file_);
}

Expectation Original::expectation(const Bytes& changed) const {
  std::vector<Fault> faults = faults_of(file_kind(file_), changed, data_);
  if (faults.empty()) return {same_meaning(changed) ? Expected::accepted : Expected::either, {}};
  const Expected expected = expected_of(faults);
  return {expected, std::move(faults)};
}

bool Original::same_meaning(const Bytes& changed) const {
  switch (file_kind(file_)) {
    case FileKind::data:
      return *decode_data_file(changed) == *decode_data_file(file_);
    case FileKind::bundle:
      return *decode_bundle(changed) == *decode_bundle(file_);
    default:
      return *decode_program(changed) == *decode_program(file_) || same(run(changed), meaning_);
  }
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
      const auto inputs = some_inputs(*method);
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
           std::ranges::equal(x.outputs, y.outputs, [](const Value& v, const Value& w) { return assay::same(v, w); });
  });
}

}  // namespace assay::corrupt

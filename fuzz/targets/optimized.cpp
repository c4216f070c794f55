#include "conformance/files/some_inputs.h"
#include "fuzz/attached.h"
#include "fuzz/deployed.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"
#include "optimized/refusals/refusals.h"

// The optimized runtime agrees with the reference. It refuses the same programs by the same rules. It gives results of
// the same kinds, dtypes and sizes, in the memory that it requested. Every other input is lent, and keeps its content.
namespace assay::fuzz {
namespace {

using ByteSpan = std::span<const std::byte>;

// The reference's result of each method's first execution, and the inputs.
struct Reference {
  std::vector<std::vector<std::optional<Value>>> inputs;
  std::vector<Said> methods;
};

std::optional<Reference> ask_reference(ByteSpan file, ByteSpan data, Said& loading) {
  const Budget budget(limits);
  const Budget::Scope scope(budget, "the attack");
  RuntimeOptions options = options_for(budget);
  options.backends = {{std::string(program_backend), make_program_delegate}};  // those that the runtime has
  const auto loaded = LoadedProgram::load(borrowed(file), files_of(data), options);
  if (!loaded) return loading = refused(loaded.faults.front()), std::nullopt;
  Reference all;
  for (const auto* plan : *loaded->program()->tables().execution_plan()) {
    auto method = loaded->method(plan->name()->str());
    Said& said = all.methods.emplace_back();
    all.inputs.emplace_back();
    if (!method) {
      said = refused(method.faults.front());
      continue;
    }
    all.inputs.back() = files::some_inputs(*method);
    Refusal refusal;
    for (std::size_t i = 0; i < all.inputs.back().size() && !refusal; ++i)
      if (const auto& input = all.inputs.back()[i]) refusal = method->set_input(i, *input);
    if (!refusal) refusal = method->execute();
    if (refusal) {
      said = refused(*refusal);
      continue;
    }
    for (std::size_t i = 0; i < plan->outputs()->size(); ++i) {
      const auto value = method->output(i);
      said.outputs.push_back(value ? kind_of(*value) : "");
    }
  }
  return all;
}

// Faults that only one side reports: limits of the reference; and T16, since only the reference knows
// which bytes were written.
bool is_limit(const Said& said) { return said.outcome == Outcome::exhausted || said.rule == "T16"; }

}  // namespace

void attack_optimized(Input input) {
  const auto [file, data] = split(input);
  const Budget budget(limits);
  const optimized::RefusalBudget charged(budget);
  Said loading;
  const auto reference = ask_reference(file, data, loading);
  const DeployedProgram opened(file, data);
  if (opened.is_too_large()) return;
  const auto& program = opened.program();
  const optimized::Fault& fault = opened.fault();
  if (!reference) {
    if (is_limit(loading)) return;
    must(!program, "same", "the reference refuses by ", loading.rule, " a program that the runtime opens");
    return must(loading.rule == fault.rule, "same", "the reference refuses by ", loading.rule, ", the runtime by ",
                fault.rule);
  }
  must(program.has_value(), "same", "the runtime refuses by ", fault.rule, " a program that the reference opens");
  for (std::uint32_t i = 0; i < program->methods(); ++i) {
    const Said& want = reference->methods[i];
    const auto done = execute(*program, *program->view().tables->execution_plan()->Get(i), reference->inputs[i]);
    const Said* got = done ? &done->said : nullptr;
    if (!got || is_limit(want) || is_limit(*got)) continue;
    must(got->rule == want.rule, "same", "method ", i, " ends in the reference by \"", want.rule,
         "\" and in the runtime by \"", got->rule, '"');
    must(got->outputs == want.outputs, "same", "the outputs of method ", i, " have other kinds than in the reference");
  }
}

}  // namespace assay::fuzz

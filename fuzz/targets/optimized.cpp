#include <cstring>

#include "conformance/testees/client_memory.h"
#include "fuzz/attached.h"
#include "fuzz/inputs.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/same.h"
#include "fuzz/target.h"
#include "optimized/fallback/fallback.h"
#include "optimized/fallback/values.h"
#include "optimized/runtime/method.h"

// The optimized runtime says of a program what the reference says: it refuses what that refuses, by the same rule, and
// gives results of the same kinds, dtypes and sizes, in the memory that it asked for. Inputs that it is lent, every
// other one, are as they were.
namespace assay::fuzz {
namespace {

using Bytes = std::span<const std::byte>;

ClientMemory copied(Bytes from) {
  ClientMemory to(from.size());
  std::ranges::copy(from, to.bytes().begin());
  return to;
}

// Of an output, what does not depend on rounding.
std::string kind_of(const Value& value) {
  const auto* t = std::get_if<Tensor>(&value);
  return t ? describe(*t) : std::string(kind_name(value));
}

struct Said {
  Outcome outcome = Outcome::ok;
  std::string rule;
  std::vector<std::string> outputs;
};

Said refused(const Fault& fault) { return {fault.outcome, fault.rule, {}}; }
Said refused(const optimized::Fault& fault) { return {fault.outcome, fault.rule, {}}; }

// What the reference says of each method's first execution, and what it was given.
struct Reference {
  std::vector<std::vector<std::optional<Value>>> inputs;
  std::vector<Said> methods;
};

std::optional<Reference> ask_reference(Bytes file, Bytes data, Said& loading) {
  const Budget budget(limits);
  const Budget::Scope scope(budget, "the attack");
  const auto loaded = LoadedProgram::load(borrowed(file), files_of(data), options_for(budget));
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
    all.inputs.back() = some_inputs(*method);
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

// An input as the runtime has values.
struct Given {
  explicit Given(const Value& from) {
    using optimized::ValueKind;
    if (const auto* t = std::get_if<Tensor>(&from)) {
      sizes.assign(t->sizes.begin(), t->sizes.end()), order.assign(t->dim_order.begin(), t->dim_order.end());
      tensor.dtype = t->dtype, tensor.rank = static_cast<std::uint8_t>(t->rank());
      tensor.sizes = sizes.data(), tensor.dim_order = order.data();
      tensor.data = const_cast<std::byte*>(t->bytes.data());
      value.kind = ValueKind::tensor, value.tensor = &tensor;
    } else if (const auto* n = std::get_if<Int>(&from)) {
      value.kind = ValueKind::integer, value.integer = *n;
    } else if (const auto* d = std::get_if<double>(&from)) {
      value.kind = ValueKind::real, value.real = *d;
    } else if (const auto* b = std::get_if<bool>(&from)) {
      value.kind = ValueKind::boolean, value.boolean = *b;
    } else if (const auto* s = std::get_if<std::string>(&from)) {
      value.kind = ValueKind::string, value.text = s->data(), value.count = static_cast<std::uint32_t>(s->size());
    }
  }
  std::vector<std::int32_t> sizes;
  std::vector<std::uint8_t> order;
  optimized::Tensor tensor;
  optimized::Value value;
};

std::optional<Said> run(const optimized::Program& program, const pte::ExecutionPlan& plan,
                        std::span<const std::optional<Value>> inputs) {
  optimized::Options options;
  options.fallback = &optimized::reference_kernel;
  options.backends = {&optimized::program_backend, 1};
  options.instructions = most_instructions;
  optimized::Fault fault;
  optimized::Sizes sizes;
  const ClientMemory work(optimized::Method::workspace_size(program, plan));
  format::Workspace workspace(work.bytes());
  optimized::Method::make(program, plan, options, workspace, nullptr, sizes, fault);
  if (fault) return refused(fault);
  if (sizes.prepared + sizes.arena + sizes.shared + sizes.scratch > static_cast<std::uint64_t>(limits.bytes)) return {};
  const ClientMemory prepared(sizes.prepared), arena(sizes.arena), shared(sizes.shared), scratch(sizes.scratch);
  std::ranges::fill(shared.bytes(), std::byte{0});
  const optimized::Memories memories{prepared.bytes(), arena.bytes(), shared.bytes(), scratch.bytes()};
  optimized::Method* method = optimized::Method::make(program, plan, options, workspace, &memories, sizes, fault);
  if (!method) return refused(fault);
  const auto ended = [&](Said said) { return method->end(), said; };
  std::vector<std::optional<Value>> given(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) continue;
    const Given input(*given[i]);
    if (i % 2 == 0 && method->alias_input(i, input.value, fault)) continue;
    fault = {};
    if (!method->set_input(i, input.value, fault)) return ended(refused(fault));
  }
  const bool executed = method->execute(fault);
  for (std::size_t i = 0; i < given.size(); ++i)
    must(!given[i] || same(*given[i], *inputs[i]), "lent", "input ", i, " was written to");
  if (!executed) return ended(refused(fault));
  Said said;
  for (std::size_t i = 0; i < method->outputs(); ++i)
    said.outputs.push_back(kind_of(optimized::to_reference(method->output(i), false)));
  return ended(said);
}

// What the reference or the fallback refuses for its own sake; and T16, since only the reference knows which bytes were
// written.
bool is_limit(const Said& said) { return said.outcome == Outcome::exhausted || said.rule == "T16"; }

}  // namespace

void attack_optimized(Input input) {
  const auto [file, data] = split(input);
  const Budget budget(limits);
  const optimized::FallbackBudget charged(budget);
  Said loading;
  const auto reference = ask_reference(file, data, loading);
  const ClientMemory program_bytes = copied(file), data_bytes = copied(data);
  const Bytes data_files[] = {data_bytes.bytes()};
  format::DataView views[1];
  optimized::Fault fault;
  format::Workspace counting;
  const std::span<const Bytes> files(data_files, data.empty() ? 0 : 1);
  if (optimized::Program::open(program_bytes.bytes(), files, views, counting, fault) &&
      counting.most() > static_cast<std::uint64_t>(limits.bytes))
    return;
  const ClientMemory memory(counting.most());
  format::Workspace workspace(memory.bytes());
  fault = {};
  const auto program = optimized::Program::open(program_bytes.bytes(), files, views, workspace, fault);
  if (!reference) {
    if (is_limit(loading)) return;
    must(!program, "same", "the reference refuses by ", loading.rule, " what the runtime opens");
    return must(loading.rule == fault.rule, "same", "refused by ", loading.rule, " and by ", fault.rule);
  }
  must(program.has_value(), "same", "the runtime refuses by ", fault.rule, " what the reference opens");
  for (std::uint32_t i = 0; i < program->methods(); ++i) {
    const Said& want = reference->methods[i];
    const auto got = run(*program, *program->view().tables->execution_plan()->Get(i), reference->inputs[i]);
    if (!got || is_limit(want) || is_limit(*got)) continue;
    must(got->rule == want.rule, "same", "method ", i, " ends by \"", want.rule, "\" and by \"", got->rule, '"');
    must(got->outputs == want.outputs, "same", "outputs of method ", i, " are of other kinds");
  }
}

}  // namespace assay::fuzz

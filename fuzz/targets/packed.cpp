#include <algorithm>

#include "conformance/files/same.h"
#include "conformance/files/some_inputs.h"
#include "fuzz/attached.h"
#include "fuzz/deployed.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"
#include "optimized/packed/packed.h"
#include "optimized/refusals/refusals.h"

// The input is a program with packed constants of any origin behind it. Constants that a method saved give the same
// results again. A file that does not fit is refused. With any floats in a file that fits, a method ends in the same
// way as before, in the memory that it requested.
namespace assay::fuzz {
namespace {

using optimized::KeptConstants;

// Memory of this size, filled with repetitions of the given bytes.
sandbox::ClientMemory filled(std::size_t size, std::span<const std::byte> with) {
  sandbox::ClientMemory memory(size);
  for (std::size_t i = 0; i < size; ++i) memory.bytes()[i] = with.empty() ? std::byte{0} : with[i % with.size()];
  return memory;
}

bool same_outputs(const DeployedExecution& a, const DeployedExecution& b) {
  return a.said.rule == b.said.rule && std::ranges::equal(a.outputs, b.outputs, files::same);
}

void attack(const optimized::Program& program, const pte::ExecutionPlan& plan,
            std::span<const std::optional<Value>> inputs, std::span<const std::byte> bytes) {
  const auto made = execute(program, plan, inputs), again = execute(program, plan, inputs);
  if (!made || !made->packed) return;
  const std::span<std::byte> own = made->packed->bytes();
  const sandbox::ClientMemory before = filled(own.size(), own);
  optimized::Fault fault;
  const auto kept = optimized::open_packed(program, own, fault);
  must(kept.has_value(), "kept", "the saved constants are refused by ", fault.rule);
  const auto from_kept = execute(program, plan, inputs, kept);
  must(from_kept && from_kept->said.rule == made->said.rule, "kept",
       "a method with the saved constants ends by another rule");
  must(!same_outputs(*made, *again) || same_outputs(*made, *from_kept), "kept",
       "a method with the saved constants gives other outputs");
  must(std::ranges::equal(own, before.bytes()), "kept", "the saved constants were written to");

  const sandbox::ClientMemory given = filled(bytes.size(), bytes);
  const auto opened = optimized::open_packed(program, given.bytes(), fault = {});
  if (opened) execute(program, plan, inputs, opened);
  const std::size_t header = own.size() - kept->bytes.size();
  const sandbox::ClientMemory floats =
      filled(kept->bytes.size(), given.bytes().subspan(std::min(header, bytes.size())));
  const auto from_others = execute(program, plan, inputs, KeptConstants{floats.bytes(), kept->layout});
  must(from_others && from_others->said.rule == made->said.rule && from_others->said.outputs == made->said.outputs,
       "kept", "a method with other constants ends by another rule");
}

}  // namespace

void attack_packed(Input input) {
  const auto [file, packed] = split(input);
  const Budget budget(limits);
  const Budget::Scope scope(budget, "the attack");
  const optimized::RefusalBudget charged(budget);
  const auto loaded = LoadedProgram::load(borrowed(file), {}, options_for(budget));
  const DeployedProgram opened(file, {});
  if (!loaded || opened.is_too_large() || !opened.program()) return;
  for (const auto* plan : *opened.program()->view().tables->execution_plan()) {
    const auto method = loaded->method(plan->name()->str());
    if (method) attack(*opened.program(), *plan, files::some_inputs(*method), packed);
  }
}

}  // namespace assay::fuzz

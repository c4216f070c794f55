#include "optimized/prepare/pte/make.h"

#include "format/flow.h"
#include "format/shared_state.h"
#include "optimized/prepare/build.h"
#include "optimized/prepare/pte/plan_reader.h"
#include "optimized/runtime/table.h"

namespace assay::optimized {
namespace {

// Bytes that a step takes at most. A kernel keeps larger state among the packed constants.
constexpr std::uint64_t most_state = 1024;

// The most bytes that rewrites of a call take: for its fusion and for the views of its operands.
constexpr std::uint64_t most_rewritten = 2560;

// What reading, data flow, lifetimes and rewrites take of the workspace.
constexpr std::uint64_t workspace_of_a_value = 256 + SymbolicSizes::workspace_of_value(max_rank),
                        workspace_of_an_instruction = 224, workspace_of_a_memory = 32, workspace_of_a_delegate = 128;

template <class T>
constexpr std::uint64_t of(std::uint64_t n) {
  return n * sizeof(T) + alignof(T);
}

std::uint64_t size_of_value(const pte::EValue& v) {
  const auto* t = v.val_as_Tensor();
  return t ? of<std::int32_t>(format::size_of(t->sizes())) : of<Value*>(format::count_elements(v));
}

std::uint64_t size_of_instruction(const pte::Instruction& i) {
  const auto* call = i.instr_args_as_KernelCall();
  const auto* delegated = i.instr_args_as_DelegateCall();
  const auto* args = call ? call->args() : delegated ? delegated->args() : nullptr;
  return sizeof(Step) + sizeof(std::uint32_t) + of<Value*>(2) + of<Value*>(format::size_of(args)) + most_state +
         most_rewritten;
}

// What the tables of a method take at most.
std::uint64_t tables_size(const pte::ExecutionPlan& plan) {
  using format::size_of;
  const std::uint64_t n = plan.values()->size();
  std::uint64_t bytes = 1024 + of<Method>(1) + of<Value>(2 * n) + of<Tensor>(n) + of<Input>(size_of(plan.inputs())) +
                        of<Output>(size_of(plan.outputs())) + of<Delegate>(size_of(plan.delegates()));
  for (const pte::EValue* v : *plan.values()) bytes += size_of_value(*v);
  for (const pte::Chain* chain : *plan.chains())
    for (const pte::Instruction* i : *chain->instructions()) bytes += size_of_instruction(*i);
  return aligned(bytes);
}

// A delegate without a backend is refused when it is to begin, and the delegates behind it never begin.
bool size_delegates(Builder& builder, const PlanReader& reader, const Fault& fault) {
  for (std::uint32_t i = 0; i < reader.source().delegates; ++i)
    if (!builder.size_delegate(i, reader.delegate(i))) return !fault;
  return true;
}

// Delegates begin when all else of the method is ready, in their order, whether they are called or not.
bool begin_delegates(Builder& builder, const PlanReader& reader, Method& method) {
  for (std::uint32_t i = 0; i < reader.source().delegates; ++i)
    if (!builder.begin_delegate(i, reader.delegate(i))) {
      method.end();
      return false;
    }
  return true;
}

// Without memories it only counts, in a method that it destroys before it returns. Returns null if it refuses the
// method.
Method* make(const Program& program, const pte::ExecutionPlan& plan, const Options& options,
             format::Workspace& workspace, const Memories* memories, Sizes& sizes, Fault& fault) {
  format::Workspace::Scope scope(workspace);
  if (memories && !memories->hold(sizes)) {
    refuse(fault, "V4", {nullptr, format::text_of(plan.name()), -1, true}, "needs more memory than was supplied");
    return nullptr;
  }
  format::Workspace tables(memories ? memories->prepared.first(static_cast<std::size_t>(sizes.tables))
                                    : workspace.take<std::byte>(tables_size(plan)));
  PlanReader reader(program, plan, options, workspace, tables, fault);
  if (!reader.read(memories ? memories->shared : std::span<std::byte>())) return nullptr;
  Builder builder(reader.source(), options, workspace, tables, memories, sizes, fault);
  if (!builder.make() || !size_delegates(builder, reader, fault)) return nullptr;
  Method* made = builder.finish(sizes);
  return !made || !memories || begin_delegates(builder, reader, *made) ? made : nullptr;
}

}  // namespace

Method* make_method(const Program& program, const pte::ExecutionPlan& plan, const Options& options,
                    format::Workspace& workspace, const Memories* memories, Sizes& sizes, Fault& fault) {
  if (!make(program, plan, options, workspace, nullptr, sizes, fault) || !memories) return nullptr;
  return make(program, plan, options, workspace, memories, sizes, fault);
}

std::uint64_t workspace_size(const Program& program, const pte::ExecutionPlan& plan, std::uint32_t depth) {
  format::Workspace counting;
  const format::Method method(plan, counting);
  const format::NamedData named(&program.view(), program.data(), counting);
  std::uint64_t memories = 1;
  for (const pte::ExecutionPlan* each : *program.view().tables->execution_plan())
    memories = std::max<std::uint64_t>(memories, format::size_of(each->non_const_buffer_sizes()));
  counting.take<std::byte>(tables_size(plan) + workspace_of_a_memory * memories +
                           workspace_of_a_value * (plan.values()->size() + std::uint64_t{1}) +
                           workspace_of_an_instruction * (method.instructions() + std::uint64_t{1}) +
                           workspace_of_a_delegate * format::size_of(plan.delegates()));
  format::shared_memories(program.view(), true, counting);
  format::begun_state(program.view(), plan, {}, {}, counting);
  format::each_state(
      program.view(), plan, counting, [](void*, std::uint32_t) {}, nullptr);
  std::uint64_t delegated = 0;
  for (const PlannedBackend* backend : backend_table())
    delegated = std::max(delegated, backend->workspace(program, plan, depth));
  return counting.most() + 1024 + delegated;
}

}  // namespace assay::optimized

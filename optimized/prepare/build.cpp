#include "optimized/prepare/build.h"

#include "format/flow.h"
#include "format/shared_state.h"

namespace assay::optimized {
namespace {

// Of one step, at most: kernels keep what is larger among the packed constants.
constexpr std::uint64_t most_state = 1024;

// Of a call that rewrites change, at most: what it does besides, and as what it sees its operands.
constexpr std::uint64_t most_rewritten = 1536;

// Of the analysis of data flow and lifetimes, and of rewriting.
constexpr std::uint64_t workspace_of_a_value = 256, workspace_of_an_instruction = 192;

template <class T>
constexpr std::uint64_t of(std::uint64_t n) {
  return n * sizeof(T) + alignof(T);
}

// What the tables of a method take at most.
std::uint64_t tables_size(const pte::ExecutionPlan& plan) {
  using format::size_of;
  const std::uint64_t n = plan.values()->size();
  std::uint64_t bytes = 1024 + of<Method>(1) + of<Value>(2 * n) + of<Tensor>(n) +
                        of<std::uint32_t>(size_of(plan.inputs())) + of<Input>(size_of(plan.inputs())) +
                        of<Delegate>(size_of(plan.delegates()));
  for (const pte::EValue* v : *plan.values()) {
    if (const auto* t = v->val_as_Tensor()) bytes += of<std::int32_t>(size_of(t->sizes()));
    if (const auto* l = v->val_as_IntList()) bytes += of<Value*>(size_of(l->items()));
    if (const auto* l = v->val_as_TensorList()) bytes += of<Value*>(size_of(l->items()));
    if (const auto* l = v->val_as_OptionalTensorList()) bytes += of<Value*>(size_of(l->items()));
  }
  for (const pte::Chain* chain : *plan.chains())
    for (const pte::Instruction* i : *chain->instructions()) {
      bytes += sizeof(Step) + sizeof(std::uint32_t) + of<Value*>(2) + most_state + most_rewritten;
      if (const auto* call = i->instr_args_as_KernelCall()) bytes += of<Value*>(size_of(call->args()));
      if (const auto* call = i->instr_args_as_DelegateCall()) bytes += of<Value*>(size_of(call->args()));
    }
  return aligned(bytes);
}

}  // namespace

bool Builder::has_room() {
  const bool room = workspace_.has_room() && tables_.has_room() && (copies_.counts_only() || copies_.has_room()) &&
                    packed_.has_room();
  return room || refuse(fault_, "V4", where_, "needs more memory than it is given");
}

Builder::Builder(const Program& program, const pte::ExecutionPlan& plan, const Options& options,
                 format::Workspace& workspace, const Memories* memories, Fault& fault)
    : program_(program),
      plan_(plan),
      options_(options),
      workspace_(workspace),
      memories_(memories),
      fault_(fault),
      method_(plan, workspace),
      named_(&program.view(), program.data(), workspace) {}

// `sizes` has the size of the tables where there is memory for them.
Method* Builder::make(Sizes& sizes) {
  if (!workspace_.has_room()) return refuse(fault_, "V4", where_, "needs a larger workspace"), nullptr;
  if (memories_) {
    const auto prepared = memories_->prepared;
    if (prepared.size() < sizes.prepared || memories_->arena.size() < sizes.arena ||
        memories_->shared.size() < sizes.shared || memories_->scratch.size() < sizes.scratch)
      return refuse(fault_, "V4", where_, "needs ", sizes.prepared, ", ", sizes.arena, ", ", sizes.shared, " and ",
                    sizes.scratch, " bytes of memory, more than it is given"),
             nullptr;
    tables_ = format::Workspace(prepared.first(static_cast<std::size_t>(sizes.tables)));
    copies_ = format::Workspace(
        prepared.subspan(static_cast<std::size_t>(sizes.tables), static_cast<std::size_t>(sizes.copies)));
    packed_ = options_.packed ? Packed::of(*options_.packed)
                              : Packed::in(prepared.subspan(static_cast<std::size_t>(sizes.tables + sizes.copies)));
  } else {
    tables_ = format::Workspace(workspace_.take<std::byte>(tables_size(plan_)));
    if (!has_room()) return nullptr;
  }
  packed_.note(format::text_of(plan_.name()));
  packed_.note(kernels::name_of(options_.set));
  made_ = tables_.take<Method>(1).data();
  if (!made_) return has_room(), nullptr;
  made_->plan_ = &plan_, made_->fallback_ = options_.fallback, made_->instructions_ = options_.instructions;
  made_->inputs_ = tables_.take<Input>(made_->inputs());
  made_->delegates_ = tables_.take<Delegate>(format::size_of(plan_.delegates()));
  if (!make_values() || !make_calls() || !place_constants() || !mark_state()) return nullptr;
  if (Flow::is_straight(method_)) flow_ = Flow::of(method_, is_state_, workspace_);
  if (!has_room()) return nullptr;
  if (flow_ && !options_.as_written) rewrite();
  if (!has_room() || !place_tensors() || !begin_state() || !make_steps()) return nullptr;
  mark_inputs();
  if (std::ranges::any_of(tensors_, &Tensor::read_beyond)) arena_ += aligned(most_beyond);
  if (!has_room()) return nullptr;
  made_->values_ = values_, made_->tensors_ = tensors_;
  std::ranges::copy(values_, made_->initial_.begin());
  if (options_.packed &&
      (options_.packed->layout != packed_.layout() || options_.packed->bytes.size() != packed_.bytes()))
    return refuse(fault_, "P6", where_,
                  "has other packed constants: these were made for another method, instruction set or build"),
           nullptr;
  const std::uint64_t tables = aligned(tables_.most()), copies = aligned(copies_.most());
  sizes = {
      tables + copies + (options_.packed ? 0 : packed_.bytes()), arena_, shared_, aligned(scratch_), tables, copies};
  if (memories_) made_->run_.scratch = memories_->scratch;
  made_->run_.threads = options_.threads;
  made_->packed_ = packed_.kept();
  return begin_delegates() ? made_ : nullptr;
}

Method* Method::make(const Program& program, const pte::ExecutionPlan& plan, const Options& options,
                     format::Workspace& workspace, const Memories* memories, Sizes& sizes, Fault& fault) {
  {
    format::Workspace::Scope scope(workspace);
    if (!Builder(program, plan, options, workspace, nullptr, fault).make(sizes) || !memories) return nullptr;
  }
  format::Workspace::Scope scope(workspace);
  return Builder(program, plan, options, workspace, memories, fault).make(sizes);
}

std::uint64_t Method::workspace_size(const Program& program, const pte::ExecutionPlan& plan) {
  format::Workspace counting;
  {
    const format::Method method(plan, counting);
    const format::NamedData named(&program.view(), program.data(), counting);
    counting.take<std::byte>(tables_size(plan) + workspace_of_a_value * (plan.values()->size() + std::uint64_t{1}) +
                             workspace_of_an_instruction * (method.instructions() + std::uint64_t{1}) +
                             8 * std::uint64_t{format::size_of(plan.non_const_buffer_sizes())});
    format::shared_memories(program.view(), true, counting);
    format::begun_state(program.view(), plan, {}, {}, counting);
    format::each_state(
        program.view(), plan, counting, [](void*, std::uint32_t) {}, nullptr);
  }
  return counting.most() + 1024;
}

}  // namespace assay::optimized

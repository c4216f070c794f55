#include <algorithm>
#include <cstring>
#include <new>

#include "optimized/prepare/pte/make.h"
#include "optimized/runtime/handles.h"
#include "optimized/runtime/table.h"
#include "optimized/selection/layout.h"

// The backend "ProgramBackend": the payload of a delegate is a program, and the delegate runs its method "forward".
namespace assay::optimized {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view id = "ProgramBackend";
constexpr std::uint32_t most_depth = 8;  // rule D6

// At the beginning of the delegate's prepared memory. The method follows, after a copy of the payload if it needs one.
struct Delegated {
  std::optional<Program> program;
  Method* method;
};

// A program begins at a multiple of 16 (rule H3). The payload may lie anywhere in the tables of the outer program.
bool needs_copy(Bytes payload) { return reinterpret_cast<std::uintptr_t>(payload.data()) % 16 != 0; }

// Where the payload is a program. Copies it to `memory` if it must be copied. Returns nothing if there is too little
// memory; the workspace tells the caller.
Bytes placed(Bytes payload, format::Workspace& memory) {
  if (!needs_copy(payload)) return payload;
  struct alignas(16) Line {
    std::byte bytes[16];
  };
  const auto lines = std::as_writable_bytes(memory.take<Line>(payload.size() / sizeof(Line) + 1));
  if (lines.empty()) return {};
  std::ranges::copy(payload, lines.begin());
  return lines.first(payload.size());
}

// Rule D3: named data of the outer program may be the payload.
std::optional<Bytes> payload_of(const DelegateSource& source, Fault& fault) {
  for (std::uint32_t i = 0; i < source.compile_specs; ++i) {
    const CompileSpec spec = source.compile_spec(i);
    if (spec.key != "named_data") continue;
    const std::string_view key(reinterpret_cast<const char*>(spec.value.data()), spec.value.size());
    const auto named = source.named_data(key);
    if (!named)
      refuse(fault, "D3", nowhere, "the payload is named data ", format::Quoted{key}, ", which does not exist");
    return named;
  }
  return source.payload;
}

std::optional<Program> open(Bytes file, format::Workspace& workspace, Fault& fault) {
  return Program::open(file, {}, {}, workspace, fault);
}

const pte::ExecutionPlan* plan_of(const std::optional<Program>& program, Fault& fault) {
  const pte::ExecutionPlan* plan = program ? program->method("forward") : nullptr;
  if (program && !plan) refuse(fault, "G3", "there is no method \"forward\"");
  return plan;
}

Options inner_options(const DelegateSource& source) {
  Options options = *source.options;
  options.packed = {};
  ++options.depth;
  return options;
}

bool size(const DelegateSource& source, Fault& fault) {
  const auto payload = payload_of(source, fault);
  if (!payload) return false;
  const Options options = inner_options(source);
  if (options.depth > most_depth)
    return refuse(fault, "D6", nowhere, "is ", options.depth, " programs deep, but at most ", most_depth,
                  " are allowed");
  format::Workspace& workspace = *source.workspace;
  format::Workspace::Scope scope(workspace);
  const Bytes file = placed(*payload, workspace);
  if (!workspace.has_room()) return refuse(fault, "V4", "needs a larger workspace");
  const auto program = open(file, workspace, fault);
  const pte::ExecutionPlan* plan = plan_of(program, fault);
  if (!plan) return false;
  Sizes sizes{};
  make_method(*program, *plan, options, workspace, nullptr, sizes, fault);
  sizes.prepared += aligned(sizeof(Delegated)) + (needs_copy(*payload) ? aligned(payload->size() + 16) : 0);
  Sizes& needed = *source.needed;
  *source.memory = {needed.prepared, needed.arena, sizes.prepared, sizes.arena, sizes.shared, sizes.scratch};
  needed.prepared += aligned(sizes.prepared), needed.arena += aligned(sizes.arena) + aligned(sizes.shared);
  needed.scratch = std::max(needed.scratch, sizes.scratch);
  needed.decisions = needed.decisions * 31 + sizes.decisions;
  return !fault;
}

std::span<std::byte> part(std::span<std::byte> all, std::uint64_t at, std::uint64_t bytes) {
  return all.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(bytes));
}

// State that the methods of the payload share begins as zeros, as for any other program.
Memories memories_of(const DelegateSource& source) {
  const DelegateMemory& m = *source.memory;
  const Memories& all = *source.memories;
  const Memories own{part(all.prepared, m.prepared, m.prepared_bytes), part(all.arena, m.arena, m.arena_bytes),
                     part(all.arena, m.arena + aligned(m.arena_bytes), m.shared_bytes),
                     part(all.scratch, 0, m.scratch_bytes)};
  std::ranges::fill(own.shared, std::byte{0});
  return own;
}

void* begin(void*, const DelegateSource& source, Fault& fault) {
  const auto payload = payload_of(source, fault);
  if (!payload) return nullptr;
  Memories memories = memories_of(source);
  auto* delegated = new (memories.prepared.data()) Delegated{};
  memories.prepared = memories.prepared.subspan(aligned(sizeof(Delegated)));
  Bytes file = *payload;
  if (needs_copy(*payload)) {
    const auto copy = memories.prepared.first(static_cast<std::size_t>(aligned(payload->size() + 16)));
    format::Workspace memory(copy);
    file = placed(*payload, memory);
    memories.prepared = memories.prepared.subspan(copy.size());
  }
  format::Workspace& workspace = *source.workspace;
  format::Workspace::Scope scope(workspace);
  delegated->program = open(file, workspace, fault);
  const pte::ExecutionPlan* plan = plan_of(delegated->program, fault);
  if (!plan) return nullptr;
  const Options options = inner_options(source);
  Sizes sizes{};
  delegated->method = make_method(*delegated->program, *plan, options, workspace, &memories, sizes, fault);
  return delegated->method ? delegated : nullptr;
}

// Whether the result fits its target in the outer method.
bool fits(const Value& from, const Value& to, Fault& fault) {
  const bool is_same_kind = to.is_tensor() ? from.is_tensor() && from.tensor->dtype == to.tensor->dtype
                                           : from.kind <= ValueKind::boolean && to.kind <= ValueKind::boolean;
  if (!is_same_kind) return refuse(fault, "I14", "a result has another kind than the value of the method for it");
  const format::Place place{nullptr, "result"};
  return !to.is_tensor() || can_have(*to.tensor, shape_of(*from.tensor)) ||
         refuse(fault, rule_of_sizes(*to.tensor, from.tensor->rank, "T24"), place, "has sizes that it cannot have");
}

void store(const Value& from, Value& to) {
  if (!to.is_tensor()) return hand_over(from, to);
  const Tensor &a = *from.tensor, &b = *to.tensor;
  resize(*to.tensor, a.shape());
  const std::size_t element = static_cast<std::size_t>(b.element_bytes());
  const Strides strides[] = {strides_of(b), strides_of(a)};
  const Nest nest = nest_of(shape_of(b), b.dim_order, strides);
  each_row(nest, 2, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    const std::ptrdiff_t stride = nest.stride[1][nest.loops - 1];
    if (stride == 1)
      return static_cast<void>(std::memcpy(b.at(at[0]), a.at(at[1]), static_cast<std::size_t>(n) * element));
    for (std::ptrdiff_t i = 0; i < n; ++i) std::memcpy(b.at(at[0] + i), a.at(at[1] + i * stride), element);
  });
}

bool execute(void* delegate, std::span<Value* const> arguments, std::int64_t& left, Fault& fault) {
  Method& method = *static_cast<Delegated*>(delegate)->method;
  const std::size_t inputs = method.inputs(), outputs = method.outputs();
  if (arguments.size() != inputs + outputs)
    return refuse(fault, "I14", nowhere, "has ", arguments.size(), " arguments, but the delegate has ", inputs,
                  " inputs and ", outputs, " outputs");
  for (std::size_t i = 0; i < inputs; ++i)
    if (!method.set_input(i, *arguments[i], false, fault)) return false;
  if (!method.execute(left, fault)) return false;
  for (std::size_t i = 0; i < outputs; ++i)
    if (!fits(method.output(i), *arguments[inputs + i], fault)) return false;
  for (std::size_t i = 0; i < outputs; ++i) store(method.output(i), *arguments[inputs + i]);
  return true;
}

void end(void* delegate) { static_cast<Delegated*>(delegate)->method->end(); }

// The workspace for one payload. A payload that must be copied cannot be opened without memory. An instruction or a
// value of its tables has at least 32 bytes and takes at most 4 KiB. If tables that share parts need more, the delegate
// is refused by rule V4.
std::uint64_t workspace_of(Bytes payload, std::uint32_t depth) {
  constexpr std::uint64_t of_a_byte = 128;
  constexpr std::size_t identifier_at = 4;
  if (payload.size() < 2 * identifier_at ||
      std::memcmp(payload.data() + identifier_at, pte::ProgramIdentifier(), identifier_at) != 0)
    return 0;  // named data may be anything
  if (needs_copy(payload)) return (payload.size() + 16) * (1 + of_a_byte);
  format::Workspace checks;
  Fault ignored;  // `size` refuses the payload
  const auto program = open(payload, checks, ignored);
  const pte::ExecutionPlan* plan = plan_of(program, ignored);
  return plan ? checks.most() + alignment + workspace_size(*program, *plan, depth + 1) : 0;
}

// Named data are looked at once, whichever delegates name them.
std::uint64_t workspace(const Program& program, const pte::ExecutionPlan& plan, std::uint32_t depth) {
  if (depth >= most_depth) return 0;
  std::uint64_t most = 0;
  bool is_named = false;
  for (std::uint32_t i = 0; i < format::size_of(plan.delegates()); ++i) {
    const pte::BackendDelegate& delegate = *plan.delegates()->Get(i);
    if (format::text_of(delegate.id()) != id) continue;
    if (format::payload_key(delegate))
      is_named = true;
    else
      most = std::max(most, workspace_of(format::payload(program.view(), delegate), depth));
  }
  const auto look_at = [&](const auto& file) {
    for (std::uint32_t i = 0; i < format::size_of(file.tables->named_data()); ++i)
      if (const auto segment = file.tables->named_data()->Get(i)->segment_index(); segment < file.segment_count())
        most = std::max(most, workspace_of(file.segment(segment), depth));
  };
  if (!is_named) return most;
  look_at(program.view());
  for (const format::DataView& file : program.data()) look_at(file);
  return most;
}

const Method& method(const void* delegate) { return *static_cast<const Delegated*>(delegate)->method; }

}  // namespace

extern const PlannedBackend program_backend{{id, nullptr, begin, execute, end}, workspace, size, method};

}  // namespace assay::optimized

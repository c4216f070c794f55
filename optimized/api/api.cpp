#include <algorithm>
#include <new>

#include "optimized/api/types.h"
#include "optimized/prepare/pte/make.h"
#include "optimized/runtime/method.h"

// The C interface, except for packed constants (packed.cpp) and for what tells about steps (steps.cpp).

using namespace assay;
using namespace assay::optimized;

namespace {

using Bytes = Program::Bytes;

// Checks rule R8.
[[gnu::noinline]] bool is_usable(const void* data, std::size_t size, std::size_t multiple, Fault& fault) {
  const bool usable = size == 0 || (data && reinterpret_cast<std::uintptr_t>(data) % multiple == 0);
  return usable || refuse(fault, "R8", "a pointer is null, or memory does not begin at a multiple of 64");
}
bool is_usable(const assay_bytes& bytes, Fault& fault) { return is_usable(bytes.data, bytes.size, 1, fault); }
bool is_usable(const assay_memory& memory, Fault& fault) {
  return is_usable(memory.data, memory.size, alignment, fault);
}

// Opens a program. `views` is memory for the views of its data files.
std::optional<Program> open(assay_bytes file, const assay_bytes* data, std::size_t count,
                            std::span<format::DataView> views, format::Workspace& workspace, Fault& fault) {
  if (count > ASSAY_MOST_DATA_FILES) {
    refuse(fault, "V4", "there are more data files than a program can have");
    return {};
  }
  Bytes files[ASSAY_MOST_DATA_FILES];
  bool usable = is_usable(file, fault) && is_usable(data, count, 1, fault);
  for (std::size_t i = 0; usable && i < count; ++i) files[i] = bytes_of(data[i]), usable = is_usable(data[i], fault);
  if (!usable) return {};
  return Program::open(bytes_of(file), {files, count}, views, workspace, fault);
}

const pte::ExecutionPlan* plan_of(const assay_program* program, const char* name, Fault& fault) {
  const pte::ExecutionPlan* plan = program->program->method(name);
  if (!plan) refuse(fault, "G3", nowhere, "there is no method ", format::Quoted{name});
  return plan;
}

// Reads the options. Returns false if a method with them cannot be made or, if `runs`, cannot run on this machine.
bool read(const assay_options* from, bool runs, Options& options, Fault& fault) {
  if (!from) return true;
  options.refusals = reinterpret_cast<const Kernel*>(from->refusals);
  options.backends = {reinterpret_cast<const Backend*>(from->backends), from->backend_count};
  if (from->instructions > 0) options.instructions = from->instructions;
  options.relaxed = from->relaxed, options.as_written = from->as_written, options.share_arenas = from->share_arenas;
  if (from->packed) options.packed = KeptConstants{bytes_of(from->packed->constants), from->packed->layout};
  if (from->run) options.threads = {from->threads, from->run, from->pool};
  if (from->least_share > 0) options.threads.least_share = from->least_share;
  if (!from->instruction_set) return true;
  options.set = kernels::find_instruction_set(from->instruction_set);
  if (options.set && (runs ? is_supported(*options.set) : is_compiled(*options.set))) return true;
  return refuse(
      fault, Outcome::unsupported, "instruction_set",
      runs ? "this machine does not have the instruction set" : "this build does not have the instruction set");
}

assay_value value_of(const Value& from) {
  assay_value to{};
  to.kind = from.kind <= ValueKind::tensor ? static_cast<assay_kind>(from.kind) : ASSAY_NONE;
  switch (to.kind) {
    case ASSAY_INTEGER:
      to.as.integer = from.integer;
      break;
    case ASSAY_REAL:
      to.as.real = from.real;
      break;
    case ASSAY_BOOLEAN:
      to.as.boolean = from.boolean;
      break;
    case ASSAY_STRING:
      to.as.string = {from.text, from.count};
      break;
    case ASSAY_TENSOR: {
      const Tensor& t = *from.tensor;
      to.as.tensor = {t.data, static_cast<int>(t.dtype), t.rank, t.sizes, t.dim_order};
      break;
    }
    case ASSAY_NONE:
      break;
  }
  return to;
}

}  // namespace

assay_outcome assay_program_size(assay_bytes file, const assay_bytes* data, size_t count, assay_program_sizes* sizes,
                                 assay_fault* fault) {
  Fault found;
  format::Workspace counting;
  format::DataView views[ASSAY_MOST_DATA_FILES];
  if (!open(file, data, count, views, counting, found)) return outcome_of(found, fault);
  *sizes = {sizeof(assay_program), interface_size(aligned(counting.most()))};
  return ASSAY_OK;
}

assay_outcome assay_program_open(assay_bytes file, const assay_bytes* data, size_t count, assay_memory memory,
                                 assay_memory workspace, assay_program** opened, assay_fault* fault) {
  *opened = nullptr;
  Fault found;
  if (!is_usable(memory, found) || !is_usable(workspace, found)) return outcome_of(found, fault);
  if (memory.size < sizeof(assay_program)) {
    refuse(found, "V4", "a program needs more memory than was supplied");
    return outcome_of(found, fault);
  }
  auto* program = new (memory.data) assay_program;
  format::Workspace checks(bytes_of(workspace));
  program->program = open(file, data, count, program->views, checks, found);
  if (program->program) *opened = program;
  return outcome_of(found, fault);
}

size_t assay_method_count(const assay_program* program) { return program->program->methods(); }

const char* assay_method_name(const assay_program* program, size_t i, size_t* length) {
  if (i >= assay_method_count(program)) return nullptr;
  const auto* plans = program->program->view().tables->execution_plan();
  const std::string_view name = format::text_of(plans->Get(static_cast<std::uint32_t>(i))->name());
  *length = name.size();
  return name.data();
}

assay_outcome assay_method_workspace_size(const assay_program* program, const char* name, size_t* bytes,
                                          assay_fault* fault) {
  Fault found;
  const pte::ExecutionPlan* plan = plan_of(program, name, found);
  if (!plan) return outcome_of(found, fault);
  *bytes = interface_size(aligned(workspace_size(*program->program, *plan)));
  return ASSAY_OK;
}

namespace {

Method* make(const assay_program* program, const char* name, const assay_options* options, assay_memory workspace,
             const Memories* memories, Sizes& sizes, Fault& fault) {
  if (!is_usable(workspace, fault)) return nullptr;
  const pte::ExecutionPlan* plan = plan_of(program, name, fault);
  Options read_options;
  if (!plan || !read(options, memories, read_options, fault)) return nullptr;
  format::Workspace work(bytes_of(workspace));
  return make_method(*program->program, *plan, read_options, work, memories, sizes, fault);
}

}  // namespace

assay_outcome assay_method_size(const assay_program* program, const char* name, const assay_options* options,
                                assay_memory workspace, assay_method_sizes* sizes, assay_fault* fault) {
  Fault found;
  Sizes all{};
  make(program, name, options, workspace, nullptr, all, found);
  if (found) return outcome_of(found, fault);
  *sizes = {workspace.size, interface_size(all.prepared), interface_size(all.arena), interface_size(all.shared),
            interface_size(all.scratch)};
  return ASSAY_OK;
}

assay_outcome assay_method_make(const assay_program* program, const char* name, const assay_options* options,
                                const assay_method_memories* given, assay_method** made, assay_fault* fault) {
  *made = nullptr;
  Fault found;
  for (const assay_memory* memory :
       {&given->workspace, &given->prepared, &given->arena, &given->shared, &given->scratch})
    if (!is_usable(*memory, found)) return outcome_of(found, fault);
  Sizes all{};
  const Memories memories{bytes_of(given->prepared), bytes_of(given->arena), bytes_of(given->shared),
                          bytes_of(given->scratch)};
  Method* method = make(program, name, options, given->workspace, &memories, all, found);
  *made = reinterpret_cast<assay_method*>(method);
  return outcome_of(found, fault);
}

void assay_method_end(assay_method* method) { method_of(method).end(); }

size_t assay_input_count(const assay_method* method) { return method_of(method).inputs(); }
size_t assay_output_count(const assay_method* method) { return method_of(method).outputs(); }

assay_outcome assay_input(const assay_method* method, size_t i, assay_value* value) {
  if (i >= assay_input_count(method)) return ASSAY_INVALID;
  *value = value_of(method_of(method).input(i));
  return ASSAY_OK;
}

assay_outcome assay_output(const assay_method* method, size_t i, assay_value* value) {
  if (i >= assay_output_count(method) || !method_of(method).has_outputs()) return ASSAY_INVALID;
  *value = value_of(method_of(method).output(i));
  return ASSAY_OK;
}

namespace {

format::Place input_place(std::size_t i) { return {nullptr, "input", static_cast<std::int64_t>(i)}; }

bool read(const assay_tensor& from, const format::Place& place, Tensor& to, Fault& fault) {
  const DTypeFacts* facts = find_dtype(from.dtype);
  if (!facts || from.rank > max_rank) return refuse(fault, "R1", place, "is not a tensor of a known dtype and rank");
  if (!is_usable(from.sizes, from.rank, 1, fault) || !is_usable(from.dim_order, from.rank, 1, fault)) return false;
  to.dtype = facts->dtype, to.rank = static_cast<std::uint8_t>(from.rank);
  to.data = static_cast<std::byte*>(from.data), to.sizes = const_cast<std::int32_t*>(from.sizes);
  to.dim_order = from.dim_order;
  const auto sizes = to.shape();
  return std::ranges::find(sizes, 0) != sizes.end() || is_usable(from.data, 1, 1, fault);
}

// `tensor` holds the value's tensor.
bool read(const assay_value& from, const format::Place& place, Tensor& tensor, Value& to, Fault& fault) {
  static_assert(sizeof from.kind <= sizeof(unsigned));  // less where enumerations are short, as on a Cortex-M55
  unsigned kind = 0;                                    // a client in C can give a number that assay_kind does not have
  std::memcpy(&kind, &from.kind, sizeof from.kind);
  if (kind > ASSAY_TENSOR) return refuse(fault, "R1", place, "is a value of an unknown kind");
  to.kind = static_cast<ValueKind>(from.kind);
  switch (from.kind) {
    case ASSAY_INTEGER:
      to.integer = from.as.integer;
      break;
    case ASSAY_REAL:
      to.real = from.as.real;
      break;
    case ASSAY_BOOLEAN:
      to.boolean = from.as.boolean;
      break;
    case ASSAY_STRING:
      to.text = from.as.string.text, to.count = static_cast<std::uint32_t>(from.as.string.length);
      return is_usable(to.text, to.count, 1, fault);
    case ASSAY_TENSOR:
      to.tensor = &tensor;
      return read(from.as.tensor, place, tensor, fault);
    case ASSAY_NONE:
      break;
  }
  return true;
}

assay_outcome set_input(assay_method* method, size_t i, const assay_value* value, bool alias, assay_fault* fault) {
  Fault found;
  Value given;
  Tensor tensor;
  if (read(*value, input_place(i), tensor, given, found)) method_of(method).set_input(i, given, alias, found);
  return outcome_of(found, fault);
}

}  // namespace

assay_outcome assay_set_input(assay_method* method, size_t i, const assay_value* value, assay_fault* fault) {
  return set_input(method, i, value, false, fault);
}

assay_outcome assay_alias_input(assay_method* method, size_t i, const assay_value* value, assay_fault* fault) {
  return set_input(method, i, value, true, fault);
}

assay_outcome assay_set_output(assay_method* method, size_t i, assay_memory memory, assay_fault* fault) {
  Fault found;
  if (is_usable(memory.data, memory.size, 1, found)) method_of(method).set_output(i, bytes_of(memory), found);
  return outcome_of(found, fault);
}

assay_outcome assay_execute(assay_method* method, assay_fault* fault) {
  Fault found;
  method_of(method).execute(found);
  return outcome_of(found, fault);
}

assay_outcome assay_step(assay_method* method, assay_fault* fault) {
  Fault found;
  method_of(method).step(found);
  return outcome_of(found, fault);
}

bool assay_running(const assay_method* method) { return method_of(method).running(); }
void assay_reset(assay_method* method) { method_of(method).reset(); }
void assay_listen(assay_method* method, assay_listener done, void* context) { method_of(method).listen(done, context); }

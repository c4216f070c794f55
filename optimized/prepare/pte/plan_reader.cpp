#include "optimized/prepare/pte/plan_reader.h"

namespace assay::optimized {

PlanReader::PlanReader(const Program& program, const pte::ExecutionPlan& plan, const Options& options,
                       format::Workspace& workspace, format::Workspace& tables, Fault& fault)
    : program_(program),
      plan_(plan),
      options_(options),
      workspace_(workspace),
      tables_(tables),
      fault_(fault),
      method_(plan, workspace),
      named_(&program.view(), program.data(), workspace),
      source_{.name = format::text_of(plan.name()),
              .values = tables.take<Value>(method_.values()),
              .tensors = tables.take<Tensor>(method_.values()),
              .storage = workspace.take<Storage>(method_.values()),
              .instructions = workspace.take<Instruction>(method_.instructions()),
              .inputs = format::items(plan.inputs()),
              .outputs = format::items(plan.outputs()),
              .delegates = format::size_of(plan.delegates()),
              .methods = program.methods()} {}

bool PlanReader::read_all(std::span<const std::byte> shared) {
  if (!has_room()) return false;
  for (std::uint32_t v = 0; v < source_.values.size(); ++v) read_value(v);
  for (std::uint32_t i = 0; i < source_.instructions.size() && has_room(); ++i)
    if (!read_instruction(i)) return false;
  read_memories();
  for (std::uint32_t v = 0; v < source_.values.size() && has_room(); ++v)
    if (const pte::Tensor* from = method_.tensor(v)) read_storage(v, *from);
  return has_room() && read_state(shared);
}

bool PlanReader::read(std::span<const std::byte> shared) {
  while (program_.view().tables->execution_plan()->Get(source_.method) != &plan_) ++source_.method;
  return read_all(shared) || (!fault_ && refuse(fault_, "V4", source_.place(), "needs more memory than was supplied"));
}

namespace {

CompileSpec find_spec(const void* delegate, std::uint32_t i) {
  const auto& spec = *static_cast<const pte::BackendDelegate*>(delegate)->compile_specs()->Get(i);
  return {format::text_of(spec.key()), std::as_bytes(format::items(spec.value()))};
}

std::optional<std::span<const std::byte>> find_data(const void* named, std::string_view key) {
  const auto found = static_cast<const format::NamedData*>(named)->find(key);
  return found ? std::optional(found->bytes) : std::nullopt;
}

}  // namespace

DelegateSource PlanReader::delegate(std::uint32_t i) const {
  const pte::BackendDelegate& tables = *plan_.delegates()->Get(i);
  return {.backend = format::text_of(tables.id()),
          .payload = format::payload(program_.view(), tables),
          .instructions = options_.instructions,
          .compile_specs = format::size_of(tables.compile_specs()),
          .options = &options_,
          .workspace = &workspace_,
          .specs = &tables,
          .data = &named_,
          .find_spec = find_spec,
          .find_data = find_data};
}

}  // namespace assay::optimized

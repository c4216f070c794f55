#include "optimized/prepare/pte/plan_reader.h"

namespace assay::optimized {

PlanReader::PlanReader(const Program& program, const pte::ExecutionPlan& plan, const Options& options,
                       format::Workspace& workspace, Fault& fault)
    : program_(program),
      plan_(plan),
      options_(options),
      workspace_(workspace),
      fault_(fault),
      where_{nullptr, format::text_of(plan.name()), -1, true},
      method_(plan, workspace),
      named_(&program.view(), program.data(), workspace) {}

bool PlanReader::take() {
  const std::uint32_t n = method_.values();
  values_ = tables_->take<Value>(n), tensors_ = tables_->take<Tensor>(n);
  storage_ = workspace_.take<Storage>(n);
  instructions_ = workspace_.take<Instruction>(method_.instructions());
  return has_room();
}

bool PlanReader::read_all(std::span<const std::byte> shared) {
  if (!take()) return false;
  for (std::uint32_t v = 0; v < values_.size(); ++v) read_value(v);
  for (std::uint32_t i = 0; i < instructions_.size() && has_room(); ++i)
    if (!read_instruction(i)) return false;
  read_memories();
  for (std::uint32_t v = 0; v < values_.size() && has_room(); ++v)
    if (const pte::Tensor* from = method_.tensor(v)) read_storage(v, *from);
  return has_room() && read_state(shared);
}

bool PlanReader::read(format::Workspace& tables, std::span<const std::byte> shared, Source& source) {
  tables_ = &tables;
  if (!read_all(shared)) return fault_ ? false : refuse(fault_, "V4", where_, "needs more memory than was supplied");
  source.values = values_, source.tensors = tensors_, source.storage = storage_, source.instructions = instructions_;
  source.memories = memories_;
  source.inputs = format::items(plan_.inputs()), source.outputs = format::items(plan_.outputs());
  source.delegates = delegates(), source.methods = program_.methods();
  while (program_.view().tables->execution_plan()->Get(source.method) != &plan_) ++source.method;
  return true;
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

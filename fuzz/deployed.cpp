#include "fuzz/deployed.h"

#include <algorithm>

#include "conformance/files/same.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "optimized/packed/packed.h"
#include "optimized/prepare/pte/make.h"
#include "optimized/refusals/refusals.h"
#include "optimized/refusals/values.h"

namespace assay::fuzz {
namespace {

sandbox::ClientMemory copied(std::span<const std::byte> from) {
  sandbox::ClientMemory to(from.size());
  std::ranges::copy(from, to.bytes().begin());
  return to;
}

// An input in the runtime's representation.
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

sandbox::ClientMemory packed_file(const optimized::Program& program, const optimized::Method& method) {
  sandbox::ClientMemory file(optimized::packed_file_size(method));
  optimized::Fault fault;
  must(optimized::save_packed(program, method, file.bytes(), fault), "kept",
       "packed constants are not saved: ", fault.rule);
  return file;
}

}  // namespace

Said refused(const Fault& fault) { return {fault.outcome, fault.rule, {}}; }
Said refused(const optimized::Fault& fault) { return {fault.outcome, fault.rule, {}}; }

std::string kind_of(const Value& value) {
  const auto* t = std::get_if<Tensor>(&value);
  return t ? describe(*t) : std::string(kind_name(value));
}

std::optional<DeployedExecution> execute(const optimized::Program& program, const pte::ExecutionPlan& plan,
                                         std::span<const std::optional<Value>> inputs,
                                         std::optional<optimized::KeptConstants> packed) {
  optimized::Options options;
  options.refusals = &optimized::refusing_kernel;
  options.instructions = most_instructions;
  options.packed = packed;
  optimized::Fault fault;
  optimized::Sizes sizes;
  const sandbox::ClientMemory work(optimized::workspace_size(program, plan));
  format::Workspace workspace(work.bytes());
  optimized::make_method(program, plan, options, workspace, nullptr, sizes, fault);
  if (fault) return DeployedExecution{refused(fault)};
  if (sizes.prepared + sizes.arena + sizes.shared + sizes.scratch > static_cast<std::uint64_t>(limits.bytes)) return {};
  const sandbox::ClientMemory prepared(sizes.prepared), arena(sizes.arena), shared(sizes.shared),
      scratch(sizes.scratch);
  std::ranges::fill(shared.bytes(), std::byte{0});
  const optimized::Memories memories{prepared.bytes(), arena.bytes(), shared.bytes(), scratch.bytes()};
  optimized::Method* method = optimized::make_method(program, plan, options, workspace, &memories, sizes, fault);
  if (!method) return DeployedExecution{refused(fault)};
  DeployedExecution done;
  done.packed = packed_file(program, *method);
  const auto ended = [&](Said said) {
    method->end();
    done.said = std::move(said);
    return std::move(done);
  };
  std::vector<std::optional<Value>> given(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) continue;
    const Given input(*given[i]);
    if (i % 2 == 0 && method->set_input(i, input.value, true, fault)) continue;
    fault = {};
    if (!method->set_input(i, input.value, false, fault)) return ended(refused(fault));
  }
  const bool executed = method->execute(fault);
  for (std::size_t i = 0; i < given.size(); ++i)
    must(!given[i] || files::same(*given[i], *inputs[i]), "lent", "input ", i, " was written to");
  if (!executed) return ended(refused(fault));
  Said said;
  for (std::size_t i = 0; i < method->outputs(); ++i) {
    done.outputs.push_back(optimized::to_reference(method->output(i), true));
    said.outputs.push_back(kind_of(done.outputs.back()));
  }
  return ended(std::move(said));
}

DeployedProgram::DeployedProgram(std::span<const std::byte> file, std::span<const std::byte> data)
    : file_(copied(file)), data_(copied(data)) {
  const std::span<const std::byte> data_files[] = {data_.bytes()};
  const std::span files(data_files, data.empty() ? 0 : 1);
  format::Workspace counting;
  const auto counted = optimized::Program::open(file_.bytes(), files, views_, counting, fault_);
  too_large_ = counted && counting.most() > static_cast<std::uint64_t>(limits.bytes);
  if (too_large_) return;
  memory_.emplace(counting.most());
  format::Workspace workspace(memory_->bytes());
  fault_ = {};
  program_ = optimized::Program::open(file_.bytes(), files, views_, workspace, fault_);
}

}  // namespace assay::fuzz

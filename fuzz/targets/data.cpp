#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"
#include "reference/program/decoded.h"

// A program that refers to the tensors of a valid data file must get their bytes.
namespace assay::fuzz {
namespace {

// Gives each tensor of the file, as a constant of that name.
Program asking_for(const DataFile& file) {
  Program program;
  auto plan = std::make_unique<pte::ExecutionPlanT>();
  plan->name = "forward";
  plan->non_const_buffer_sizes = {0};
  plan->chains.push_back(std::make_unique<pte::ChainT>());
  for (const auto& entry : file.tables.named_data) {
    if (!entry->tensor_layout) continue;
    pte::TensorT t;
    t.scalar_type = entry->tensor_layout->scalar_type;
    t.sizes = entry->tensor_layout->sizes, t.dim_order = entry->tensor_layout->dim_order;
    t.extra_tensor_info = std::make_unique<pte::ExtraTensorInfoT>();
    t.extra_tensor_info->location = pte::TensorDataLocation::EXTERNAL;
    t.extra_tensor_info->fully_qualified_name = entry->key;
    auto value = std::make_unique<pte::EValueT>();
    value->val.Set(std::move(t));
    plan->outputs.push_back(static_cast<std::int32_t>(plan->values.size()));
    plan->values.push_back(std::move(value));
  }
  program.tables.execution_plan.push_back(std::move(plan));
  return program;
}

void check_outputs(const DataFile& file, Method& method) {
  std::size_t i = 0;
  for (const auto& entry : file.tables.named_data) {
    if (!entry->tensor_layout) continue;
    const auto output = method.output(i++);
    must(output && std::ranges::equal(std::get<Tensor>(*output).bytes, file.segments[entry->segment_index]), "identity",
         "the data of \"", entry->key, "\" are not the data in the file");
  }
}

}  // namespace

void attack_data(Input input) {
  const auto decoded = decode_data_file(input);
  const auto opened = open_data(borrowed(input));
  must(opened.value.has_value() == decoded.value.has_value(), "verdict",
       "a file decodes but does not open, or opens but does not decode");
  if (!decoded || decoded->segments.size() > 1000 || !faults_of(*opened).empty()) return;
  const Bytes program = encode(asking_for(*decoded));
  const Measured measured(heap_for(input.size() + program.size()), most_seconds);
  const auto loaded = LoadedProgram::load(borrowed(program), {borrowed(input)}, options_for(Budget(limits)));
  if (!loaded) return;
  auto method = loaded->method("forward");
  if (!method) return;
  must(!method->execute(), "verdict", "a method without instructions is refused");
  check_outputs(*decoded, *method);
}

}  // namespace assay::fuzz

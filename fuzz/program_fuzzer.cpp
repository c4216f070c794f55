// Decodes whatever it is given as a program, a data file or a bundle, checks it, and runs the methods of what is valid
// within small limits. Half of the mutations change bytes, half change one number of the tables.
#include <flatbuffers/flatbuffers.h>

#include <cstdlib>

#include "fuzz/table_mutator.h"
#include "program_bfbs_generated.h"
#include "reference/runtime/runtime.h"

namespace {

using namespace assay;

RuntimeOptions small() {
  RuntimeOptions o;
  o.budget = Budget({.bytes = 16 << 20, .work = 20'000'000});
  o.instructions = 200;
  return o;
}

// What any caller would set: zeros of the declared sizes, or the value in the program.
void set_inputs(Method& method) {
  const pte::ExecutionPlanT& plan = method.plan();
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const auto at = static_cast<std::size_t>(plan.inputs[i]);
    const pte::TensorT* t = plan.values[at]->val.AsTensor();
    if (!t) {
      if (const auto value = method.value(at)) method.set_input(i, *value);
      continue;
    }
    Dims sizes, order;
    for (const auto n : t->sizes) sizes.push_back(n);
    for (const auto d : t->dim_order) order.push_back(d);
    if (count(sizes) <= 1 << 20) method.set_input(i, make(*dtype_numbered(t->scalar_type), sizes, order));
  }
}

void run(const LoadedProgram& program) {
  for (const auto& plan : program.program()->tables.execution_plan) {
    auto method = program.method(plan->name);
    if (!method) continue;
    set_inputs(*method);
    for (int twice = 0; twice < 2; ++twice)
      if (method->execute()) break;
    for (std::size_t i = 0; i < plan->outputs.size(); ++i) method->output(i);
  }
}

// What decodes survives encoding. Bytes are compared, since a NaN of a program equals nothing.
void check_encoding(std::span<const std::byte> file) {
  const auto program = decode_program(file);
  if (!program) return;
  const Bytes bytes = encode(*program);
  const auto again = decode_program(bytes);
  if (!again || encode(*again) != bytes) std::abort();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  std::minstd_rand random(seed);
  if (random() % 2 == 0 && decode_program(std::as_bytes(std::span(data, size)))) {
    // The tables begin with the file whether it has a header or not, and what the schema's verifier accepted is whole.
    if (mutate_table({data, size}, pte::ProgramBinarySchema::data(), random)) return size;
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  if (const auto bundle = decode_bundle(file)) {
    if (const auto program = LoadedProgram::load(std::as_bytes(std::span(bundle->program)), {}, small()))
      faults_of(*bundle, program->program());
  } else if (const auto data_file = decode_data_file(file)) {
    faults_of(*data_file);
  } else {
    check_encoding(file);
    if (const auto program = LoadedProgram::load(file, {}, small())) run(*program);
  }
  return 0;
}

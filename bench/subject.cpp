#include "bench/subject.h"

#include <algorithm>
#include <random>

#include "conformance/hosts/calls.h"
#include "conformance/hosts/host.h"
#include "conformance/inspect/listing.h"
#include "conformance/inspect/value_or_throw.h"

namespace assay::bench {
namespace {

namespace fs = std::filesystem;

// Floating numbers and real parts of [-1, 1), and 0 and 1 of any other dtype.
Tensor random_tensor(DType dtype, const Dims& sizes, std::mt19937& random) {
  const bool floating = is_floating(info(dtype).part);
  Tensor tensor = make(dtype, sizes);
  Array<Real> values(sizes);
  for (Real& value : values.data) {
    const double unit = static_cast<double>(random()) / 0x1p32;
    value = floating ? 2 * unit - 1 : static_cast<double>(unit < 0.5);
  }
  assay::write(values, tensor);
  return tensor;
}

Value random_value(const pte::EValue& wanted, std::mt19937& random) {
  if (const auto* t = wanted.val_as_Tensor()) {
    const auto sizes = format::items(t->sizes());
    return random_tensor(*dtype_numbered(t->scalar_type()), Dims(Ints(sizes.begin(), sizes.end())), random);
  }
  if (const auto* n = wanted.val_as_Int()) return Int{n->int_val()};
  if (const auto* d = wanted.val_as_Double()) return d->double_val();
  if (const auto* b = wanted.val_as_Bool()) return b->bool_val();
  throw Fault(Outcome::unsupported, "bench.inputs",
              "inputs that are neither tensors nor numbers are not made up: give a file calls.json beside the program");
}

std::vector<Value> random_inputs(const pte::ExecutionPlan& plan) {
  std::mt19937 random;
  std::vector<Value> inputs;
  for (const std::int32_t input : format::items(plan.inputs()))
    inputs.push_back(random_value(*inspect::value_at(plan, input), random));
  return inputs;
}

}  // namespace

Subject subject_of(const fs::path& path) {
  const File file = files::open_file(path), program = hosts::program_in_file(file);
  auto [calls, from] = hosts::calls_given_with(path, file);
  Subject subject;
  subject.program = hosts::program_at_path(path, file, program);
  subject.settings.program = path;
  subject.settings.data = calls.data;
  const hosts::Host host(hosts::valid_program(program, files::open_data_files(calls.data)));
  const bool has_calls = !calls.calls.empty();
  hosts::ProgramCall call = has_calls ? std::move(calls.calls.front()) : hosts::ProgramCall();
  subject.settings.method = call.method.empty() ? host.default_method() : call.method;
  const pte::ExecutionPlan& plan = host.plan(subject.settings.method);
  subject.inputs = hosts::adapted(plan, has_calls ? std::move(call.inputs) : random_inputs(plan));
  if (!has_calls) {
    subject.inputs_from = "random inputs";
    return subject;
  }
  subject.expected = std::move(call.outputs);
  if (from != path) subject.tolerance = call.tolerance;
  subject.inputs_from = "inputs of " + from.string();
  return subject;
}

}  // namespace assay::bench

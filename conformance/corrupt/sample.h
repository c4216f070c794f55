#pragma once

#include <cstring>

#include "reference/program/build.h"

// Files that use every table of the formats and keep every rule.
namespace assay::corrupt {

inline Bytes numbers(std::initializer_list<float> values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

struct Sample {
  Program program;
  DataFile data;
  BundledProgram bundle;  // encoded_bundle() fills in its program

  struct {
    PlanBuilder::Index none, integer, boolean, string, x, out, weight, state, external, integers, bools, tensors,
        optionals, late, nothing;
  } at;

  Sample() {
    ProgramBuilder builder;
    fill(builder);
    add_loop(builder.method("second"));
    builder.named("payload", Bytes(3));
    program = std::move(builder.program());
    fill_data();
    fill_bundle();
  }

  pte::ExecutionPlanT& plan() { return *program.tables.execution_plan[0]; }
  pte::ExecutionPlanT& second() { return *program.tables.execution_plan[1]; }
  pte::TensorT& tensor(PlanBuilder::Index i) { return *plan().values[static_cast<std::size_t>(i)]->val.AsTensor(); }
  auto& instructions() { return plan().chains[0]->instructions; }
  pte::KernelCallT& kernel_call() { return *instructions()[0]->instr_args.AsKernelCall(); }
  void at_device(pte::DeviceType device) {
    tensor(at.late).extra_tensor_info = std::make_unique<pte::ExtraTensorInfoT>();
    tensor(at.late).extra_tensor_info->device_type = device;
  }
  std::vector<std::uint64_t>& constant_offsets() { return program.tables.constant_segment->offsets; }
  // Removes what not every runtime supports: delegates, and memory that is allocated while a method runs. Everything
  // else keeps its place.
  void make_plain() {
    for (const std::size_t i : {1u, 4u, 5u}) {  // the call of a delegate, and the instructions on the late tensor
      pte::MoveCallT move;
      move.move_from = at.integer, move.move_to = at.none;
      instructions()[i]->instr_args.Set(std::move(move));
    }
    tensor(at.late).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND;
    plan().delegates.clear(), program.tables.backend_delegate_data.clear();
  }
  bpte::BundledMethodTestSuiteT& suite() { return *bundle.method_test_suites[0]; }
  Bytes encoded_bundle(bool defaults = false) const {
    BundledProgram b(bundle);
    const Bytes bytes = encode(program);
    b.program.resize(bytes.size());
    std::memcpy(b.program.data(), bytes.data(), bytes.size());
    return encode(b, defaults);
  }

 private:
  void fill(ProgramBuilder& builder) {
    PlanBuilder plan = builder.method();
    at.none = plan.none(), at.integer = plan.integer(3), at.boolean = plan.boolean(true),
    at.string = plan.string("relu");
    plan.real(0.5);
    at.nothing = plan.none();
    at.x = plan.tensor(DType::float32, {2, 2}, pte::TensorShapeDynamism::DYNAMIC_BOUND),
    at.out = plan.planned(DType::float32, {2, 2});
    at.weight = plan.constant(DType::float32, {2, 2}, builder.constant(numbers({1, 2, 3, 4})));
    at.state = plan.planned(DType::float32, {2}, 2);
    plan.at(at.state).data_buffer_idx = builder.initial(numbers({5, 6}));
    at.external = plan.tensor(DType::float32, {2});
    plan.extra(at.external).location = pte::TensorDataLocation::EXTERNAL;
    plan.extra(at.external).fully_qualified_name = "weight";
    at.integers = plan.integers({2, 2});
    at.bools = plan.list<pte::BoolListT>(std::vector<bool>{true, false});
    plan.list<pte::DoubleListT>(std::vector<double>{0x1.0000000000001p0, 2});
    at.tensors = plan.list<pte::TensorListT>(std::vector<std::int32_t>{at.x, at.out});
    at.optionals = plan.list<pte::OptionalTensorListT>(std::vector<std::int32_t>{at.x, -1});
    at.late = plan.tensor(DType::float32, {2, 2}, pte::TensorShapeDynamism::DYNAMIC_UNBOUND);
    plan.plan().inputs = {at.x, at.integer}, plan.plan().outputs = {at.out};
    add_instructions(plan);
    add_delegates(builder, plan);
    plan.plan().container_meta_type = std::make_unique<pte::ContainerMetadataT>();
    auto device = std::make_unique<pte::NonConstBufferDeviceT>();
    device->buffer_idx = 1;
    plan.plan().non_const_buffer_device.push_back(std::move(device));
  }

  // A loop of three rounds, in the form in which exporters emit a map.
  static void add_loop(PlanBuilder plan) {
    const auto counter = plan.integer(0), done = plan.boolean(false), one = plan.integer(1), rounds = plan.integer(3);
    plan.call("executorch_prim::add.Scalar", {counter, one, counter});
    plan.call("executorch_prim::eq.Scalar", {counter, rounds, done});
    plan.jump_if_false(done, 0);
    plan.call("executorch_prim::sub.Scalar", {counter, rounds, counter});
  }

  void add_instructions(PlanBuilder& plan) {
    plan.add_tensors(at.x, at.weight, at.out);
    plan.delegate_call(0, {at.x, at.out});
    plan.move(at.integer, at.none);
    plan.jump_if_false(at.boolean, 4);
    plan.call("aten::relu.out", {at.x, at.late, at.late});
    plan.free(at.late);
    auto frames = std::make_unique<pte::FrameListT>();
    frames->items.push_back(std::make_unique<pte::FrameT>());
    plan.plan().chains[0]->stacktrace.push_back(std::move(frames));
  }

  void add_delegates(ProgramBuilder& builder, PlanBuilder& plan) {
    builder.program().tables.backend_delegate_data.push_back(std::make_unique<pte::BackendDelegateInlineDataT>());
    builder.program().tables.backend_delegate_data[0]->data = {1, 2, 3};
    plan.delegate("SomeBackend", pte::DataLocation::INLINE, 0);
    auto spec = std::make_unique<pte::CompileSpecT>();
    spec->key = "level", spec->value = {9};
    plan.delegate("SomeBackend", pte::DataLocation::SEGMENT, builder.segment(Bytes(5)))
        .compile_specs.push_back(std::move(spec));
  }

  void fill_data() {
    for (const auto* key : {"weight", "spare", "blob"}) {
      auto entry = std::make_unique<ptd::NamedDataT>();
      entry->key = key;
      entry->segment_index = static_cast<std::uint32_t>(data.segments.size());
      data.segments.push_back(numbers({7, 8}));
      if (entry->key != "blob") {
        entry->tensor_layout = std::make_unique<ptd::TensorLayoutT>();
        entry->tensor_layout->scalar_type = static_cast<std::int8_t>(DType::float32);
        entry->tensor_layout->sizes = {2}, entry->tensor_layout->dim_order = {0};
      }
      data.tables.named_data.push_back(std::move(entry));
    }
  }

  static std::unique_ptr<bpte::ValueT> four_numbers() {
    bpte::TensorT t;
    t.scalar_type = static_cast<std::int8_t>(DType::float32);
    t.sizes = {2, 2}, t.dim_order = {0, 1}, t.data.resize(4 * sizeof(float));
    auto value = std::make_unique<bpte::ValueT>();
    value->val.Set(std::move(t));
    return value;
  }

  void fill_bundle() {
    auto test = std::make_unique<bpte::BundledMethodTestCaseT>();
    bpte::IntT three;
    three.int_val = 3;
    test->inputs.push_back(four_numbers());
    test->inputs.push_back(std::make_unique<bpte::ValueT>());
    test->inputs.back()->val.Set(std::move(three));
    test->expected_outputs.push_back(four_numbers());
    auto suite = std::make_unique<bpte::BundledMethodTestSuiteT>();
    suite->method_name = "forward";
    suite->test_cases.push_back(std::move(test));
    bundle.method_test_suites.push_back(std::move(suite));
  }
};

}  // namespace assay::corrupt

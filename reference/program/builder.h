#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reference/program/decoded.h"

// Small programs, made value by value and instruction by instruction.
namespace assay {

class PlanBuilder {
 public:
  using Index = std::int32_t;

  explicit PlanBuilder(pte::ExecutionPlanT& plan) : plan_(plan) { plan.non_const_buffer_sizes = {0}; }

  pte::ExecutionPlanT& plan() { return plan_; }

  Index none() { return add(pte::NullT{}); }
  Index integer(Int n) {
    return add(with(pte::IntT{}, [&](auto& v) { v.int_val = n; }));
  }
  Index real(double d) {
    return add(with(pte::DoubleT{}, [&](auto& v) { v.double_val = d; }));
  }
  Index boolean(bool b) {
    return add(with(pte::BoolT{}, [&](auto& v) { v.bool_val = b; }));
  }
  Index string(const std::string& s) {
    return add(with(pte::StringT{}, [&](auto& v) { v.string_val = s; }));
  }
  Index integers(const std::vector<Int>& ns) {
    pte::IntListT list;
    for (const Int n : ns) list.items.push_back(integer(n));
    return add(std::move(list));
  }
  // A list as the tables have it: of doubles, of bools, or of indices.
  template <class List, class Items>
  Index list(Items items) {
    List list;
    list.items = std::move(items);
    return add(std::move(list));
  }

  // A tensor that the caller supplies, or that gets memory of its own.
  Index tensor(DType dtype, std::vector<std::int32_t> sizes,
               pte::TensorShapeDynamism dynamism = pte::TensorShapeDynamism::STATIC) {
    pte::TensorT t;
    t.scalar_type = static_cast<std::int8_t>(dtype);
    t.sizes = sizes;
    for (std::size_t d = 0; d < t.sizes.size(); ++d) t.dim_order.push_back(static_cast<std::uint8_t>(d));
    t.shape_dynamism = dynamism;
    return add(std::move(t));
  }
  // A tensor planned into a memory, which grows for it.
  Index planned(DType dtype, std::vector<std::int32_t> sizes, std::uint32_t memory = 1, std::uint32_t offset = 0) {
    const Index i = tensor(dtype, sizes);
    pte::TensorT& t = at(i);
    t.allocation_info = std::make_unique<pte::AllocationDetailsT>();
    t.allocation_info->memory_id = memory;
    t.allocation_info->memory_offset_low = offset;
    Int bytes = info(dtype).bytes;
    for (const auto n : sizes) bytes *= n;
    auto& memories = plan_.non_const_buffer_sizes;
    if (memories.size() <= memory) memories.resize(memory + 1);
    memories[memory] = std::max(memories[memory], offset + bytes);
    return i;
  }
  // One that keeps what it has from one execution to the next.
  Index state(DType dtype, std::vector<std::int32_t> sizes, std::uint32_t memory = 1, std::uint32_t offset = 0) {
    const Index i = planned(dtype, sizes, memory, offset);
    extra(i).fully_qualified_name = "state " + std::to_string(i);
    return i;
  }
  Index constant(DType dtype, std::vector<std::int32_t> sizes, std::uint32_t data) {
    const Index i = tensor(dtype, sizes);
    at(i).data_buffer_idx = data;
    return i;
  }
  pte::ExtraTensorInfoT& extra(Index i) {
    if (!at(i).extra_tensor_info) at(i).extra_tensor_info = std::make_unique<pte::ExtraTensorInfoT>();
    return *at(i).extra_tensor_info;
  }
  pte::TensorT& at(Index i) { return *plan_.values[static_cast<std::size_t>(i)]->val.AsTensor(); }

  void call(const std::string& name, std::vector<Index> args) {
    const auto dot = name.find('.');
    auto op = std::make_unique<pte::OperatorT>();
    op->name = name.substr(0, dot);
    if (dot != std::string::npos) op->overload = name.substr(dot + 1);
    plan_.operators.push_back(std::move(op));
    instruction(with(pte::KernelCallT{}, [&](auto& k) {
      k.op_index = static_cast<Index>(plan_.operators.size()) - 1;
      k.args = std::move(args);
    }));
  }
  void add_tensors(Index self, Index other, Index out) { call("aten::add.out", {self, other, integer(1), out, out}); }
  void jump_if_false(Index condition, Index destination) {
    instruction(with(pte::JumpFalseCallT{},
                     [&](auto& j) { j.cond_value_index = condition, j.destination_instruction = destination; }));
  }
  void move(Index from, Index to) {
    instruction(with(pte::MoveCallT{}, [&](auto& m) { m.move_from = from, m.move_to = to; }));
  }
  void free(Index value) {
    instruction(with(pte::FreeCallT{}, [&](auto& f) { f.value_index = value; }));
  }
  void delegate_call(Index delegate, std::vector<Index> args) {
    instruction(with(pte::DelegateCallT{}, [&](auto& d) { d.delegate_index = delegate, d.args = std::move(args); }));
  }
  pte::BackendDelegateT& delegate(const std::string& id, pte::DataLocation location, std::uint32_t index) {
    auto d = std::make_unique<pte::BackendDelegateT>();
    d->id = id;
    d->processed = std::make_unique<pte::BackendDelegateDataReferenceT>();
    d->processed->location = location;
    d->processed->index = index;
    return *plan_.delegates.emplace_back(std::move(d));
  }
  void new_chain() { plan_.chains.push_back(std::make_unique<pte::ChainT>()); }

  template <class T>
  void instruction(T what) {
    if (plan_.chains.empty()) new_chain();
    auto i = std::make_unique<pte::InstructionT>();
    i->instr_args.Set(std::move(what));
    plan_.chains.back()->instructions.push_back(std::move(i));
  }

 private:
  template <class T, class F>
  static T with(T value, F change) {
    change(value);
    return value;
  }
  template <class T>
  Index add(T value) {
    auto v = std::make_unique<pte::EValueT>();
    v->val.Set(std::move(value));
    plan_.values.push_back(std::move(v));
    return static_cast<Index>(plan_.values.size()) - 1;
  }

  pte::ExecutionPlanT& plan_;
};

class ProgramBuilder {
 public:
  PlanBuilder method(const std::string& name = "forward") {
    program_.tables.execution_plan.push_back(std::make_unique<pte::ExecutionPlanT>());
    program_.tables.execution_plan.back()->name = name;
    return PlanBuilder(*program_.tables.execution_plan.back());
  }
  std::uint32_t segment(Bytes bytes) {
    program_.segments.push_back(std::move(bytes));
    return static_cast<std::uint32_t>(program_.segments.size()) - 1;
  }
  // A place for constants, without which the official runtime takes a program for one of an older format.
  pte::SubsegmentOffsetsT& constants() {
    if (!program_.tables.constant_segment) program_.tables.constant_segment = part(0);
    return *program_.tables.constant_segment;
  }
  // Bytes as the next constant, or as the next initial value of a mutable tensor; index 0 stands for nothing.
  std::uint32_t constant(const Bytes& bytes) { return append(constants(), bytes); }
  std::uint32_t initial(const Bytes& bytes) {
    auto& parts = program_.tables.mutable_data_segments;
    if (parts.empty()) parts.push_back(part(0));
    return append(*parts.front(), bytes);
  }
  void named(const std::string& key, Bytes bytes) {
    auto n = std::make_unique<pte::NamedDataT>();
    n->key = key;
    n->segment_index = segment(std::move(bytes));
    program_.tables.named_data.push_back(std::move(n));
  }
  Program& program() { return program_; }
  Bytes bytes() const { return encode(program_); }

 private:
  std::unique_ptr<pte::SubsegmentOffsetsT> part(std::uint64_t first) {
    auto p = std::make_unique<pte::SubsegmentOffsetsT>();
    p->segment_index = segment({});
    p->offsets = {first};
    return p;
  }
  std::uint32_t append(pte::SubsegmentOffsetsT& to, const Bytes& bytes) {
    Bytes& segment = program_.segments[to.segment_index];
    segment.resize((segment.size() + 15) / 16 * 16);
    to.offsets.push_back(segment.size());
    segment.insert(segment.end(), bytes.begin(), bytes.end());
    return static_cast<std::uint32_t>(to.offsets.size()) - 1;
  }

  Program program_;
};

}  // namespace assay

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/operator.h"
#include "reference/program/decoded.h"

// Builds programs: a method is a list of values, a list of instructions that name the values by their index, and a plan
// of the memory in which tensors lie.
//
//   ProgramBuilder program;
//   PlanBuilder plan = program.method("forward");
//   const auto x = plan.planned(DType::float32, {4}), out = plan.planned(DType::float32, {4}, 1, 16);
//   const auto weight = plan.constant(DType::float32, {4}, program.constant(bytes));
//   plan.call_named("aten::add.out", {{"self", x}, {"other", weight}, {"out", out}});  // alpha has its default, 1
//   plan.plan().inputs = {x}, plan.plan().outputs = {out};
//   const Bytes file = program.bytes();
//
// The builders add what they are told and check no rule: validate() does, so that tests can build wrong programs, too.
namespace assay {

// Adds to one method of a program. The method's tables outlive the builder, and others may change them, too.
class PlanBuilder {
 public:
  using Index = std::int32_t;
  using Sizes = std::vector<std::int32_t>;
  // An argument of a call, by its name in the operator's schema.
  struct Operand {
    std::string_view name;
    Index value;
  };

  explicit PlanBuilder(pte::ExecutionPlanT& plan) : plan_(plan) {}

  pte::ExecutionPlanT& plan() { return plan_; }

  // -- values: each function adds one and returns its index -----------------------------------------------------------

  Index none() { return add(pte::NullT{}); }
  Index integer(Int n);
  Index real(double d);
  Index boolean(bool b);
  Index string(const std::string& s);
  Index integers(const std::vector<Int>& ns);  // adds a value for each element, too
  // A list as its table has it: of doubles, of bools, or of indices of values.
  template <class List, class Items>
  Index list(Items items) {
    List list;
    list.items = std::move(items);
    return add(std::move(list));
  }
  template <class Table>  // a value of any type, as its table
  Index add(Table value) {
    auto v = std::make_unique<pte::EValueT>();
    v->val.Set(std::move(value));
    plan_.values.push_back(std::move(v));
    return static_cast<Index>(plan_.values.size()) - 1;
  }

  // A contiguous tensor without planned memory: the caller supplies its memory, or it is unbounded and gets its own.
  Index tensor(DType dtype, const Sizes& sizes, pte::TensorShapeDynamism dynamism = pte::TensorShapeDynamism::STATIC);
  // A tensor that place() has put into planned memory.
  Index planned(DType dtype, const Sizes& sizes, std::uint32_t memory = 1, std::uint64_t offset = 0);
  // A planned tensor that keeps its elements from one execution to the next, as it has a name.
  Index state(DType dtype, const Sizes& sizes, std::uint32_t memory = 1, std::uint64_t offset = 0);
  // A tensor whose elements are constant `data` of the program: see ProgramBuilder::constant.
  Index constant(DType dtype, const Sizes& sizes, std::uint32_t data);

  pte::TensorT& at(Index tensor) { return *plan_.values[static_cast<std::size_t>(tensor)]->val.AsTensor(); }
  pte::ExtraTensorInfoT& extra(Index tensor);  // made where the tensor has none

  // -- the memory plan ------------------------------------------------------------------------------------------------

  // Puts the tensor at this byte of a memory, which grows to hold it. Memory 0 means "not planned".
  void place(Index tensor, std::uint32_t memory, std::uint64_t offset);

  // -- operators and instructions -------------------------------------------------------------------------------------

  Index operator_index(std::string_view name);  // of "aten::add.out"; added where the plan has none of this name

  // Calls an operator of the specification by the names of its arguments; one that is left out has its default. Throws
  // Fault: I4 where the specification has no such operator, I9 where an operand is unknown or missing.
  void call_named(std::string_view op, const std::vector<Operand>& operands);
  // Calls an operator of any name by the values of the instruction, with what it returns at their end.
  void call(std::string_view op, std::vector<Index> args);
  void add_tensors(Index self, Index other, Index out);  // aten::add.out
  // Appends what the file format has at the end of a call's arguments, which are those of the schema: an out again, a
  // list of several outs, or the tensor that is changed in place. A number that is returned is an argument already.
  void append_returned(const Operator& op, std::vector<Index>& args);

  void jump_if_false(Index condition, Index destination);
  void move(Index from, Index to);
  void free(Index value);
  void delegate_call(Index delegate, std::vector<Index> args);
  // A delegate with its payload in backend_delegate_data (INLINE) or in a segment (SEGMENT) of this index.
  pte::BackendDelegateT& delegate(const std::string& id, pte::DataLocation location, std::uint32_t index);
  void new_chain() { plan_.chains.push_back(std::make_unique<pte::ChainT>()); }

  // Appends an instruction, as its table, to the last chain.
  template <class Table>
  void instruction(Table what) {
    if (plan_.chains.empty()) new_chain();
    plan_.chains.back()->instructions.push_back(instruction_of(std::move(what)));
  }
  template <class Table>
  static std::unique_ptr<pte::InstructionT> instruction_of(Table what) {
    auto instruction = std::make_unique<pte::InstructionT>();
    instruction->instr_args.Set(std::move(what));
    return instruction;
  }

 private:
  Index value_of_default(const SchemaArgument& argument);

  pte::ExecutionPlanT& plan_;
};

// Adds to a whole program: methods, constants and other bytes.
class ProgramBuilder {
 public:
  PlanBuilder method(const std::string& name = "forward");

  std::uint32_t segment(Bytes bytes);  // the index of a new segment
  // The segment's places of constants. The official runtime takes a program without them for one of an older format.
  pte::SubsegmentOffsetsT& constants();
  // Bytes as the next constant, or as the next initial value of a mutable tensor: its index, from 1 on.
  std::uint32_t constant(const Bytes& bytes) { return append(constants(), bytes); }
  std::uint32_t initial(const Bytes& bytes);
  void named(const std::string& key, Bytes bytes);  // named data

  Program& program() { return program_; }
  Bytes bytes() const { return encode(program_); }

 private:
  std::unique_ptr<pte::SubsegmentOffsetsT> new_part();
  std::uint32_t append(pte::SubsegmentOffsetsT& to, const Bytes& bytes);

  Program program_;
};

}  // namespace assay

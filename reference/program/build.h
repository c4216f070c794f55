#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/operator.h"
#include "reference/program/decoded.h"

// Builds programs. A method has a list of values, a list of instructions that refer to values by index, and a plan of
// the memory in which tensors are stored.
//
//   ProgramBuilder program;
//   PlanBuilder plan = program.method("forward");
//   const auto x = plan.planned(DType::float32, {4}), out = plan.planned(DType::float32, {4}, 1, 16);
//   const auto weight = plan.constant(DType::float32, {4}, program.constant(bytes));
//   plan.call_named("aten::add.out", {{"self", x}, {"other", weight}, {"out", out}});  // alpha has its default, 1
//   plan.plan().inputs = {x}, plan.plan().outputs = {out};
//   const Bytes file = program.bytes();
// The builders check no rule, so that tests can also build wrong programs. validate() checks the rules.
namespace assay {

// Adds values and instructions to one method of a program. Requires that the method's tables outlive the builder. Other
// code may change the tables while the builder exists.
class PlanBuilder {
 public:
  using Index = std::int32_t;
  using Sizes = std::vector<std::int32_t>;
  // An argument of a call: its name in the operator's schema, and the index of its value.
  struct Operand {
    std::string_view name;
    Index value;
  };

  explicit PlanBuilder(pte::ExecutionPlanT& plan) : plan_(plan) {}

  pte::ExecutionPlanT& plan() { return plan_; }

  // -- values: each function adds a value and returns its index -------------------------------------------------------

  Index none() { return add(pte::NullT{}); }
  Index integer(Int n);
  Index real(double d);
  Index boolean(bool b);
  Index string(const std::string& s);
  Index integers(const std::vector<Int>& ns);  // also adds a value for each element
  // Adds a list from the items of its table, which are doubles, bools, or indices of values.
  template <class List, class Items>
  Index list(Items items) {
    List list;
    list.items = std::move(items);
    return add(std::move(list));
  }
  // Adds a value of any type from its table.
  template <class Table>
  Index add(Table value) {
    auto v = std::make_unique<pte::EValueT>();
    v->val.Set(std::move(value));
    plan_.values.push_back(std::move(v));
    return static_cast<Index>(plan_.values.size()) - 1;
  }

  // Adds a contiguous tensor without planned memory. If the tensor is unbounded, the runtime allocates its memory.
  // Otherwise the caller of the method supplies the memory.
  Index tensor(DType dtype, const Sizes& sizes, pte::TensorShapeDynamism dynamism = pte::TensorShapeDynamism::STATIC);
  // Adds a contiguous tensor and calls place() for it.
  Index planned(DType dtype, const Sizes& sizes, std::uint32_t memory = 1, std::uint64_t offset = 0);
  // Adds a planned tensor with a name. The name makes it state: it keeps its elements from one execution to the next.
  Index state(DType dtype, const Sizes& sizes, std::uint32_t memory = 1, std::uint64_t offset = 0);
  // Adds a contiguous tensor whose elements are a constant of the program. `data` is the index that
  // ProgramBuilder::constant returned for the constant.
  Index constant(DType dtype, const Sizes& sizes, std::uint32_t data);

  pte::TensorT& at(Index tensor) { return *plan_.values[static_cast<std::size_t>(tensor)]->val.AsTensor(); }
  // Returns the tensor's ExtraTensorInfo. Adds one if the tensor has none.
  pte::ExtraTensorInfoT& extra(Index tensor);

  // -- the memory plan ------------------------------------------------------------------------------------------------

  // Places the tensor at byte `offset` of a planned memory, which grows to hold it. Memory 0 means that the tensor is
  // not planned.
  void place(Index tensor, std::uint32_t memory, std::uint64_t offset);

  // -- operators and instructions -------------------------------------------------------------------------------------

  // Returns the index of an operator such as "aten::add.out". Adds the operator if the plan does not have it.
  Index operator_index(std::string_view name);

  // Appends a call of an operator of the specification. Operands are given by name; an argument without an operand gets
  // its default. Throws Fault: I4 if the specification has no such operator, I9 if an operand is unknown or missing.
  void call_named(std::string_view op, const std::vector<Operand>& operands);
  // Appends a call of an operator of any name. `args` are the values of the instruction, with the returned values at
  // the end.
  void call(std::string_view op, std::vector<Index> args);
  void add_tensors(Index self, Index other, Index out);  // appends a call of aten::add.out with alpha 1
  // Appends to `args` the returned value that the file format requires at the end of a call. This value is the out
  // again, a list of several outs, or the tensor that is changed in place. Requires `args` that are the arguments of
  // the schema. A returned number is already in `args` and is not appended.
  void append_returned(const Operator& op, std::vector<Index>& args);

  void jump_if_false(Index condition, Index destination);
  void move(Index from, Index to);
  void free(Index value);
  void delegate_call(Index delegate, std::vector<Index> args);
  // Adds a delegate for backend `id`. If `location` is INLINE, the payload is item `index` of backend_delegate_data. If
  // `location` is SEGMENT, the payload is segment `index`.
  pte::BackendDelegateT& delegate(const std::string& id, pte::DataLocation location, std::uint32_t index);
  void new_chain() { plan_.chains.push_back(std::make_unique<pte::ChainT>()); }

  // Appends an instruction to the last chain. `what` is the instruction's table, such as a pte::MoveCallT.
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

// Builds a whole program: its methods, constants and other bytes.
class ProgramBuilder {
 public:
  ProgramBuilder() = default;
  explicit ProgramBuilder(Program program) : program_(std::move(program)) {}  // adds to this program

  PlanBuilder method(const std::string& name = "forward");

  std::uint32_t segment(Bytes bytes);  // adds a segment and returns its index
  // The offsets of the constants in their segment. ExecuTorch's runtime treats a program without them as one of an
  // older format.
  pte::SubsegmentOffsetsT& constants();
  // constant() adds the bytes of a constant, and initial() adds the bytes of the initial value of a mutable tensor.
  // Both return the index of the added bytes. The first index is 1.
  std::uint32_t constant(const Bytes& bytes) { return append(constants(), bytes); }
  std::uint32_t initial(const Bytes& bytes);
  void named(const std::string& key, Bytes bytes);  // adds named data

  Program& program() { return program_; }
  Bytes bytes() const { return encode(program_); }

 private:
  std::unique_ptr<pte::SubsegmentOffsetsT> new_part();
  std::uint32_t append(pte::SubsegmentOffsetsT& to, const Bytes& bytes);

  Program program_;
};

}  // namespace assay

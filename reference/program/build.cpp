#include "reference/program/build.h"

#include <algorithm>
#include <charconv>

namespace assay {
namespace {

using Index = PlanBuilder::Index;

// The table with one of its fields set.
template <class Table, class T>
Table with(T Table::*field, T value) {
  Table table;
  table.*field = std::move(value);
  return table;
}

template <class T>
T number(std::string_view text) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Reads a list such as "[]" or "[0, 1]". A single number such as "0" is repeated `length` times.
std::vector<Int> numbers(std::string_view text, Int length) {
  if (!text.starts_with('[')) return std::vector<Int>(static_cast<std::size_t>(length), number<Int>(text));
  std::vector<Int> all;
  for (std::size_t at = text.find_first_not_of("[] "); at != text.npos; at = text.find_first_not_of(", ]", at)) {
    all.push_back(number<Int>(text.substr(at)));
    at = std::min(text.size(), text.find_first_of(", ]", at));
  }
  return all;
}

}  // namespace

// -- values -----------------------------------------------------------------------------------------------------------

Index PlanBuilder::integer(Int n) { return add(with(&pte::IntT::int_val, n)); }
Index PlanBuilder::real(double d) { return add(with(&pte::DoubleT::double_val, d)); }
Index PlanBuilder::boolean(bool b) { return add(with(&pte::BoolT::bool_val, b)); }
Index PlanBuilder::string(const std::string& s) { return add(with(&pte::StringT::string_val, s)); }

Index PlanBuilder::integers(const std::vector<Int>& ns) {
  pte::IntListT list;
  for (const Int n : ns) list.items.push_back(integer(n));
  return add(std::move(list));
}

Index PlanBuilder::tensor(DType dtype, const Sizes& sizes, pte::TensorShapeDynamism dynamism) {
  pte::TensorT t;
  t.scalar_type = static_cast<std::int8_t>(dtype);
  t.sizes = sizes;
  for (std::size_t d = 0; d < sizes.size(); ++d) t.dim_order.push_back(static_cast<std::uint8_t>(d));
  t.shape_dynamism = dynamism;
  return add(std::move(t));
}

Index PlanBuilder::planned(DType dtype, const Sizes& sizes, std::uint32_t memory, std::uint64_t offset) {
  const Index i = tensor(dtype, sizes);
  place(i, memory, offset);
  return i;
}

Index PlanBuilder::state(DType dtype, const Sizes& sizes, std::uint32_t memory, std::uint64_t offset) {
  const Index i = planned(dtype, sizes, memory, offset);
  extra(i).fully_qualified_name = "state " + std::to_string(i);
  return i;
}

Index PlanBuilder::constant(DType dtype, const Sizes& sizes, std::uint32_t data) {
  const Index i = tensor(dtype, sizes);
  at(i).data_buffer_idx = data;
  return i;
}

pte::ExtraTensorInfoT& PlanBuilder::extra(Index tensor) {
  auto& extra = at(tensor).extra_tensor_info;
  if (!extra) extra = std::make_unique<pte::ExtraTensorInfoT>();
  return *extra;
}

void PlanBuilder::place(Index tensor, std::uint32_t memory, std::uint64_t offset) {
  pte::TensorT& t = at(tensor);
  t.allocation_info = std::make_unique<pte::AllocationDetailsT>();
  t.allocation_info->memory_id = memory;
  t.allocation_info->memory_offset_low = static_cast<std::uint32_t>(offset);
  t.allocation_info->memory_offset_high = static_cast<std::uint32_t>(offset >> 32);
  Int bytes = info(static_cast<DType>(t.scalar_type)).bytes;
  for (const auto n : t.sizes) bytes *= n;
  auto& memories = plan_.non_const_buffer_sizes;
  if (memories.size() <= memory) memories.resize(memory + 1);
  memories[memory] = std::max(memories[memory], static_cast<Int>(offset) + bytes);
}

// -- operators and instructions ---------------------------------------------------------------------------------------

Index PlanBuilder::operator_index(std::string_view name) {
  const auto dot = std::min(name.find('.'), name.size());
  const std::string_view base = name.substr(0, dot), overload = name.substr(std::min(dot + 1, name.size()));
  const auto found = std::ranges::find_if(plan_.operators,
                                          [&](const auto& op) { return op->name == base && op->overload == overload; });
  const auto index = static_cast<Index>(found - plan_.operators.begin());
  if (found == plan_.operators.end()) {
    plan_.operators.push_back(std::make_unique<pte::OperatorT>());
    plan_.operators.back()->name = base, plan_.operators.back()->overload = overload;
  }
  return index;
}

void PlanBuilder::call(std::string_view name, std::vector<Index> args) {
  pte::KernelCallT call;
  call.op_index = operator_index(name);
  call.args = std::move(args);
  instruction(std::move(call));
}

void PlanBuilder::call_named(std::string_view name, const std::vector<Operand>& operands) {
  const Operator* op = find_operator(name);
  if (!op) throw broken("I4", {}, "the specification has no operator ", name);
  const auto schema = op->arguments.first(op->arguments.size() - op->mutated());
  for (const Operand& o : operands)
    if (std::ranges::find(schema, o.name, &SchemaArgument::name) == schema.end())
      throw broken("I9", {}, name, " has no argument ", o.name);
  std::vector<Index> args;
  for (const SchemaArgument& a : schema) {
    const auto given = std::ranges::find(operands, a.name, &Operand::name);
    if (given == operands.end() && a.default_text.empty())
      throw broken("I9", {}, name, " is called without the argument ", a.name);
    args.push_back(given == operands.end() ? value_of_default(a) : given->value);
  }
  append_returned(*op, args);
  call(name, std::move(args));
}

Index PlanBuilder::value_of_default(const SchemaArgument& a) {
  const std::string_view text = a.default_text;
  if (text == "None") return none();
  if (text == "True" || text == "False") return boolean(text == "True");
  if (text.starts_with('"') || text.starts_with('\'')) return string(std::string(text.substr(1, text.size() - 2)));
  if (a.type.starts_with("int[]")) return integers(numbers(text, a.length));
  const bool is_real = a.type.starts_with("float") || text.find('.') != text.npos;
  return is_real ? real(number<double>(text)) : integer(number<Int>(text));
}

void PlanBuilder::append_returned(const Operator& op, std::vector<Index>& args) {
  if (op.arguments.back().is_out_number()) return;
  const std::size_t schema = op.arguments.size() - op.mutated(), first = op.arguments.size() - op.outs();
  const auto changed = std::ranges::find(op.arguments, true, &SchemaArgument::mutated);
  if (schema > first + 1)
    args.push_back(list<pte::TensorListT>(std::vector<Index>(args.begin() + static_cast<std::ptrdiff_t>(first),
                                                             args.begin() + static_cast<std::ptrdiff_t>(schema))));
  else
    args.push_back(args[schema > first ? first : static_cast<std::size_t>(changed - op.arguments.begin())]);
}

void PlanBuilder::add_tensors(Index self, Index other, Index out) {
  call_named("aten::add.out", {{"self", self}, {"other", other}, {"out", out}});
}

void PlanBuilder::jump_if_false(Index condition, Index destination) {
  pte::JumpFalseCallT jump;
  jump.cond_value_index = condition, jump.destination_instruction = destination;
  instruction(std::move(jump));
}

void PlanBuilder::move(Index from, Index to) {
  pte::MoveCallT move;
  move.move_from = from, move.move_to = to;
  instruction(std::move(move));
}

void PlanBuilder::free(Index value) { instruction(with(&pte::FreeCallT::value_index, value)); }

void PlanBuilder::delegate_call(Index delegate, std::vector<Index> args) {
  pte::DelegateCallT call;
  call.delegate_index = delegate, call.args = std::move(args);
  instruction(std::move(call));
}

pte::BackendDelegateT& PlanBuilder::delegate(const std::string& id, pte::DataLocation location, std::uint32_t index) {
  auto d = std::make_unique<pte::BackendDelegateT>();
  d->id = id;
  d->processed = std::make_unique<pte::BackendDelegateDataReferenceT>();
  d->processed->location = location;
  d->processed->index = index;
  return *plan_.delegates.emplace_back(std::move(d));
}

// -- programs ---------------------------------------------------------------------------------------------------------

PlanBuilder ProgramBuilder::method(const std::string& name) {
  pte::ExecutionPlanT& plan = *program_.tables.execution_plan.emplace_back(std::make_unique<pte::ExecutionPlanT>());
  plan.name = name;
  plan.non_const_buffer_sizes = {0};
  return PlanBuilder(plan);
}

std::uint32_t ProgramBuilder::segment(Bytes bytes) {
  program_.segments.push_back(std::move(bytes));
  return static_cast<std::uint32_t>(program_.segments.size()) - 1;
}

// Index 0 of a part is unused.
std::unique_ptr<pte::SubsegmentOffsetsT> ProgramBuilder::new_part() {
  auto part = std::make_unique<pte::SubsegmentOffsetsT>();
  part->segment_index = segment({});
  part->offsets = {0};
  return part;
}

pte::SubsegmentOffsetsT& ProgramBuilder::constants() {
  if (!program_.tables.constant_segment) program_.tables.constant_segment = new_part();
  return *program_.tables.constant_segment;
}

std::uint32_t ProgramBuilder::initial(const Bytes& bytes) {
  auto& parts = program_.tables.mutable_data_segments;
  if (parts.empty()) parts.push_back(new_part());
  return append(*parts.front(), bytes);
}

void ProgramBuilder::named(const std::string& key, Bytes bytes) {
  auto n = std::make_unique<pte::NamedDataT>();
  n->key = key;
  n->segment_index = segment(std::move(bytes));
  program_.tables.named_data.push_back(std::move(n));
}

// Each part begins at a multiple of 16, as any element needs it.
std::uint32_t ProgramBuilder::append(pte::SubsegmentOffsetsT& to, const Bytes& bytes) {
  Bytes& segment = program_.segments[to.segment_index];
  segment.resize((segment.size() + 15) / 16 * 16);
  to.offsets.push_back(segment.size());
  segment.insert(segment.end(), bytes.begin(), bytes.end());
  return static_cast<std::uint32_t>(to.offsets.size()) - 1;
}

}  // namespace assay

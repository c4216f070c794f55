#include "conformance/reproduce/call_program.h"

#include <algorithm>
#include <stdexcept>

#include "conformance/text/layout.h"
#include "reference/program/build.h"

namespace assay::reproduce {
namespace {

using Index = PlanBuilder::Index;

constexpr std::byte unwritten{0xBE};

template <class Sizes>
Sizes as(const Dims& dims) {
  Sizes all;
  for (const Int n : dims) all.push_back(static_cast<typename Sizes::value_type>(n));
  return all;
}

class CallPlan {
 public:
  CallPlan(ProgramBuilder& program, const Operator& op) : program_(program), plan_(program.method()), op_(op) {}

  void add(std::span<const Value> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) values_.push_back(value(i, arguments[i]));
    std::vector<Index> stack;
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!is_new_value(i)) stack.push_back(values_[i]);
    plan_.append_returned(op_, stack);
    plan_.call(std::string(op_.name), std::move(stack));
  }
  std::vector<Tensor>& inputs() { return inputs_; }

 private:
  bool is_new_value(std::size_t i) const { return i >= op_.arguments.size() - op_.mutated(); }

  Index value(std::size_t i, const Value& v) {
    if (is_new_value(i)) return output(new_value(i));
    if (!op_.arguments[i].out) return input(op_.arguments[i].type, v);
    if (op_.arguments[i].is_out_number()) return output(plan_.none());
    const Tensors* list = std::get_if<Tensors>(&v);
    if (!list) return output(out(std::get<Tensor>(v)));
    std::vector<Index> items;
    for (const auto& t : *list) items.push_back(output(out(*t)));
    return plan_.list<pte::TensorListT>(std::move(items));
  }

  // An argument that is changed in place is its own new value.
  Index new_value(std::size_t i) const {
    for (std::size_t k = 0; k < values_.size(); ++k)
      if (op_.arguments[k].mutated && op_.new_value_of(k) == i) return values_[k];
    throw std::logic_error("a new value must belong to an argument that is changed in place");
  }

  Index output(Index i) {
    plan_.plan().outputs.push_back(i);
    return i;
  }

  // Puts each out in a memory of its own. The memory starts with values that no kernel writes, which shows elements
  // that were not written.
  Index out(const Tensor& t) {
    const Index i = plan_.planned(t.dtype, as<std::vector<std::int32_t>>(t.sizes), ++memories_);
    plan_.at(i).dim_order = as<std::vector<std::uint8_t>>(t.dim_order);
    plan_.at(i).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND;
    if (t.count() > 0) plan_.at(i).data_buffer_idx = program_.initial(Bytes(text::byte_count(t), unwritten));
    return i;
  }

  Index tensor(const Tensor& t) {
    const Index i = plan_.tensor(t.dtype, as<std::vector<std::int32_t>>(t.sizes));
    plan_.at(i).dim_order = as<std::vector<std::uint8_t>>(t.dim_order);
    plan_.plan().inputs.push_back(i);
    inputs_.push_back(t);
    return i;
  }

  Index input(std::string_view type, const Value& value) {
    return std::visit(
        [&]<class T>(const T& v) -> Index {
          if constexpr (std::is_same_v<T, std::monostate>) return plan_.none();
          if constexpr (std::is_same_v<T, Tensor>) return tensor(v);
          if constexpr (std::is_same_v<T, Int>)
            return type.starts_with("float") ? plan_.real(static_cast<double>(v)) : plan_.integer(v);
          if constexpr (std::is_same_v<T, double>) return plan_.real(v);
          if constexpr (std::is_same_v<T, bool>) return plan_.boolean(v);
          if constexpr (std::is_same_v<T, std::string>) return plan_.string(v);
          if constexpr (std::is_same_v<T, Ints>) return plan_.integers(v);
          if constexpr (std::is_same_v<T, Doubles>) return plan_.list<pte::DoubleListT>(v);
          if constexpr (std::is_same_v<T, Bools>) return plan_.list<pte::BoolListT>(v);
          if constexpr (std::is_same_v<T, Tensors>) return tensors(type, v);
        },
        value);
  }

  Index tensors(std::string_view type, const Tensors& list) {
    std::vector<Index> items;
    for (const auto& t : list) items.push_back(t ? tensor(*t) : -1);
    return type.starts_with("Tensor?") ? plan_.list<pte::OptionalTensorListT>(std::move(items))
                                       : plan_.list<pte::TensorListT>(std::move(items));
  }

  ProgramBuilder& program_;
  PlanBuilder plan_;
  const Operator& op_;
  std::vector<Index> values_;  // one per argument
  std::vector<Tensor> inputs_;
  std::uint32_t memories_ = 0;
};

using Values = std::vector<std::unique_ptr<bpte::ValueT>>;

std::vector<std::uint8_t> copied(std::span<const std::byte> bytes) {
  std::vector<std::uint8_t> copy(bytes.size());
  std::ranges::copy(bytes, reinterpret_cast<std::byte*>(copy.data()));
  return copy;
}

template <class Table>
std::unique_ptr<bpte::ValueT> bundled(Table table) {
  auto value = std::make_unique<bpte::ValueT>();
  value->val.Set(std::move(table));
  return value;
}

template <class Table, class T>
Table number(T Table::*field, T n) {
  Table table;
  table.*field = n;
  return table;
}

std::unique_ptr<bpte::ValueT> bundled(const Tensor& t) {
  bpte::TensorT tensor;
  tensor.scalar_type = static_cast<std::int8_t>(t.dtype);
  tensor.sizes = as<std::vector<std::int32_t>>(t.sizes), tensor.dim_order = as<std::vector<std::uint8_t>>(t.dim_order);
  tensor.data = copied(t.bytes);
  return bundled(std::move(tensor));
}

// Adds a tensor, each tensor of a list, or a number.
void add(Values& values, const Value& value) {
  if (const auto* t = std::get_if<Tensor>(&value)) values.push_back(bundled(*t));
  if (const auto* list = std::get_if<Tensors>(&value))
    for (const auto& t : *list) values.push_back(bundled(*t));
  if (const auto* n = std::get_if<Int>(&value)) values.push_back(bundled(number(&bpte::IntT::int_val, *n)));
  if (const auto* d = std::get_if<double>(&value)) values.push_back(bundled(number(&bpte::DoubleT::double_val, *d)));
  if (const auto* b = std::get_if<bool>(&value)) values.push_back(bundled(number(&bpte::BoolT::bool_val, *b)));
}

}  // namespace

CallProgram program_of_call(const Operator& op, std::span<const Value> arguments) {
  ProgramBuilder program;
  program.constants();
  CallPlan plan(program, op);
  plan.add(arguments);
  return {std::move(program.program()), std::move(plan.inputs())};
}

BundledProgram bundle_of_call(const Operator& op, std::span<const Value> arguments) {
  return bundle_of(program_of_call(op, arguments), arguments.last(op.outs()));
}

BundledProgram bundle_of(const CallProgram& call, std::span<const Value> outs) {
  auto test = std::make_unique<bpte::BundledMethodTestCaseT>();
  for (const Tensor& t : call.inputs) test->inputs.push_back(bundled(t));
  for (const Value& out : outs) add(test->expected_outputs, out);
  auto suite = std::make_unique<bpte::BundledMethodTestSuiteT>();
  suite->method_name = "forward";
  suite->test_cases.push_back(std::move(test));
  BundledProgram bundle;
  bundle.method_test_suites.push_back(std::move(suite));
  bundle.program = copied(encode(call.program));
  return bundle;
}

}  // namespace assay::reproduce

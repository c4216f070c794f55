#include "fuzz/mutator/instruction_mutator.h"

#include <algorithm>
#include <functional>

#include "reference/program/build.h"

namespace assay::fuzz {
namespace {

using Index = PlanBuilder::Index;
using pte::KernelTypes;

class Instructions {
 public:
  Instructions(pte::ExecutionPlanT& plan, Random& random) : build_(plan), plan_(plan), random_(random) {}

  void change() {
    switch (random_.below(10)) {
      case 0:
        return insert(change_operator(call_of(some_operator())));
      case 1:
        return insert(make<pte::MoveCallT>([&](auto& m) { m.move_from = any(), m.move_to = like(m.move_from); }));
      case 2:
        return insert(make<pte::JumpFalseCallT>(
            [&](auto& j) { j.cond_value_index = condition(), j.destination_instruction = place(); }));
      case 3:
        return insert(make<pte::FreeCallT>([&](auto& f) { f.value_index = tensor(); }));
      case 4:
        return insert(handle_call());
      case 5:
        return retarget();
      case 6:
        return share_memory();
      default:
        return insert(call_of(some_operator()));
    }
  }

 private:
  // -- values -----------------------------------------------------------------------------------------------------

  Index any() { return static_cast<Index>(random_.below(plan_.values.size())); }
  // A value of this type; -1: none exists.
  Index some(KernelTypes type, const std::function<bool(Index)>& wanted = {}) {
    std::vector<Index> choices;
    for (Index i = 0; i < static_cast<Index>(plan_.values.size()); ++i)
      if (value(i).type == type && (!wanted || wanted(i))) choices.push_back(i);
    return choices.empty() ? -1 : random_.of(choices);
  }
  template <class T>
  Index some_or(KernelTypes type, T otherwise) {
    const Index i = random_.one_in(4) ? -1 : some(type);
    return i < 0 ? build_.add(std::move(otherwise)) : i;
  }
  pte::KernelTypesUnion& value(Index i) { return plan_.values[static_cast<std::size_t>(i)]->val; }
  Index like(Index i) { return plan_.values.empty() ? 0 : some(value(i).type); }

  Index tensor() { return some_or(KernelTypes::Tensor, pte::TensorT()); }
  Index tensor_of(std::int8_t dtype) {
    const Index i = some(KernelTypes::Tensor, [&](Index t) { return value(t).AsTensor()->scalar_type == dtype; });
    return i < 0 ? tensor() : i;
  }
  Index condition() {
    const Index i = random_.one_in(2) ? some(KernelTypes::Bool) : tensor_of(static_cast<std::int8_t>(DType::boolean));
    return i < 0 ? any() : i;
  }
  Index integer() {
    pte::IntT n;
    n.int_val = random_.one_in(3) ? another_number(1, random_) : static_cast<std::int64_t>(random_.below(3));
    return some_or(KernelTypes::Int, n);
  }
  Index real() {
    pte::DoubleT d;
    d.double_val = another_real(1, random_);
    return some_or(KernelTypes::Double, d);
  }
  Index boolean() {
    pte::BoolT b;
    b.bool_val = random_.one_in(2);
    return some_or(KernelTypes::Bool, b);
  }
  Index none() { return some_or(KernelTypes::Null, pte::NullT()); }

  // A tensor for results, in new memory behind all other memory.
  Index out_like(Index self) {
    if (random_.one_in(3)) return tensor();
    const auto* t = self < 0 ? nullptr : value(self).AsTensor();
    pte::TensorT out = t ? *t : pte::TensorT();
    out.data_buffer_idx = 0, out.extra_tensor_info = nullptr;
    auto& memories = plan_.non_const_buffer_sizes;
    if (memories.empty()) memories = {0};
    if (memories.size() == 1) memories.push_back(0);
    std::int64_t elements = 1;
    for (const auto n : out.sizes) elements *= std::clamp(n, 0, 64);
    constexpr std::int64_t most = std::int64_t{1} << 24;
    std::int64_t& memory = memories.back();
    memory = std::clamp<std::int64_t>(memory, 0, most) / 16 * 16;
    out.allocation_info = std::make_unique<pte::AllocationDetailsT>();
    out.allocation_info->memory_id = static_cast<std::uint32_t>(memories.size() - 1);
    out.allocation_info->memory_offset_low = static_cast<std::uint32_t>(memory);
    memory += std::min(elements, most) * 16;
    const Index i = build_.add(std::move(out));
    if (random_.one_in(2)) plan_.outputs.push_back(i);
    return i;
  }

  template <class List>
  Index list(KernelTypes type, const std::function<Index()>& element) {
    List l;
    for (std::size_t n = random_.below(4); n > 0; --n) l.items.push_back(element());
    return some_or(type, std::move(l));
  }

  // -- arguments of a schema's types ------------------------------------------------------------------------------

  Index argument(std::string_view type) {
    if (type.ends_with('?')) {
      if (random_.one_in(2)) return none();
      type.remove_suffix(1);
    }
    if (type == "Tensor") return tensor_of(dtype_);
    if (type == "Tensor[]") return list<pte::TensorListT>(KernelTypes::TensorList, [&] { return tensor_of(dtype_); });
    if (type == "Tensor?[]")
      return list<pte::OptionalTensorListT>(KernelTypes::OptionalTensorList,
                                            [&] { return random_.one_in(3) ? -1 : tensor(); });
    if (type == "int[]") return list<pte::IntListT>(KernelTypes::IntList, [&] { return integer(); });
    if (type == "bool[]") return build_.add(pte::BoolListT());
    if (type == "float[]") return build_.add(pte::DoubleListT());
    if (type == "bool") return boolean();
    if (type == "float") return real();
    if (type == "Scalar") return random_.one_in(2) ? real() : integer();
    if (type == "str") return some_or(KernelTypes::String, pte::StringT());
    return integer();
  }

  // -- instructions -----------------------------------------------------------------------------------------------

  template <class T>
  std::unique_ptr<pte::InstructionT> make(const std::function<void(T&)>& fill) {
    T what;
    fill(what);
    return PlanBuilder::instruction_of(std::move(what));
  }
  // Inserts an instruction. Jump targets behind it move by one.
  void insert(std::unique_ptr<pte::InstructionT> instruction) {
    if (plan_.chains.empty()) return;
    auto& all = chain().instructions;
    const Index at = place();
    for (auto& i : all)
      if (auto* jump = i->instr_args.AsJumpFalseCall())
        if (jump->destination_instruction > at && jump->destination_instruction < INT32_MAX)
          ++jump->destination_instruction;
    all.insert(all.begin() + at, std::move(instruction));
  }
  pte::ChainT& chain() { return *plan_.chains.front(); }
  Index place() {
    return plan_.chains.empty() ? 0 : static_cast<Index>(random_.below(chain().instructions.size() + 1));
  }

  const Operator& some_operator() { return random_.of(operators_); }

  // The call's arguments by the schema, its outs, and its returned values.
  std::unique_ptr<pte::InstructionT> call_of(const Operator& op) {
    const Index first = tensor();
    if (const auto* t = value(first).AsTensor()) dtype_ = t->scalar_type;
    return make<pte::KernelCallT>([&](auto& call) {
      call.op_index = build_.operator_index(op.name);
      for (const SchemaArgument& a : op.arguments.first(op.arguments.size() - op.mutated()))
        call.args.push_back(a.is_out_number()                         ? none()
                            : a.out && a.type == "Tensor"             ? out_like(first)
                            : call.args.empty() && a.type == "Tensor" ? first
                                                                      : argument(a.type));
      build_.append_returned(op, call.args);
    });
  }

  // Calls another operator with the same arguments.
  std::unique_ptr<pte::InstructionT> change_operator(std::unique_ptr<pte::InstructionT> call) {
    call->instr_args.AsKernelCall()->op_index = build_.operator_index(some_operator().name);
    return call;
  }

  // Changes the operator of an existing call to one with the same number of arguments.
  void retarget() {
    if (plan_.chains.empty() || chain().instructions.empty()) return;
    auto* call = random_.of(chain().instructions)->instr_args.AsKernelCall();
    if (!call) return;
    for (int tries = 0; tries < 20; ++tries)
      if (const Operator& op = some_operator(); op.arguments.size() + 1 == call->args.size())
        return void(call->op_index = build_.operator_index(op.name));
  }

  std::unique_ptr<pte::InstructionT> handle_call() {
    const bool view = random_.one_in(2);
    const Index self = tensor();
    return make<pte::KernelCallT>([&](auto& call) {
      call.op_index =
          build_.operator_index(view ? "executorch_prim::et_view.default" : "executorch_prim::et_copy_index.tensor");
      call.args = view ? std::vector<Index>{self, argument("int[]"), out_like(self)}
                       : std::vector<Index>{tensor(), self, integer()};
      call.args.push_back(random_.one_in(2) ? call.args.back() : none());
    });
  }

  // Places a tensor in the memory of another one.
  void share_memory() {
    const Index a = some(KernelTypes::Tensor), b = some(KernelTypes::Tensor);
    if (a < 0) return;
    pte::TensorT &to = *value(a).AsTensor(), copy = *value(b).AsTensor();
    if (random_.one_in(2)) to.allocation_info = std::move(copy.allocation_info);
    if (random_.one_in(4)) to.extra_tensor_info = std::move(copy.extra_tensor_info);
    if (random_.one_in(4)) to.data_buffer_idx = copy.data_buffer_idx;
  }

  PlanBuilder build_;
  pte::ExecutionPlanT& plan_;
  Random& random_;
  std::span<const Operator> operators_ = operator_table();
  std::int8_t dtype_ = static_cast<std::int8_t>(DType::float32);
};

}  // namespace

void mutate_instructions(pte::ExecutionPlanT& plan, Random& random) {
  if (!plan.values.empty()) Instructions(plan, random).change();
}

}  // namespace assay::fuzz

#include "reference/runtime/machine.h"

namespace assay {
namespace {

using format::items;

// In the order of instructions.
class LiveIn {
 public:
  explicit LiveIn(const pte::ExecutionPlan& plan) : plan_(plan), live_(format::size_of(plan.values())) {
    for (const auto i : items(plan.inputs())) write(i);
    for (std::uint32_t c = 0; c < format::size_of(plan.chains()); ++c)
      for (std::uint32_t i = 0; i < plan.chains()->Get(c)->instructions()->size(); ++i)
        run(*plan.chains()->Get(c)->instructions()->Get(i));
    for (const auto i : items(plan.outputs())) read(i);
  }
  std::vector<bool> live() && { return std::move(live_); }

 private:
  template <class F>
  void each(std::int32_t i, F f) {
    if (i < 0 || index(i) >= live_.size()) return;
    const pte::EValue& v = *plan_.values()->Get(static_cast<std::uint32_t>(i));
    if (const auto* l = v.val_as_TensorList())
      for (const auto e : items(l->items())) each(e, f);
    if (const auto* l = v.val_as_OptionalTensorList())
      for (const auto e : items(l->items())) each(e, f);
    const pte::Tensor* t = v.val_as_Tensor();
    if (!t || !t->allocation_info()) return;
    Dims sizes;
    for (const auto n : items(t->sizes())) sizes.push_back(n);
    const auto bytes =
        static_cast<std::size_t>(count(sizes) * info(*dtype_numbered(static_cast<Int>(t->scalar_type()))).bytes);
    f(index(i), defined_[t->allocation_info()->memory_id()], format::planned_offset(*t->allocation_info()), bytes);
  }
  void read(std::int32_t i) {
    each(i, [&](std::size_t v, const Definedness& d, std::size_t at, std::size_t bytes) {
      if (d.written(at) < bytes) live_[v] = true;
    });
  }
  void write(std::int32_t i) {
    each(i, [](std::size_t, Definedness& d, std::size_t at, std::size_t bytes) {
      d.make_room(1), d.write(at, bytes, Definedness::By::instruction);
    });
  }
  void run(const pte::Instruction& what) {
    if (const auto* call = what.instr_args_as_KernelCall()) {
      const std::string name = operator_name(*plan_.operators()->Get(static_cast<std::uint32_t>(call->op_index())));
      const Operator* op = find_operator(name);
      const auto args = items(call->args());
      for (const bool writes : {false, true})
        for (std::size_t i = 0; i < args.size(); ++i) {
          const bool out = op ? i < op->arguments.size() && op->arguments[i].out
                              : i == (name == "executorch_prim::et_copy_index.tensor" ? 0u : 2u);
          if (out == writes) out ? write(args[i]) : read(args[i]);
        }
    }
    if (const auto* d = what.instr_args_as_DelegateCall())
      for (const auto i : items(d->args())) read(i), write(i);
    if (const auto* j = what.instr_args_as_JumpFalseCall()) read(j->cond_value_index());
  }
  const pte::ExecutionPlan& plan_;
  std::vector<bool> live_;
  std::map<std::uint32_t, Definedness> defined_;
};

}  // namespace

std::vector<bool> live_in(const pte::ExecutionPlan& plan) { return LiveIn(plan).live(); }

}  // namespace assay

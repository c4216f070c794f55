#include "conformance/delegates/composition.h"

#include <algorithm>
#include <map>

#include "reference/program/taken.h"
#include "reference/runtime/runtime.h"
#include "reference/xnnpack/translate.h"

namespace assay::delegates {
namespace {

using xnnpack::Graph;

bool is_code(const Graph& graph, xnnpack::Id id) {
  using enum format::xnnpack::Datatype;
  const auto type = graph.datatype(id);
  return type == qint8 || type == quint8 || type == qdint8;
}

Arithmetic arithmetic_of(const Graph& graph, const xnn::Node& node) {
  const auto outputs = format::xnnpack::operands_of(node).outputs;
  const bool computes_codes = std::ranges::all_of(outputs, [&](const auto& o) { return is_code(graph, o.id); });
  return computes_codes ? Arithmetic::exact : Arithmetic::rounded;
}

class Composition {
 public:
  Composition(const Payload& payload, xnnpack::Form form, bool with_intervals) {
    const Graph graph(payload.bytes, {}, payload.finder(), form);
    const xnnpack::PlainProgram plain = xnnpack::plain_program(graph, [](std::size_t) {});
    for (std::uint32_t n = 0; n < plain.ends.size(); ++n)
      while (arithmetic_.size() < plain.ends[n])
        arithmetic_.push_back(arithmetic_of(graph, *graph.tables().nodes()->Get(n)));
    RuntimeOptions options;
    if (with_intervals)
      options.call = [this](const Operator& op, std::span<Value> arguments, const Budget& budget) {
        return answer(op, arguments, budget);
      };
    const auto program = taken(LoadedProgram::load(in_memory(encode(plain.program)), {}, options));
    method_.emplace(taken(program.method("forward")));
  }

  std::vector<RightOutput> run(std::span<const Tensor> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) require_done(method_->set_input(i, inputs[i]));
    do require_done(method_->step());
    while (method_->running());
    std::vector<RightOutput> all;
    const auto& outputs = *method_->plan().outputs();
    for (std::uint32_t i = 0; i < outputs.size(); ++i) {
      const Tensor out = std::get<Tensor>(taken(method_->output(i)));
      const auto found = intervals_.find(outputs.Get(i));
      all.push_back({out, found == intervals_.end() ? Interval{out, out} : found->second});
    }
    return all;
  }

 private:
  using Index = std::int32_t;

  // A tensor of this value of the plan, or the tensors of its list.
  std::vector<Index> tensors_at(Index value) const {
    const auto* list = method_->plan().values()->Get(static_cast<std::uint32_t>(value))->val_as_TensorList();
    return list ? std::vector<Index>(list->items()->begin(), list->items()->end()) : std::vector<Index>{value};
  }

  std::optional<Interval> interval_at(Index tensor) const {
    const auto found = intervals_.find(tensor);
    return found == intervals_.end() ? std::nullopt : std::optional(found->second);
  }

  // A call of the program, in the order of its instructions.
  Answer answer(const Operator& op, std::span<Value> arguments, const Budget& budget) {
    const auto& instructions = *method_->plan().chains()->Get(0)->instructions();
    const auto& args = *instructions.Get(static_cast<std::uint32_t>(next_))->instr_args_as_KernelCall()->args();
    const Arithmetic arithmetic = next_ < arithmetic_.size() ? arithmetic_[next_] : Arithmetic::rounded;
    ++next_;
    judge::Expectation expected = judge::expect(op, arguments, budget);
    if (expected.answer.outcome != Outcome::ok) return expected.answer;
    std::vector<Argument> known;
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
      known.push_back({arguments[i]});
      const bool has_tensors =
          std::holds_alternative<Tensor>(arguments[i]) || std::holds_alternative<Tensors>(arguments[i]);
      if (!has_tensors || op.arguments[i].out) continue;
      for (const Index t : tensors_at(args.Get(i))) known.back().intervals.push_back(interval_at(t));
    }
    std::vector<Interval> outs = intervals_of(op, known, expected, arithmetic);
    std::size_t next_out = 0;
    for (std::uint32_t i = 0; i < arguments.size(); ++i)
      if (op.arguments[i].out) keep(args.Get(i), std::move(outs[next_out++]));
    std::ranges::move(expected.arguments, arguments.begin());
    return expected.answer;
  }

  void keep(Index out, Interval interval) {
    if (interval.is_point())
      intervals_.erase(out);
    else
      intervals_.insert_or_assign(out, std::move(interval));
  }

  std::vector<Arithmetic> arithmetic_;   // of each call of a node
  std::size_t next_ = 0;                 // the index of the next call
  std::map<Index, Interval> intervals_;  // by tensor of the plan
  std::optional<Method> method_;
};

}  // namespace

std::vector<Tensor> outputs_of(const Payload& payload, xnnpack::Form form, std::span<const Tensor> inputs) {
  std::vector<Tensor> outputs;
  for (RightOutput& out : Composition(payload, form, false).run(inputs)) outputs.push_back(std::move(out.expected));
  return outputs;
}

std::vector<RightOutput> right_outputs(const Payload& payload, xnnpack::Form form, std::span<const Tensor> inputs) {
  return Composition(payload, form, true).run(inputs);
}

}  // namespace assay::delegates

#include "conformance/testees/probe.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "conformance/testees/memory.h"
#include "reference/fault.h"

namespace assay {
namespace {

TensorPlan plan_of(const Tensor& t) { return {t.dtype, t.sizes, t.dim_order}; }

std::string element_name(std::string_view list, std::size_t k) { return text(list, "[", k, "]"); }

// One call in memory of its own.
class Run {
 public:
  Run(const Operator& op, std::span<const Value> arguments, const OutPlan& plan, Poison poison) : op_(op), arguments_(arguments) {
    std::size_t out = 0;
    for (std::size_t i = 0; i < op.arguments.size(); ++i)
      host_.push_back(op.arguments[i].out ? place_out(op.arguments[i], plan.at(out++), poison) : place_input(op.arguments[i], arguments[i]));
  }

  Reply call(KernelLibrary& library) { return library.call(op_, host_); }

  std::string damage() const {
    if (const auto found = memory_.damage()) return describe(*found);
    for (const TensorView& out : outs())
      if (out.bytes() > out.capacity) return text("an out of ", out.capacity, " bytes was resized to ", out.sizes, ", which takes ", out.bytes());
    return {};
  }

  std::string changed_input() const {
    for (std::size_t i = 0; i < host_.size(); ++i)
      if (!op_.arguments[i].out && changed(arguments_[i], host_[i])) return std::string(op_.arguments[i].name);
    return {};
  }

  std::vector<TensorView> outs() const {
    std::vector<TensorView> all;
    for (std::size_t i = 0; i < host_.size(); ++i) {
      if (!op_.arguments[i].out) continue;
      if (const auto* one = std::get_if<TensorView>(&host_[i])) all.push_back(*one);
      if (const auto* list = std::get_if<TensorViews>(&host_[i]))
        for (const auto& view : *list) all.push_back(view.value_or(TensorView{}));
    }
    return all;
  }

 private:
  TensorView place(std::string name, const TensorPlan& plan) {
    TensorView view{plan.dtype, plan.sizes, plan.dim_order, nullptr, 0};
    view.capacity = view.bytes();
    view.data = memory_.add(std::move(name), view.capacity);
    return view;
  }

  TensorView place_out(std::string name, const TensorPlan& plan, Poison poison) {
    const TensorView view = place(std::move(name), plan);
    fill({view.data, view.capacity}, poison, view.dtype);
    return view;
  }

  HostValue place_out(const SchemaArgument& argument, const std::vector<TensorPlan>& plan, Poison poison) {
    if (argument.is_out_number()) return place_out(std::string(argument.name), plan_of(tensor_of(0.0)), poison);  // holds a number of any kind
    if (!argument.type.ends_with("[]")) return place_out(std::string(argument.name), plan.at(0), poison);
    TensorViews views;
    for (std::size_t k = 0; k < plan.size(); ++k) views.emplace_back(place_out(element_name(argument.name, k), plan[k], poison));
    return views;
  }

  TensorView place_tensor(std::string name, const Tensor& tensor) {
    const TensorView view = place(std::move(name), plan_of(tensor));
    std::ranges::copy(tensor.bytes, view.data);
    return view;
  }

  HostValue place_input(const SchemaArgument& argument, const Value& value) {
    return std::visit([&]<class T>(const T& v) -> HostValue {
      if constexpr (std::is_same_v<T, Tensor>) {
        return place_tensor(std::string(argument.name), v);
      } else if constexpr (std::is_same_v<T, Tensors>) {
        TensorViews views(v.size());
        for (std::size_t k = 0; k < v.size(); ++k)
          if (v[k]) views[k] = place_tensor(element_name(argument.name, k), *v[k]);
        return views;
      } else {
        return v;
      }
    }, value);
  }

  static bool changed(const Tensor& before, const TensorView& after) { return !std::ranges::equal(before.bytes, std::span(after.data, before.bytes.size())); }

  static bool changed(const Value& before, const HostValue& after) {
    if (const Tensor* t = std::get_if<Tensor>(&before)) return changed(*t, std::get<TensorView>(after));
    const Tensors* list = std::get_if<Tensors>(&before);
    for (std::size_t k = 0; list && k < list->size(); ++k)
      if ((*list)[k] && changed(*(*list)[k], *std::get<TensorViews>(after)[k])) return true;
    return false;
  }

  const Operator& op_;
  std::span<const Value> arguments_;
  GuardedMemory memory_;
  std::vector<HostValue> host_;
};

bool same_metadata(const TensorView& a, const TensorView& b) { return a.dtype == b.dtype && a.sizes == b.sizes && a.dim_order == b.dim_order; }

bool holds(std::span<const std::byte> element, std::byte poison) {
  return std::ranges::all_of(element, [=](std::byte b) { return b == poison; });
}

// Two runs left the out with the same metadata; element by element: never written, or different.
void compare(const TensorView& first, const TensorView& second, int out, Observation& seen) {
  const std::size_t bytes = first.bytes(), size = static_cast<std::size_t>(info(first.dtype).bytes);
  if (std::memcmp(first.data, second.data, bytes) == 0) return;
  for (std::size_t at = 0; at < bytes; at += size) {
    const std::span a(first.data + at, size), b(second.data + at, size);
    if (std::ranges::equal(a, b)) continue;
    if (!holds(a, poison_byte(Poison::first, first.dtype)) || !holds(b, poison_byte(Poison::second, first.dtype))) {
      seen.differs = true;
    } else if (seen.unwritten++ == 0) {
      seen.unwritten_out = out;
      seen.unwritten_element = static_cast<Int>(at / size);
    }
  }
}

void compare(const std::vector<TensorView>& first, const std::vector<TensorView>& second, Observation& seen) {
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (same_metadata(first[k], second[k])) compare(first[k], second[k], static_cast<int>(k), seen);
    else seen.differs = true;
  }
}

Tensor taken(const TensorView& view) { return {view.dtype, view.sizes, view.dim_order, {view.data, view.data + view.bytes()}}; }

}  // namespace

OutPlan plan_outs(const Operator& op, std::span<const Value> arguments) {
  OutPlan plan;
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    if (!op.arguments[i].out) continue;
    std::vector<TensorPlan>& tensors = plan.emplace_back();
    if (const Tensor* one = std::get_if<Tensor>(&arguments[i])) tensors.push_back(plan_of(*one));
    if (const Tensors* list = std::get_if<Tensors>(&arguments[i]))
      for (const auto& t : *list) tensors.push_back(plan_of(t.value()));
  }
  return plan;
}

Observation observe(KernelLibrary& library, const Operator& op, std::span<const Value> arguments, const OutPlan& outs) {
  Observation seen;
  Run first(op, arguments, outs, Poison::first);
  const auto start = std::chrono::steady_clock::now();
  seen.reply = first.call(library);
  seen.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  seen.damaged = first.damage();
  seen.changed_input = first.changed_input();
  if (seen.reply.outcome != Outcome::ok || !seen.damaged.empty()) return seen;

  const std::vector<TensorView> results = first.outs();
  std::ranges::transform(results, std::back_inserter(seen.outs), taken);
  Run second(op, arguments, outs, Poison::second);
  seen.differs = second.call(library).outcome != Outcome::ok;
  seen.damaged = second.damage();
  if (!seen.differs && seen.damaged.empty()) compare(results, second.outs(), seen);
  return seen;
}

}  // namespace assay

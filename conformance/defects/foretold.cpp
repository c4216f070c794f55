#include "conformance/defects/foretold.h"

#include <algorithm>
#include <cmath>

#include "reference/fault.h"

namespace assay::defects {
namespace {

bool is_wrong(const Operator& op, const judge::Expectation& expected, const std::vector<Tensor>& outs) {
  return verdict::is_failure(
      judge::judge(op, expected.arguments, expected, judge::Reaction{Outcome::ok, {}, {}, outs}).verdict);
}

// Whether results do not fit in the memory of the right ones, so that they must be refused.
bool is_larger(const std::vector<Tensor>& outs, const std::vector<Tensor>& right) {
  for (std::size_t k = 0; k < std::min(outs.size(), right.size()); ++k)
    if (outs[k].bytes.size() > right[k].bytes.size()) return true;
  return false;
}

bool have_sizes_of(const std::vector<Tensor>& outs, const std::vector<Tensor>& others) {
  return std::ranges::equal(outs, others, {}, &Tensor::sizes, &Tensor::sizes);
}

bool are_same(const std::vector<Tensor>& outs, const std::vector<Tensor>& others) {
  return std::ranges::equal(outs, others, [](const Tensor& a, const Tensor& b) {
    return a.sizes == b.sizes && a.dtype == b.dtype && a.dim_order == b.dim_order && a.bytes == b.bytes;
  });
}

bool is_known(const judge::Expectation& e) { return e.answer.outcome != Outcome::exhausted; }
judge::Expectation not_known(judge::Expectation e) {
  e.answer.outcome = Outcome::exhausted, e.outs.clear();
  return e;
}

// The first elements of results along each dimension, with the sizes of the right results; none if there are fewer, or
// if each element depends on the sizes of its result.
std::optional<judge::Expectation> cropped(const Operator& op, const judge::Expectation& e,
                                          const judge::Expectation& right) {
  std::vector<Tensor> outs = right.outs;
  if (e.outs.size() != outs.size() || argument_of(op, "scale_factors")) return std::nullopt;
  for (std::size_t k = 0; k < outs.size(); ++k) {
    const Tensor& from = e.outs[k];
    if (from.dtype != outs[k].dtype || from.rank() != outs[k].rank() || outs[k].count() == 0) return std::nullopt;
    for (int d = 0; d < from.rank(); ++d)
      if (from.sizes[d] < outs[k].sizes[d]) return std::nullopt;
    const Array<Element> all = read<Element>(from);
    Array<Element> part(outs[k].sizes);
    Int flat = 0;
    for (const Dims& i : indices(part.sizes)) part[flat++] = all(i);
    write(part, outs[k]);
  }
  return with_results(right, std::move(outs));
}

}  // namespace

Hypothesis answering(const Operator& op, std::string does, Predicted answer) {
  // Whether the kernel gives results of other sizes, or a part of them, is not known.
  struct Foretold {
    judge::Expectation whole;
    bool is_ok, has_right_sizes;
    std::optional<judge::Expectation> part;  // of results of other sizes
  };
  const auto foretell = [&op, answer](const cases::HostCall& call) -> std::optional<Foretold> {
    auto e = call.valid() ? answer(call) : std::nullopt;
    if (!e) return std::nullopt;
    const bool is_ok = e->answer.outcome == Outcome::ok;
    const bool has_right_sizes = is_ok && have_sizes_of(e->outs, call.expected.outs);
    auto part = is_ok && !has_right_sizes ? cropped(op, *e, call.expected) : std::nullopt;
    return Foretold{std::move(*e), is_ok, has_right_sizes, std::move(part)};
  };
  const auto differs = [&op, foretell](const cases::HostCall& call) {
    const auto f = foretell(call);
    if (!f || !f->is_ok) return f && is_known(f->whole);
    return is_wrong(op, call.expected, f->whole.outs) && (!f->part || is_wrong(op, call.expected, f->part->outs));
  };
  const auto explains = [&op, foretell](const Answered& a) {
    const auto f = foretell(a.call);
    if (!f || !is_known(f->whole)) return false;
    const std::vector<Tensor>& right = a.call.expected.outs;
    if (f->is_ok && !f->has_right_sizes && !a.refused() && have_sizes_of(a.outs, right))
      return f->part && !is_wrong(op, *f->part, a.outs);
    if (!f->is_ok || is_larger(f->whole.outs, right)) return a.refused();
    // Where several answers are right, the reference decides from the arguments alone.
    const auto are_foretold = [&] { return !op.choice.empty() && are_same(a.outs, f->whole.outs); };
    return !a.refused() && !a.outs.empty() && (are_foretold() || !is_wrong(op, f->whole, a.outs));
  };
  Hypothesis h{std::move(does), About::arguments, false, false, differs, explains};
  // A kernel need not check the other call, and what it writes behind results that are smaller is not known.
  h.is_open = [foretell](const cases::HostCall& call) {
    const auto f = foretell(call);
    return f && !f->has_right_sizes && !f->part;
  };
  return h;
}

Hypothesis as_if(const Operator& op, std::string does, Change change) {
  const auto answer = [&op, change](const cases::HostCall& call) -> std::optional<judge::Expectation> {
    std::vector<Value> arguments = call.arguments;
    if (!change(arguments)) return std::nullopt;
    return judge::expect(op, arguments, Budget(cheap));
  };
  Hypothesis h = answering(op, std::move(does), answer);
  h.admits = [answer](const cases::HostCall& call) {
    const auto e = call.expected.answer.outcome == Outcome::invalid ? answer(call) : std::nullopt;
    return e && e->answer.outcome == Outcome::ok;
  };
  return h;
}

Hypothesis as_if_each(const Operator& op, std::string does, const std::function<bool(Tensor&)>& change) {
  return as_if(op, std::move(does), [n = inputs_of(op), change](std::vector<Value>& all) {
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) any |= change_tensors(all[i], change);
    return any;
  });
}

judge::Expectation with_results(judge::Expectation e, std::vector<Tensor> outs) {
  for (std::size_t k = 0; k < outs.size() && k < e.answer.unrounded.size(); ++k) {
    Buffer<Real>& values = e.answer.unrounded[k].values;
    const Array<Bits> parts = read_parts(outs[k]);
    if (values.size() == parts.data.size())
      std::ranges::transform(parts.data, values.begin(), info(outs[k].dtype).real_of);
  }
  e.outs = std::move(outs);
  return e;
}

std::optional<judge::Expectation> converted(const cases::HostCall& call, std::vector<Tensor> outs) {
  const std::vector<Tensor>& right = call.expected.outs;
  for (std::size_t k = 0; k < outs.size(); ++k) {
    if (outs[k].sizes != right[k].sizes) return std::nullopt;
    if (outs[k].dtype != right[k].dtype) outs[k] = cast(outs[k], right[k].dtype);
    outs[k] = arranged(outs[k], right[k].dim_order);
  }
  return with_results(call.expected, std::move(outs));
}

Hypothesis spoiling(const Operator& op, std::string does, Spoil spoil) {
  return answering(op, std::move(does), [spoil](const cases::HostCall& call) -> std::optional<judge::Expectation> {
    std::vector<Tensor> outs = call.expected.outs;
    bool any = false;
    for (Tensor& out : outs) any |= spoil(out, call);
    return any ? std::optional(with_results(call.expected, std::move(outs))) : std::nullopt;
  });
}

judge::Expectation with_elements(const cases::HostCall& call, const Tensor& from,
                                 const std::function<Int(const Dims& i)>& at) {
  const Array<Element> elements = read<Element>(from);
  std::vector<Tensor> outs = call.expected.outs;
  Array<Element> now(outs[0].sizes);
  Int flat = 0;
  for (const Dims& i : indices(outs[0].sizes)) {
    const Int source = at(i);
    if (source < 0 || source >= elements.count()) return not_known(call.expected);
    now[flat++] = elements[source];
  }
  write(now, outs[0]);
  return with_results(call.expected, std::move(outs));
}

Tensor taken(const Tensor& t, int dim, Int size, const std::function<Int(Int i)>& source) {
  const Array<Element> old = read<Element>(t);
  Dims sizes = t.sizes;
  sizes[dim] = size;
  Array<Element> now(sizes);
  Int flat = 0;
  for (const Dims& i : indices(sizes)) {
    Dims from = i;
    from[dim] = source(i[dim]);
    now[flat++] = from[dim] < 0 ? Element{} : old(from);
  }
  Tensor result = make(t.dtype, sizes, t.dim_order);
  write(now, result);
  return result;
}

std::vector<Int> parameters_of(const Operator& op, std::span<const Value> arguments, const Tensor& quantized,
                               Int number) {
  const auto axis = argument_of(op, "axis");
  const Int* along = axis ? std::get_if<Int>(&arguments[*axis]) : nullptr;
  if (along && quantized.rank() == 0) return {};
  const int dim = along ? static_cast<int>(wrap_dim(*along, quantized.rank())) : 0;
  const Int row = std::max<Int>(1, number > 0 ? quantized.count() / number : 0);
  if (along ? quantized.sizes[dim] != number : row * number != quantized.count()) return {};
  std::vector<Int> positions;
  Int flat = 0;
  for (const Dims& i : indices(quantized.sizes)) {
    positions.push_back(along ? i[dim] : flat / row);
    ++flat;
  }
  return positions;
}

std::optional<Tensor> result_of(std::string_view op, std::vector<Value> arguments) {
  arguments.emplace_back();
  if (call(*find_operator(op), arguments, Budget(cheap)).outcome != Outcome::ok) return std::nullopt;
  return std::get<Tensor>(std::move(arguments.back()));
}

bool is_named(const Operator& op, std::string_view part) { return op.name.find(part) != op.name.npos; }

std::optional<std::size_t> argument_of(const Operator& op, std::string_view name) {
  const auto at = std::ranges::find(op.arguments, name, &SchemaArgument::name);
  return at == op.arguments.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - op.arguments.begin()));
}

std::size_t inputs_of(const Operator& op) { return op.arguments.size() - op.outs(); }

bool holds_tensors(const SchemaArgument& a) { return a.type.starts_with("Tensor"); }

std::size_t first_tensor(const Operator& op) {
  std::size_t i = 0;
  while (i < inputs_of(op) && !holds_tensors(op.arguments[i])) ++i;
  return i;
}

bool is_remainder(const Operator& op) { return is_named(op, "::remainder.") || is_named(op, "::mod."); }

bool rounds_quotients(const Operator& op) {
  return is_remainder(op) || is_named(op, "::floor_divide.") || is_named(op, "::floordiv.") ||
         std::ranges::find(op.arguments, "rounding_mode", &SchemaArgument::name) != op.arguments.end();
}

bool is_dimension(const SchemaArgument& a) {
  return a.name.starts_with("dim") || a.name.ends_with("_dim") || a.name == "axis";
}
bool names_dtype(const SchemaArgument& a) {
  return a.type.starts_with("ScalarType") || a.type.starts_with("MemoryFormat") || a.type.starts_with("Layout") ||
         a.type.starts_with("Device");
}

bool change_tensors(Value& value, const std::function<bool(Tensor&)>& change) {
  bool any = false;
  if (Tensor* t = std::get_if<Tensor>(&value)) any = change(*t);
  if (Tensors* list = std::get_if<Tensors>(&value))
    for (auto& t : *list)
      if (t) any |= change(*t);
  return any;
}

bool cut_rows(std::vector<Value>& arguments, std::size_t dim,
              const std::function<std::pair<Int, Int>(Int size)>& kept) {
  Tensor* self = std::get_if<Tensor>(&arguments[0]);
  const Ints* list = std::get_if<Ints>(&arguments[dim]);
  const Int* one = list && list->size() == 1 ? list->data() : std::get_if<Int>(&arguments[dim]);
  if (!self || !one || self->rank() == 0 || *one < -self->rank() || *one >= self->rank()) return false;
  const Int at = wrap_dim(*one, self->rank()), n = self->sizes[static_cast<int>(at)];
  const auto [begin, end] = kept(n);
  if (begin == 0 && end == n) return false;
  auto part = result_of("aten::slice_copy.Tensor_out", {*self, at, begin, end, Int{1}});
  if (part) *self = std::move(*part);
  return part.has_value();
}

std::optional<families::Rows> rows_of(const Operator& op, const cases::HostCall& call) {
  const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
  const auto at = argument_of(op, "dim");
  if (!self || self->rank() == 0 || self->count() == 0) return std::nullopt;
  Dims dims;  // none: all
  const Value given = at ? call.arguments[*at] : Value();
  if (const Ints* list = std::get_if<Ints>(&given))
    for (const Int d : *list) dims.push_back(wrap_dim(d, self->rank()));
  if (const Int* d = std::get_if<Int>(&given)) dims.push_back(wrap_dim(*d, self->rank()));
  if (dims.size() == 0) dims = Dims::counting(self->rank());
  return families::rows(self->sizes, dims);
}

}  // namespace assay::defects

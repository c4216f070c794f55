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
  // Whether the kernel gives results of other sizes, or a part of them, is not known: both must be wrong.
  const auto differs = [&op, answer](const cases::HostCall& call) {
    const auto e = call.valid() ? answer(call) : std::nullopt;
    if (!e || e->answer.outcome != Outcome::ok) return e && is_known(*e);
    if (!is_wrong(op, call.expected, e->outs)) return false;
    const auto part = have_sizes_of(e->outs, call.expected.outs) ? std::nullopt : cropped(op, *e, call.expected);
    return !part || is_wrong(op, call.expected, part->outs);
  };
  const auto explains = [&op, answer](const Answered& a) {
    const auto e = a.call.valid() ? answer(a.call) : std::nullopt;
    if (!e || !is_known(*e)) return false;
    const judge::Expectation& right = a.call.expected;
    if (e->answer.outcome == Outcome::ok && !a.refused() && have_sizes_of(a.outs, right.outs) &&
        !have_sizes_of(e->outs, right.outs)) {
      const auto part = cropped(op, *e, right);
      return part && !is_wrong(op, *part, a.outs);
    }
    if (e->answer.outcome != Outcome::ok || is_larger(e->outs, right.outs)) return a.refused();
    // Where several answers are right, the reference decides from the arguments alone.
    const auto are_foretold = [&] { return !op.choice.empty() && are_same(a.outs, e->outs); };
    return !a.refused() && !a.outs.empty() && (are_foretold() || !is_wrong(op, *e, a.outs));
  };
  Hypothesis h{std::move(does), About::arguments, false, false, differs, explains};
  // A kernel need not check the other call, and what it writes behind results that are smaller is not known.
  h.is_open = [&op, answer](const cases::HostCall& call) {
    const auto e = call.valid() ? answer(call) : std::nullopt;
    if (!e || e->answer.outcome != Outcome::ok) return e.has_value();
    return !have_sizes_of(e->outs, call.expected.outs) && !cropped(op, *e, call.expected);
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

bool is_dimension(const SchemaArgument& a) {
  return a.name.starts_with("dim") || a.name.ends_with("_dim") || a.name == "axis";
}
bool names_dtype(const SchemaArgument& a) {
  return a.type.starts_with("ScalarType") || a.type.starts_with("MemoryFormat") || a.type.starts_with("Layout") ||
         a.type.starts_with("Device");
}

bool is_whole(DType dtype) { return is_integer(dtype) || dtype == DType::boolean; }
bool is_same_number(Real a, Real b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
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

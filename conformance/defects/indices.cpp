#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/cases/mutation.h"
#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"

// The mistakes of operators that return or take places of elements.
namespace assay::defects {
namespace {

// The result that holds the place of an element in each row: the only one of argmax, else the second.
std::size_t places_result(const Operator& op) { return op.outs() - 1; }

// For each row: the places of the chosen elements in the right answer and, if `got` is given, in the testee's.
struct Chosen {
  Array<Real> self;
  families::Rows rows;
  Array<Int> right;

  Real number(Int row, Int place) const {
    return self[rows.source[static_cast<std::size_t>(row * rows.length + place)]];
  }
  // The last element of the row that is equal to the chosen one.
  Int last(Int row) const {
    const Real chosen = number(row, right[row]);
    Int place = rows.length - 1;
    while (!(number(row, place) == chosen || (std::isnan(chosen) && std::isnan(number(row, place))))) --place;
    return place;
  }
};
std::optional<Chosen> chosen_in(const Operator& op, const cases::HostCall& call) {
  if (!call.valid() || call.expected.outs.size() != op.outs()) return std::nullopt;
  const Tensor& places = call.expected.outs[places_result(op)];
  auto rows = rows_of(op, call);
  const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
  if (!rows || info(self->dtype).kind >= Kind::complex || rows->number != places.count()) return std::nullopt;
  Array<Real> numbers = read<Real>(*self);
  // Of larger integers, different ones are equal as Real.
  if (is_whole(self->dtype) && std::ranges::any_of(numbers.data, [](Real x) { return std::fabs(x) >= 0x1p53; }))
    return std::nullopt;
  return Chosen{std::move(numbers), std::move(*rows), read<Int>(places)};
}

void last_of_equal(const Operator& op, std::vector<Hypothesis>& found) {
  found.push_back(answering(op, "return the last of equal elements",
                            [&op](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const auto chosen = chosen_in(op, call);
                              if (!chosen) return std::nullopt;
                              Array<Int> now = chosen->right;
                              for (Int r = 0; r < now.count(); ++r) now[r] = chosen->last(r);
                              std::vector<Tensor> outs = call.expected.outs;
                              write(now, outs[places_result(op)]);
                              return with_results(call.expected, std::move(outs));
                            }));
  const auto differs = [&op](const cases::HostCall& call) {
    const auto chosen = chosen_in(op, call);
    if (!chosen) return false;
    for (Int r = 0; r < chosen->right.count(); ++r)
      if (chosen->last(r) != chosen->right[r]) return true;
    return false;
  };
  const auto explains = [&op](const Answered& a) {
    const auto chosen = a.refused() ? std::nullopt : chosen_in(op, a.call);
    if (!chosen || a.outs.size() != op.outs()) return false;
    const Tensor &want = a.call.expected.outs.back(), &out = a.outs.back();
    if (out.sizes != want.sizes || out.dtype != want.dtype) return false;
    const Array<Int> got = read<Int>(out);
    bool any = false;
    for (Int r = 0; r < got.count(); ++r) {
      if (got[r] == chosen->right[r]) continue;
      if (got[r] < 0 || got[r] >= chosen->rows.length) return false;
      const Real x = chosen->number(r, got[r]), y = chosen->number(r, chosen->right[r]);
      if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
      any = true;
    }
    return any;
  };
  found.push_back(
      {"return another one than the first of equal elements", About::results, false, true, differs, explains});
}

// A kernel that orders NaN as an infinity, and returns it at that place.
void ordered_nan(const Operator& op, std::vector<Hypothesis>& found) {
  for (const Real end : {-std::numeric_limits<Real>::infinity(), std::numeric_limits<Real>::infinity()}) {
    const auto without_nan = [end](const Tensor& t) {
      Tensor now = t;
      Array<Real> all = read<Real>(t);
      for (Real& x : all.data) x = std::isnan(x) ? end : x;
      write(all, now);
      return now;
    };
    const auto differs = [](const cases::HostCall& call) {
      const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
      return call.valid() && is_floating(self->dtype) &&
             std::ranges::any_of(read<Real>(*self).data, [](Real x) { return std::isnan(x); });
    };
    const auto explains = [&op, differs, without_nan](const Answered& a) {
      if (!differs(a.call) || a.refused() || a.outs.size() != 2 || a.outs[0].dtype != a.call.expected.outs[0].dtype)
        return false;
      std::vector<Value> arguments = a.call.arguments;
      arguments[0] = without_nan(std::get<Tensor>(arguments[0]));
      const judge::Expectation e = judge::expect(op, arguments, Budget(cheap));
      if (e.answer.outcome != Outcome::ok) return false;
      const judge::Reaction ordered{Outcome::ok, {}, {}, {without_nan(a.outs[0]), a.outs[1]}};
      return !verdict::is_failure(judge::judge(op, e.arguments, e, ordered).verdict);
    };
    found.push_back(
        {fmt::format("order NaN as {}infinity", end < 0 ? "-" : ""), About::arguments, false, true, differs, explains});
  }
}

// A kernel that adds to an element only what the last of equal indices adds.
std::optional<Tensor> scattered_once(std::span<const Value> a, Int* dim) {
  const Tensor &self = std::get<Tensor>(a[0]), &index = std::get<Tensor>(a[2]), &src = std::get<Tensor>(a[3]);
  if (info(self.dtype).kind >= Kind::complex) return std::nullopt;
  Tensor out = self;
  const Int along = wrap_dim(*dim, self.rank());
  const auto add = [&]<class T>(T) {
    const Array<T> old = read<T>(self), more = read<T>(src);
    const Array<Int> places = read<Int>(index);
    Array<T> now = old;
    for (const Dims& i : indices(places.sizes)) {
      Dims at = self.rank() == 0 ? Dims() : i;
      if (self.rank() > 0) at[along] = places(i);
      now(at) = old(at) + more(i);
    }
    write(now, out);
  };
  if (is_whole(self.dtype))
    add(Int{});
  else
    add(Real{});
  return out;
}
std::optional<Tensor> put_once(std::span<const Value> a) {
  const bool* accumulates = std::get_if<bool>(&a[3]);
  if (!accumulates || !*accumulates) return std::nullopt;
  const auto old = result_of("aten::index.Tensor_out", {a[0], a[1]});
  const auto sum = old ? result_of("aten::add.out", {*old, a[2], Int{1}}) : std::nullopt;
  return sum ? result_of("aten::index_put.out", {a[0], a[1], *sum, false}) : std::nullopt;
}

// The results of a sort whose rows have elements that are equal.
struct Sorted {
  Array<Real> values;
  Array<Int> places;
  families::Rows rows;
  std::size_t at(Int row, Int k) const { return static_cast<std::size_t>(row * rows.length + k); }
  Int element(Int row, Int k) const { return rows.source[at(row, k)]; }
  bool are_equal(Int row, Int k, Int l) const { return is_same_key(values[element(row, k)], values[element(row, l)]); }
  static bool is_same_key(Real a, Real b) { return a == b || (std::isnan(a) && std::isnan(b)); }
};
std::optional<Sorted> sorted_in(const Operator& op, const cases::HostCall& call) {
  const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
  if (!call.valid() || !self || info(self->dtype).kind >= Kind::complex || call.expected.outs.size() != 2)
    return std::nullopt;
  auto rows = rows_of(op, call);
  if (!rows) return std::nullopt;
  return Sorted{read<Real>(call.expected.outs[0]), read<Int>(call.expected.outs[1]), std::move(*rows)};
}

// A sort that does not keep equal elements in order: it reverses them, or gives them any order.
void order_of_equal(const Operator& op, std::vector<Hypothesis>& found) {
  found.push_back(answering(op, "reverse the order of equal elements",
                            [&op](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const auto sorted = sorted_in(op, call);
                              if (!sorted) return std::nullopt;
                              Array<Int> now = sorted->places;
                              for (Int r = 0; r < sorted->rows.number; ++r)
                                for (Int k = 0, end = 0; k < sorted->rows.length; k = end) {
                                  for (end = k + 1; end < sorted->rows.length && sorted->are_equal(r, k, end);) ++end;
                                  for (Int l = k; l < end; ++l)
                                    now[sorted->element(r, l)] = sorted->places[sorted->element(r, end - 1 - (l - k))];
                                }
                              std::vector<Tensor> outs = call.expected.outs;
                              write(now, outs[1]);
                              return with_results(call.expected, std::move(outs));
                            }));
  const auto stable = argument_of(op, "stable");
  const auto differs = [&op, stable = *stable](const cases::HostCall& call) {
    const bool* is_stable = std::get_if<bool>(&call.arguments[stable]);
    const auto sorted = is_stable && *is_stable ? sorted_in(op, call) : std::nullopt;
    for (Int r = 0; sorted && r < sorted->rows.number; ++r)
      for (Int k = 0; k + 1 < sorted->rows.length; ++k)
        if (sorted->are_equal(r, k, k + 1)) return true;
    return false;
  };
  const auto explains = [differs, &op, stable = *stable](const Answered& a) {
    if (!differs(a.call) || a.refused() || a.outs.size() != 2) return false;
    std::vector<Value> arguments = a.call.arguments;
    arguments[stable] = false;
    const judge::Expectation e = judge::expect(op, arguments, Budget(cheap));
    const judge::Reaction answer{Outcome::ok, {}, {}, a.outs};
    return e.answer.outcome == Outcome::ok && !verdict::is_failure(judge::judge(op, e.arguments, e, answer).verdict);
  };
  found.push_back({"do not keep equal elements in order", About::computation, false, true, differs, explains});
}

// A median that is the upper of the two middle elements: that of the row with one more element at its end.
void upper_median(const Operator& op, std::vector<Hypothesis>& found) {
  const auto dim = argument_of(op, "dim");
  found.push_back(as_if(op, "return the upper of the two middle elements", [dim](std::vector<Value>& all) {
    Tensor* self = std::get_if<Tensor>(&all[0]);
    const Int* given = dim ? std::get_if<Int>(&all[*dim]) : nullptr;
    if (!self || self->rank() == 0 || info(self->dtype).kind >= Kind::complex || (dim && !given)) return false;
    if (!dim) *self = cases::resized(*self, Dims{self->count()});
    const Int at = !dim ? 0 : wrap_dim(*given, self->rank());
    if (at < 0 || at >= self->rank() || self->sizes[static_cast<int>(at)] % 2 != 0) return false;
    const Value most = is_floating(self->dtype) ? Value(std::numeric_limits<double>::infinity())
                                                : Value(static_cast<Int>(largest_integer(self->dtype)));
    Ints pads(static_cast<std::size_t>(2 * (self->rank() - at)), 0);
    pads.back() = 1;
    auto padded = result_of("aten::constant_pad_nd.out", {*self, pads, most});
    if (padded) *self = std::move(*padded);
    return padded.has_value();
  }));
}

// A masked scatter that reads the source at the place of each element.
void source_in_place(const Operator& op, std::vector<Hypothesis>& found) {
  found.push_back(answering(op, "read source at the place of the element, not one after the other",
                            [](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const Tensor *self = std::get_if<Tensor>(&call.arguments[0]),
                                           *mask = std::get_if<Tensor>(&call.arguments[1]),
                                           *source = std::get_if<Tensor>(&call.arguments[2]);
                              std::vector<Tensor> outs = call.expected.outs;
                              if (!self || !mask || !source) return std::nullopt;
                              const Array<Int> chosen = read<Int>(*mask);
                              const Array<Element> from = read<Element>(*source);
                              const Array<Element> old = read<Element>(*self);
                              Array<Element> now(outs[0].sizes);
                              Int flat = 0;
                              for (const Dims& i : indices(outs[0].sizes)) {
                                const bool is_chosen = families::broadcast(chosen, outs[0].sizes).at(i, flat) != 0;
                                now[flat] = is_chosen && flat < from.count()
                                                ? from[flat]
                                                : families::broadcast(old, outs[0].sizes).at(i, flat);
                                ++flat;
                              }
                              write(now, outs[0]);
                              return with_results(call.expected, std::move(outs));
                            }));
}

// A descending order of integers that is the ascending order of their negated numbers, which wrap.
void negated_order(const Operator& op, std::size_t descending, std::vector<Hypothesis>& found) {
  found.push_back(
      answering(op, "negate integers to sort them in descending order, where the least one wraps",
                [&op, descending](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                  const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
                  const bool* is_descending = std::get_if<bool>(&call.arguments[descending]);
                  if (!call.valid() || !self || !is_integer(self->dtype) || !is_descending || !*is_descending)
                    return std::nullopt;
                  std::vector<Value> arguments = call.arguments;
                  auto negated = result_of("aten::neg.out", {*self});
                  if (!negated) return std::nullopt;
                  arguments[0] = std::move(*negated), arguments[descending] = false;
                  judge::Expectation e = judge::expect(op, arguments, Budget(cheap));
                  if (e.answer.outcome != Outcome::ok) return e;
                  auto values = result_of("aten::neg.out", {e.outs[0]});
                  if (!values) return std::nullopt;
                  std::vector<Tensor> outs = call.expected.outs;
                  outs[0] = arranged(*values, outs[0].dim_order), outs[1] = arranged(e.outs[1], outs[1].dim_order);
                  return with_results(call.expected, std::move(outs));
                }));
}

// A gather that takes the sizes of index for those of self, all of them or those of dimensions other than dim. Where it
// reads behind self, its answer is not known.
void with_strides_of_index(const Operator& op, bool takes_all, std::vector<Hypothesis>& found) {
  found.push_back(answering(
      op, "use the sizes of index as those of self",
      [takes_all](const cases::HostCall& call) -> std::optional<judge::Expectation> {
        const Tensor *self = std::get_if<Tensor>(&call.arguments[0]), *index = std::get_if<Tensor>(&call.arguments[2]);
        const Int* dim = std::get_if<Int>(&call.arguments[1]);
        if (!call.valid() || !self || !index || !dim || self->rank() == 0) return std::nullopt;
        const Int along = wrap_dim(*dim, self->rank());
        const Array<Int> places = read<Int>(*index);
        return with_elements(call, *self, [&](const Dims& i) {
          Int at = 0;
          for (int d = 0; d < i.size(); ++d)
            at = at * (d == along && !takes_all ? *self : *index).sizes[d] + (d == along ? places(i) : i[d]);
          return at;
        });
      }));
}

// A shuffle between channels and pixels that counts the channel last, not first, among the parts of a channel's number.
void order_of_channels(const Operator& op, std::vector<Hypothesis>& found) {
  const bool shuffles = is_named(op, "::pixel_shuffle.");
  found.push_back(answering(op,
                            shuffles ? "split the channels in the order (r, r, C) in place of (C, r, r)"
                                     : "join the channels in the order (r, r, C) in place of (C, r, r)",
                            [shuffles](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
                              const Int* factor = std::get_if<Int>(&call.arguments[1]);
                              if (!call.valid() || !self || !factor || self->rank() < 3 || self->count() == 0)
                                return std::nullopt;
                              const int rank = self->rank();
                              const Int r = *factor,
                                        channels = (shuffles ? call.expected.outs[0] : *self).sizes[rank - 3];
                              return with_elements(call, *self, [&](const Dims& i) {
                                Dims at = i;
                                if (shuffles) {
                                  at[rank - 3] = (i[rank - 2] % r * r + i[rank - 1] % r) * channels + i[rank - 3];
                                  at[rank - 2] /= r, at[rank - 1] /= r;
                                } else {
                                  const Int part = i[rank - 3] / channels;
                                  at[rank - 3] %= channels;
                                  at[rank - 2] = at[rank - 2] * r + part / r,
                                            at[rank - 1] = at[rank - 1] * r + part % r;
                                }
                                Int flat = 0;
                                for (int d = 0; d < rank; ++d) flat = flat * self->sizes[d] + at[d];
                                return flat;
                              });
                            }));
}

}  // namespace

std::vector<Hypothesis> mistakes_of_indices(const Operator& op) {
  std::vector<Hypothesis> found;
  if (is_named(op, "::argm") || is_named(op, "::max.dim") || is_named(op, "::min.dim")) last_of_equal(op, found);
  if (op.choice == "topk" && op.outs() == 2) ordered_nan(op, found);
  if (argument_of(op, "stable") && op.outs() == 2) order_of_equal(op, found);
  if (const auto descending = argument_of(op, "descending"); descending && op.outs() == 2)
    negated_order(op, *descending, found);
  if (is_named(op, "::median.")) upper_median(op, found);
  if (is_named(op, "::gather."))
    for (const bool takes_all : {true, false}) with_strides_of_index(op, takes_all, found);
  if (is_named(op, "::pixel_shuffle.") || is_named(op, "::pixel_unshuffle.")) order_of_channels(op, found);
  if (is_named(op, "::masked_scatter.")) source_in_place(op, found);
  const bool scatters = is_named(op, "::scatter_add."), puts = is_named(op, "::index_put");
  if (scatters || puts)
    found.push_back(answering(op, "overwrite what equal indices add in place of adding all of it",
                              [scatters](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                                std::vector<Value> a = call.arguments;
                                Int* dim = scatters ? std::get_if<Int>(&a[1]) : nullptr;
                                const auto now = scatters ? scattered_once(a, dim) : put_once(a);
                                std::vector<Tensor> outs = call.expected.outs;
                                if (!now || outs.size() != 1 || now->dtype != outs[0].dtype) return std::nullopt;
                                outs[0] = arranged(*now, outs[0].dim_order);
                                return with_results(call.expected, std::move(outs));
                              }));
  return found;
}

}  // namespace assay::defects

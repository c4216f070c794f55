#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "conformance/cases/mutation.h"
#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"
#include "conformance/features/features.h"
#include "conformance/text/literal.h"

// The mistakes of kernels that ignore an argument, exchange arguments, or read tensors in another order than theirs.
namespace assay::defects {
namespace {

// Constants that kernels have for eps: those of frameworks, and the unit roundoff of float32.
constexpr auto usual_eps = std::to_array<double>({1e-5, 1e-6, 1e-8, 1e-12, 6.1e-5, 0x1p-23});

// Values that say nothing: the default, None, and, where there is no default, what leaves a result as it is.
std::vector<Value> neutral_values(const SchemaArgument& a) {
  std::vector<Value> all;
  if (!a.default_text.empty()) all.push_back(text::read_literal(a.default_text, a.type, a.length));
  if (a.type.ends_with('?')) all.emplace_back();
  if (a.type == "bool") all.insert(all.end(), {Value(false), Value(true)});
  if (a.name == "padding_idx") return {Value(Int{-1})};
  if (cases::takes_number(a.type) && !is_dimension(a) && (a.default_text.empty() || a.default_text == "None")) {
    const bool real = a.type.starts_with("float");
    for (const Int n : {0, 1}) all.push_back(real ? Value(static_cast<double>(n)) : Value(n));
  }
  return all;
}

void ignored(const Operator& op, std::size_t i, std::vector<Hypothesis>& found) {
  const SchemaArgument& a = op.arguments[i];
  constexpr auto operands = std::to_array<std::string_view>({"self", "other", "a", "b", "exponent", "input"});
  const bool is_operand = std::ranges::find(operands, a.name) != operands.end();
  if (is_operand || names_dtype(a) || a.name == "stable" || a.type == "Tensor" || a.type == "Tensor[]") return;
  if (a.type.ends_with('?') && cases::takes_number(a.type) && !is_dimension(a))
    for (const Int n : {0, 1})
      found.push_back(
          as_if(op, fmt::format("use {} for {} where it is None", n, a.name), [i, n](std::vector<Value>& all) {
            if (!std::holds_alternative<std::monostate>(all[i])) return false;
            all[i] = n;
            return true;
          }));
  for (const Value& neutral : neutral_values(a))
    found.push_back(as_if(op, concat("ignore ", a.name), [i, neutral](std::vector<Value>& all) {
      if (is_same(all[i], neutral)) return false;
      all[i] = neutral;
      return true;
    }));
  if (!is_dimension(a) && a.name != "index")
    found.push_back(as_if(op, concat("use the opposite of ", a.name),
                          [i, is_correction = a.name == "correction"](std::vector<Value>& all) {
                            if (is_correction && std::holds_alternative<std::monostate>(all[i])) all[i] = Int{1};
                            if (Int* n = std::get_if<Int>(&all[i]))
                              return *n != std::numeric_limits<Int>::min() && changed_to(all[i], -*n);
                            if (double* x = std::get_if<double>(&all[i])) return changed_to(all[i], -*x);
                            const Ints* list = std::get_if<Ints>(&all[i]);
                            if (!list || std::ranges::count(*list, std::numeric_limits<Int>::min()) > 0) return false;
                            Ints now = *list;
                            for (Int& n : now) n = -n;
                            return changed_to(all[i], std::move(now));
                          }));
  if (a.type.starts_with("int[") && a.default_text == "[]" && !is_dimension(a))
    found.push_back(as_if(op, fmt::format("use 1 for each {} where it is empty", a.name), [i](std::vector<Value>& all) {
      const Ints* list = std::get_if<Ints>(&all[i]);
      return list && list->empty() && changed_to(all[i], Ints{1});
    }));
  if (a.name == "eps")
    for (const double x : usual_eps)
      found.push_back(as_if(op, fmt::format("use {:g} in place of eps", x),
                            [i, x](std::vector<Value>& all) { return changed_to(all[i], x); }));
  if (a.name == "approximate")
    for (const std::string_view word : {"none", "tanh"})
      found.push_back(as_if(op, fmt::format("use \"{}\" for every {}", word, a.name),
                            [i, word](std::vector<Value>& all) { return changed_to(all[i], std::string(word)); }));
  if (a.type.ends_with("[]") || a.type.ends_with("[]?"))
    for (const Int n : {0, 1})
      found.push_back(as_if(op, concat("ignore ", a.name), [i, n](std::vector<Value>& all) {
        Ints* list = std::get_if<Ints>(&all[i]);
        return list && changed_to(all[i], Ints(list->size(), n));
      }));
}

// Changes each number of a dimension argument: a number, or those of a list.
void each_dimension(const Operator& op, std::string does, std::size_t i, std::function<Int(Int dim, Int rank)> f,
                    std::vector<Hypothesis>& found) {
  found.push_back(as_if(op, std::move(does), [i, f](std::vector<Value>& all) {
    const auto rank = [&] {
      for (const Value& v : all) {
        if (const Tensor* t = std::get_if<Tensor>(&v)) return static_cast<Int>(t->rank());
        if (const Tensors* list = std::get_if<Tensors>(&v); list && !list->empty() && (*list)[0])
          return static_cast<Int>((*list)[0]->rank());
      }
      return Int{0};
    }();
    if (const Int* n = std::get_if<Int>(&all[i])) return changed_to(all[i], f(*n, rank));
    const Ints* list = std::get_if<Ints>(&all[i]);
    if (!list) return false;
    Ints now = *list;
    std::ranges::transform(now, now.begin(), [&](Int n) { return f(n, rank); });
    return changed_to(all[i], std::move(now));
  }));
}

// A position along a dimension, as an index or a start, which counts from the end if it is negative.
void positions(const Operator& op, std::size_t i, std::vector<Hypothesis>& found) {
  const SchemaArgument& a = op.arguments[i];
  if (a.type.starts_with("int") && (a.name == "index" || a.name == "start" || a.name == "end"))
    each_dimension(
        op, concat("take a negative ", a.name, " as 0"), i, [](Int n, Int) { return std::max<Int>(n, 0); }, found);
  if (a.type.starts_with("int") && (a.name == "index" || a.name == "start" || a.name == "end"))
    for (const Int step : {-1, 1})
      each_dimension(
          op, concat("take a negative ", a.name, step < 0 ? " as one less" : " as one more"), i,
          [step](Int n, Int) { return n < 0 ? n + step : n; }, found);
}

void wrong_dimensions(const Operator& op, std::size_t i, std::vector<Hypothesis>& found) {
  positions(op, i, found);
  if (!is_dimension(op.arguments[i])) return;
  const bool is_list = op.arguments[i].type.starts_with("int[");
  const std::string wrapped = concat("wrap a negative ", op.arguments[i].name, " wrongly");
  each_dimension(
      op, wrapped, i, [](Int d, Int rank) { return d < 0 ? std::max<Int>(0, d + rank - 1) : d; }, found);
  each_dimension(
      op, wrapped, i, [](Int d, Int rank) { return d < 0 ? std::max<Int>(0, d + rank) : d; }, found);
  each_dimension(
      op, wrapped, i, [](Int d, Int) { return d < 0 ? -d : d; }, found);
  each_dimension(
      op, wrapped, i, [](Int d, Int) { return d < 0 ? -1 - d : d; }, found);
  each_dimension(
      op, wrapped, i, [](Int d, Int) { return d < 0 ? 0 : d; }, found);
  each_dimension(
      op, concat("take a negative ", op.arguments[i].name, " as the last dimension"), i,
      [](Int d, Int) { return d < 0 ? -1 : d; }, found);
  if (is_list) return;
  each_dimension(
      op, concat("use the last dimension in place of ", op.arguments[i].name), i,
      [](Int d, Int rank) { return d == rank - 1 ? d : -1; }, found);
  each_dimension(
      op, concat("use the first dimension in place of ", op.arguments[i].name), i,
      [](Int d, Int rank) { return d == -rank ? d : 0; }, found);
}

void lists(const Operator& op, std::size_t i, std::vector<Hypothesis>& found) {
  if (op.arguments[i].type.find("[]") == std::string_view::npos || holds_tensors(op.arguments[i])) return;
  // Strides that are not given are the sizes of the windows.
  const auto instead = op.arguments[i].name == "stride" ? argument_of(op, "kernel_size") : std::nullopt;
  const auto each = [&](std::string does, auto change) {
    found.push_back(as_if(op, std::move(does), [i, instead, change](std::vector<Value>& all) {
      if (const Ints* list = std::get_if<Ints>(&all[i])) {
        if (list->empty() && instead) list = &std::get<Ints>(all[*instead]);
        const Ints now = list->size() > 1 ? change(*list) : *list;
        return now != *list && changed_to(all[i], now);
      }
      const Doubles* list = std::get_if<Doubles>(&all[i]);
      return list && list->size() > 1 && changed_to(all[i], change(*list));
    }));
  };
  each(concat("use the first of ", op.arguments[i].name, " for all dimensions"), [](auto list) {
    const auto first = list.front();
    std::ranges::fill(list, first);
    return list;
  });
  each(concat("use the last of ", op.arguments[i].name, " for all dimensions"), [](auto list) {
    const auto last = list.back();
    std::ranges::fill(list, last);
    return list;
  });
  each(concat("take ", op.arguments[i].name, " in reverse order"), [](auto list) {
    std::ranges::reverse(list);
    return list;
  });
  for (const Int neutral : {0, 1}) {
    each(concat("ignore the last of ", op.arguments[i].name), [neutral](auto list) {
      list.back() = static_cast<typename decltype(list)::value_type>(neutral);
      return list;
    });
    each(concat("ignore the first of ", op.arguments[i].name), [neutral](auto list) {
      list.front() = static_cast<typename decltype(list)::value_type>(neutral);
      return list;
    });
  }
  if (op.arguments[i].name == "pad") {
    found.push_back(as_if(op, "apply pad to the first dimensions in place of the last", [i](std::vector<Value>& all) {
      const Tensor* self = std::get_if<Tensor>(&all[0]);
      const Ints* list = std::get_if<Ints>(&all[i]);
      if (!self || !list) return false;
      const std::size_t rank = static_cast<std::size_t>(self->rank()), pairs = list->size() / 2;
      if (pairs > rank) return false;
      Ints now(2 * rank, 0);  // in the order of the last dimension first
      for (std::size_t k = 0; k < pairs; ++k)
        std::copy_n(list->begin() + static_cast<std::ptrdiff_t>(2 * k), 2,
                    now.end() - static_cast<std::ptrdiff_t>(2 * (k + 1)));
      return changed_to(all[i], std::move(now));
    }));
    each("exchange what pad adds before and behind", [](auto list) {
      for (std::size_t k = 0; k + 1 < list.size(); k += 2) std::swap(list[k], list[k + 1]);
      return list;
    });
  }
  each(concat("use only the first of ", op.arguments[i].name), [](auto list) {
    list.resize(1);
    return list;
  });
  each(concat("use only the last of ", op.arguments[i].name), [](auto list) {
    list.erase(list.begin(), list.end() - 1);
    return list;
  });
}

// Whether the operator is a sum or difference of two tensors, one of them multiplied by alpha.
bool has_alpha(const Operator& op) {
  return argument_of(op, "alpha") && holds_tensors(op.arguments[0]) && holds_tensors(op.arguments[1]) &&
         op.arguments[1].name == "other";
}

void exchanged(const Operator& op, std::size_t i, std::size_t j, std::vector<Hypothesis>& found) {
  const auto bare = [&](std::size_t k) {
    const std::string_view type = op.arguments[k].type;
    return type.ends_with('?') ? type.substr(0, type.size() - 1) : type;
  };
  if (bare(i) != bare(j) || names_dtype(op.arguments[i]) || bare(i) == "Tensor[]") return;
  if (i == 0 && j == 1 && has_alpha(op) && !is_named(op, "sub")) return;  // multiplies the other operand by alpha
  found.push_back(as_if(op, concat("exchange ", op.arguments[i].name, " and ", op.arguments[j].name),
                        [i, j](std::vector<Value>& all) {
                          if (is_same(all[i], all[j])) return false;
                          std::swap(all[i], all[j]);
                          return true;
                        }));
}

// A sum or difference that multiplies the wrong operand by alpha.
void other_alpha(const Operator& op, std::vector<Hypothesis>& found) {
  if (is_named(op, "::rsub.Scalar"))  // alpha * other - self
    found.push_back(as_if(
        op, "multiply other in place of self by alpha", [alpha = *argument_of(op, "alpha")](std::vector<Value>& all) {
          const auto other = number_in(all[1]), factor = number_in(all[alpha]);
          if (!other || !factor || real(*factor) == 1) return false;
          const Real product = real(*other) * real(*factor);
          const bool is_whole = std::holds_alternative<Int>(all[1]) && std::holds_alternative<Int>(all[alpha]);
          all[1] = is_whole && std::fabs(product) < 0x1p62 ? Value(static_cast<Int>(product))
                                                           : Value(static_cast<double>(product));
          all[alpha] = Int{1};
          return true;
        }));
  if (!has_alpha(op)) return;
  const bool is_difference = is_named(op, "sub");
  found.push_back(answering(op,
                            fmt::format("multiply {} in place of {} by alpha", op.arguments[is_named(op, "rsub")].name,
                                        op.arguments[!is_named(op, "rsub")].name),
                            [&op, is_difference](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              std::vector<Value> arguments = call.arguments;
                              std::swap(arguments[0], arguments[1]);
                              judge::Expectation e = judge::expect(op, arguments, Budget(cheap));
                              if (e.answer.outcome != Outcome::ok) return std::nullopt;
                              if (!is_difference) return e;
                              std::vector<Tensor> outs = e.outs;
                              if (is_integer(outs[0].dtype)) {
                                Array<Int> all = read<Int>(outs[0]);
                                for (Int& n : all.data)
                                  n = wrap_to(outs[0].dtype, static_cast<Int>(-static_cast<Bits>(n)));
                                write(all, outs[0]);
                              } else {
                                replace(
                                    outs[0], [](Real, DType) { return true; }, [](Real x) { return -x; });
                              }
                              return with_results(std::move(e), std::move(outs));
                            }));
}

void numbers_of_channels(const Operator& op, const std::vector<std::size_t>& from, std::vector<Hypothesis>& found) {
  std::vector<std::string> names;
  for (const std::size_t i : from) names.emplace_back(op.arguments[i].name);
  const std::string which = features::listed(names);
  const auto each = [&](std::string does, std::function<Int(Int channel, Int channels, Int groups)> source) {
    const auto groups = argument_of(op, "groups"), group = argument_of(op, "group");
    const auto at = groups ? groups : group;
    found.push_back(as_if(op, std::move(does), [from, at, source](std::vector<Value>& all) {
      const Int* n = at ? std::get_if<Int>(&all[*at]) : nullptr;
      bool any = false;
      for (const std::size_t i : from)
        any |= change_tensors(all[i], [&](Tensor& t) {
          if (t.rank() != 1 || t.count() < 2 || (n && (*n < 1 || t.count() % *n != 0))) return false;
          Tensor now = taken(t, 0, t.count(), [&](Int k) { return source(k, t.count(), n ? *n : 1); });
          if (now.bytes == t.bytes) return false;
          t = std::move(now);
          return true;
        });
      return any;
    }));
  };
  each(concat("use the first number of ", which, " for all channels"), [](Int, Int, Int) { return 0; });
  if (!argument_of(op, "groups") && !argument_of(op, "group")) return;
  each(concat("use ", which, " of the first group for every group"),
       [](Int k, Int channels, Int groups) { return k % (channels / groups); });
  each(concat("use the number of the group, not of the channel, in ", which),
       [](Int k, Int channels, Int groups) { return k / (channels / groups); });
}

// Tensors with a number for each channel, from which a kernel reads another channel's number: from one or from all.
void parameters(const Operator& op, std::vector<Hypothesis>& found) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < inputs_of(op); ++i)
    if (op.arguments[i].type.starts_with("Tensor?") || op.arguments[i].name.starts_with("running_")) all.push_back(i);
  for (const std::size_t i : all) numbers_of_channels(op, {i}, found);
  if (all.size() > 1) numbers_of_channels(op, all, found);
}

void each_tensor_of(const Operator& op, std::string does, std::size_t i, std::function<bool(Tensor&)> change,
                    std::vector<Hypothesis>& found) {
  found.push_back(
      as_if(op, std::move(does), [i, change](std::vector<Value>& all) { return change_tensors(all[i], change); }));
}

bool read_as(Tensor& t, const Dims& order) {
  if (t.dim_order == order || t.rank() != order.size()) return false;
  t.dim_order = order;
  return true;
}

bool as_contiguous(Tensor& t) { return read_as(t, Dims::counting(t.rank())); }

bool truncated(Tensor& t) {
  return is_floating(t.dtype) && replace(
                                     t, [](Real x, DType) { return std::isfinite(x) && x != std::trunc(x); },
                                     [](Real x) { return std::trunc(x); });
}

// A kernel that takes element k modulo the number of elements in place of the one that broadcasts to result k.
bool unbroadcast(Value& value, const Dims& sizes) {
  Tensor* t = std::get_if<Tensor>(&value);
  const int lead = t ? sizes.size() - t->rank() : 0;
  if (!t || t->count() == 0 || t->count() >= count(sizes) || lead < 0) return false;
  for (int d = 0; d < t->rank(); ++d)
    if (t->sizes[d] != 1 && t->sizes[d] != sizes[lead + d]) return false;
  *t = cases::resized(*t, sizes);
  return true;
}

void unbroadcast(const Operator& op, std::string does, std::size_t first, std::size_t end,
                 std::vector<Hypothesis>& found) {
  found.push_back(answering(op, std::move(does),
                            [&op, first, end](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              if (call.expected.outs.empty()) return std::nullopt;
                              std::vector<Value> arguments = call.arguments;
                              bool any = false;
                              for (std::size_t i = first; i < end; ++i)
                                any |= unbroadcast(arguments[i], call.expected.outs[0].sizes);
                              if (!any) return std::nullopt;
                              judge::Expectation e = judge::expect(op, arguments, Budget(cheap));
                              return e.answer.outcome == Outcome::ok ? std::optional(std::move(e)) : std::nullopt;
                            }));
}

void layouts(const Operator& op, std::size_t i, std::vector<Hypothesis>& found) {
  if (!holds_tensors(op.arguments[i])) return;
  each_tensor_of(op, concat("read ", op.arguments[i].name, " as if it were contiguous"), i, as_contiguous, found);
  if (first_tensor(op) < i)
    found.push_back(
        as_if(op, concat("read ", op.arguments[i].name, " in the dim order of ", op.arguments[first_tensor(op)].name),
              [i, first = first_tensor(op)](std::vector<Value>& all) {
                const Tensor* from = std::get_if<Tensor>(&all[first]);
                return from && change_tensors(all[i], [&](Tensor& t) { return read_as(t, from->dim_order); });
              }));
  unbroadcast(op, concat("read ", op.arguments[i].name, " in order in place of broadcasting it"), i, i + 1, found);
  each_tensor_of(
      op, concat("transpose ", op.arguments[i].name), i,
      [](Tensor& t) {
        const int n = t.rank();
        if (n < 2 || t.sizes[n - 1] != t.sizes[n - 2] || t.sizes[n - 1] < 2) return false;
        Dims order = t.dim_order;
        for (Int& d : order) d = d == n - 1 ? n - 2 : d == n - 2 ? n - 1 : d;
        t.dim_order = order;
        return true;
      },
      found);
  each_tensor_of(
      op, concat("use the first item of ", op.arguments[i].name, " for the whole batch"), i,
      [](Tensor& t) {
        if (t.rank() < 3 || t.sizes[0] < 2 || t.count() == 0) return false;
        Array<Element> all = read<Element>(t);
        const Int item = all.count() / t.sizes[0];
        for (Int k = item; k < all.count(); ++k) all[k] = all[k % item];
        write(all, t);
        return true;
      },
      found);
}

// A kernel that knows nothing of dim orders, of inputs and of outs.
void without_layouts(const Operator& op, std::vector<Hypothesis>& found) {
  found.push_back(as_if_each(op, "read inputs as if they were contiguous", as_contiguous));
  found.push_back(answering(op, "treat every tensor as contiguous",
                            [&op](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              std::vector<Value> arguments = call.arguments;
                              bool any = false;
                              for (Value& v : arguments) any |= change_tensors(v, as_contiguous);
                              if (!any) return std::nullopt;
                              judge::Expectation e = judge::expect(op, arguments, Budget(cheap));
                              const std::vector<Tensor>& right = call.expected.outs;
                              if (e.answer.outcome != Outcome::ok || e.outs.size() != right.size()) return std::nullopt;
                              std::vector<Tensor> outs = e.outs;
                              for (std::size_t k = 0; k < outs.size(); ++k) {
                                if (outs[k].sizes != right[k].sizes || outs[k].dtype != right[k].dtype)
                                  return std::nullopt;
                                outs[k].dim_order = right[k].dim_order;
                              }
                              return with_results(call.expected, std::move(outs));
                            }));
}

void contents(const Operator& op, std::size_t i, std::vector<Hypothesis>& found) {
  if (!holds_tensors(op.arguments[i])) return;
  const bool holds_indices = op.arguments[i].name.starts_with("ind");
  if (holds_indices)
    for (Real (*now)(Real) : {+[](Real) { return Real{0}; }, +[](Real x) { return -x; }})
      found.push_back(
          as_if(op, concat("do not wrap negative ", op.arguments[i].name), [i, now](std::vector<Value>& all) {
            return change_tensors(all[i], [&](Tensor& t) {
              return is_integer(t.dtype) && replace(
                                                t, [](Real x, DType) { return x < 0; }, now);
            });
          }));
  if (holds_indices && op.arguments[i].type.ends_with("[]"))
    found.push_back(as_if(op, concat("wrap negative ", op.arguments[i].name, " of the first dimension alone"),
                          [i](std::vector<Value>& all) {
                            Tensors* list = std::get_if<Tensors>(&all[i]);
                            bool any = false;
                            for (std::size_t k = 1; list && k < list->size(); ++k)
                              if (auto& t = (*list)[k]; t && is_integer(t->dtype))
                                any |= replace(
                                    *t, [](Real x, DType) { return x < 0; }, [](Real) { return Real{0}; });
                            return any;
                          }));
  each_tensor_of(op, concat("truncate ", op.arguments[i].name, " to integers"), i, truncated, found);
  if (op.arguments[i].name == "bias")
    each_tensor_of(
        op, "subtract bias in place of adding it", i,
        [](Tensor& t) {
          return is_floating(t.dtype) && replace(
                                             t, [](Real x, DType) { return x != 0; }, [](Real x) { return -x; });
        },
        found);
  if (op.arguments[i].name == "bias")
    each_tensor_of(
        op, "add bias twice", i,
        [](Tensor& t) {
          return !is_complex(t.dtype) && replace(
                                             t, [](Real x, DType) { return x != 0; }, [](Real x) { return 2 * x; });
        },
        found);
}

}  // namespace

bool is_same(const Value& a, const Value& b) {
  if (a.index() != b.index()) {
    const auto x = number_in(a), y = number_in(b);
    return x && y && real(*x) == real(*y);
  }
  return std::visit(
      [&]<class T>(const T& v) {
        if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Tensors> || std::is_same_v<T, std::monostate>)
          return std::is_same_v<T, std::monostate>;
        else
          return v == std::get<T>(b);
      },
      a);
}

std::optional<Value> default_of(const SchemaArgument& a) {
  if (is_dimension(a) || names_dtype(a)) return std::nullopt;
  if (a.type.ends_with('?')) return Value();
  if (a.type == "int[]" && (a.name == "stride" || a.name == "dilation")) return Int{1};
  if (a.type == "int[]" && (a.name == "padding" || a.name == "output_padding")) return Int{0};
  if (a.default_text.empty() || a.type.ends_with("[]")) return std::nullopt;
  return text::read_literal(a.default_text, a.type, a.length);
}

std::vector<Hypothesis> mistakes_of_arguments(const Operator& op) {
  std::vector<Hypothesis> found;
  const std::size_t inputs = inputs_of(op);
  for (std::size_t i = 0; i < inputs; ++i) ignored(op, i, found);
  for (std::size_t i = 0; i < inputs; ++i) wrong_dimensions(op, i, found);
  for (std::size_t i = 0; i < inputs; ++i) lists(op, i, found);
  other_alpha(op, found);
  for (std::size_t i = 0; i < inputs; ++i)
    for (std::size_t j = i + 1; j < inputs; ++j) exchanged(op, i, j, found);
  parameters(op, found);
  for (std::size_t i = 0; i < inputs; ++i) layouts(op, i, found);
  unbroadcast(op, "read inputs in order in place of broadcasting them", 0, inputs, found);
  without_layouts(op, found);
  for (std::size_t i = 0; i < inputs; ++i) contents(op, i, found);
  found.push_back(as_if_each(op, "truncate inputs to integers", truncated));
  return found;
}

}  // namespace assay::defects

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "conformance/cases/mutation.h"
#include "conformance/cases/tensors.h"
#include "conformance/defects/foretold.h"
#include "conformance/text/literal.h"
#include "reference/families.h"
#include "reference/fault.h"
#include "reference/words/dtypes.h"

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

class Mistakes {
 public:
  explicit Mistakes(const Operator& op) : op_(op), inputs_(op.arguments.size() - op.outs()) {}

  std::vector<Hypothesis> all() && {
    for (std::size_t i = 0; i < inputs_; ++i) ignored(i);
    for (std::size_t i = 0; i < inputs_; ++i) dimensions(i);
    for (std::size_t i = 0; i < inputs_; ++i) lists(i);
    other_alpha();
    for (std::size_t i = 0; i < inputs_; ++i)
      for (std::size_t j = i + 1; j < inputs_; ++j) exchanged(i, j);
    parameters();
    for (std::size_t i = 0; i < inputs_; ++i) layouts(i);
    unbroadcast("read inputs in order in place of broadcasting them", 0, inputs_);
    without_layouts();
    for (std::size_t i = 0; i < inputs_; ++i) contents(i);
    all_tensors("truncate inputs to integers", truncated);
    groups();
    windows();
    rests();
    variances();
    zero_padding();
    concatenation();
    factors();
    chosen_by_products();
    inverse_permutation();
    const std::size_t plain = found_.size();
    dtypes();
    results();
    formulas();
    for (std::size_t k = plain; k < found_.size(); ++k) found_[k].about = About::computation;
    return std::move(found_);
  }

 private:
  std::string_view name(std::size_t i) const { return op_.arguments[i].name; }
  bool is_tensor(std::size_t i) const { return op_.arguments[i].type.starts_with("Tensor"); }

  void add(std::string does, Change change) { found_.push_back(as_if(op_, std::move(does), std::move(change))); }

  void ignored(std::size_t i) {
    const SchemaArgument& a = op_.arguments[i];
    constexpr auto operands = std::to_array<std::string_view>({"self", "other", "a", "b", "exponent", "input"});
    const bool is_operand = std::ranges::find(operands, a.name) != operands.end();
    if (is_operand || names_dtype(a) || a.name == "stable" || a.type == "Tensor" || a.type == "Tensor[]") return;
    if (a.type.ends_with('?') && cases::takes_number(a.type) && !is_dimension(a))
      for (const Int n : {0, 1})
        add(fmt::format("use {} for {} where it is None", n, a.name), [i, n](std::vector<Value>& all) {
          if (!std::holds_alternative<std::monostate>(all[i])) return false;
          all[i] = n;
          return true;
        });
    for (const Value& neutral : neutral_values(a))
      add(concat("ignore ", a.name), [i, neutral](std::vector<Value>& all) {
        if (is_same(all[i], neutral)) return false;
        all[i] = neutral;
        return true;
      });
    if (!is_dimension(a) && a.name != "index")
      add(concat("use the opposite of ", a.name), [i, is_correction = a.name == "correction"](std::vector<Value>& all) {
        if (is_correction && std::holds_alternative<std::monostate>(all[i])) all[i] = Int{1};
        if (Int* n = std::get_if<Int>(&all[i])) return *n != std::numeric_limits<Int>::min() && changed_to(all[i], -*n);
        if (double* x = std::get_if<double>(&all[i])) return changed_to(all[i], -*x);
        const Ints* list = std::get_if<Ints>(&all[i]);
        if (!list || std::ranges::count(*list, std::numeric_limits<Int>::min()) > 0) return false;
        Ints now = *list;
        for (Int& n : now) n = -n;
        return changed_to(all[i], std::move(now));
      });
    if (a.type.starts_with("int[") && a.default_text == "[]" && !is_dimension(a))
      add(fmt::format("use 1 for each {} where it is empty", a.name), [i](std::vector<Value>& all) {
        const Ints* list = std::get_if<Ints>(&all[i]);
        return list && list->empty() && changed_to(all[i], Ints{1});
      });
    if (a.name == "eps")
      for (const double x : usual_eps)
        add(fmt::format("use {:g} in place of eps", x),
            [i, x](std::vector<Value>& all) { return changed_to(all[i], x); });
    if (a.name == "approximate")
      for (const std::string_view word : {"none", "tanh"})
        add(fmt::format("use \"{}\" for every {}", word, a.name),
            [i, word](std::vector<Value>& all) { return changed_to(all[i], std::string(word)); });
    if (a.type.ends_with("[]") || a.type.ends_with("[]?"))
      for (const Int n : {0, 1})
        add(concat("ignore ", a.name), [i, n](std::vector<Value>& all) {
          Ints* list = std::get_if<Ints>(&all[i]);
          return list && changed_to(all[i], Ints(list->size(), n));
        });
  }

  // Changes each number of a dimension argument: a number, or those of a list.
  void each_dimension(std::string does, std::size_t i, std::function<Int(Int dim, Int rank)> f) {
    add(std::move(does), [i, f](std::vector<Value>& all) {
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
    });
  }

  // A position along a dimension, as an index or a start, which counts from the end if it is negative.
  void positions(std::size_t i) {
    const SchemaArgument& a = op_.arguments[i];
    if (a.type.starts_with("int") && (a.name == "index" || a.name == "start" || a.name == "end"))
      each_dimension(concat("take a negative ", a.name, " as 0"), i, [](Int n, Int) { return std::max<Int>(n, 0); });
    if (a.type.starts_with("int") && (a.name == "index" || a.name == "start" || a.name == "end"))
      for (const Int step : {-1, 1})
        each_dimension(concat("take a negative ", a.name, step < 0 ? " as one less" : " as one more"), i,
                       [step](Int n, Int) { return n < 0 ? n + step : n; });
  }

  void dimensions(std::size_t i) {
    positions(i);
    if (!is_dimension(op_.arguments[i])) return;
    const bool is_list = op_.arguments[i].type.starts_with("int[");
    const std::string wrapped = concat("wrap a negative ", name(i), " wrongly");
    each_dimension(wrapped, i, [](Int d, Int rank) { return d < 0 ? std::max<Int>(0, d + rank - 1) : d; });
    each_dimension(wrapped, i, [](Int d, Int rank) { return d < 0 ? std::max<Int>(0, d + rank) : d; });
    each_dimension(wrapped, i, [](Int d, Int) { return d < 0 ? -d : d; });
    each_dimension(wrapped, i, [](Int d, Int) { return d < 0 ? -1 - d : d; });
    each_dimension(wrapped, i, [](Int d, Int) { return d < 0 ? 0 : d; });
    each_dimension(concat("take a negative ", name(i), " as the last dimension"), i,
                   [](Int d, Int) { return d < 0 ? -1 : d; });
    if (is_list) return;
    each_dimension(concat("use the last dimension in place of ", name(i)), i,
                   [](Int d, Int rank) { return d == rank - 1 ? d : -1; });
    each_dimension(concat("use the first dimension in place of ", name(i)), i,
                   [](Int d, Int rank) { return d == -rank ? d : 0; });
  }

  void lists(std::size_t i) {
    if (op_.arguments[i].type.find("[]") == std::string_view::npos || is_tensor(i)) return;
    // Strides that are not given are the sizes of the windows.
    const auto instead = name(i) == "stride" ? argument_of(op_, "kernel_size") : std::nullopt;
    const auto each = [&](std::string does, auto change) {
      add(std::move(does), [i, instead, change](std::vector<Value>& all) {
        if (const Ints* list = std::get_if<Ints>(&all[i])) {
          if (list->empty() && instead) list = &std::get<Ints>(all[*instead]);
          const Ints now = list->size() > 1 ? change(*list) : *list;
          return now != *list && changed_to(all[i], now);
        }
        const Doubles* list = std::get_if<Doubles>(&all[i]);
        return list && list->size() > 1 && changed_to(all[i], change(*list));
      });
    };
    each(concat("use the first of ", name(i), " for all dimensions"), [](auto list) {
      const auto first = list.front();
      std::ranges::fill(list, first);
      return list;
    });
    each(concat("use the last of ", name(i), " for all dimensions"), [](auto list) {
      const auto last = list.back();
      std::ranges::fill(list, last);
      return list;
    });
    each(concat("take ", name(i), " in reverse order"), [](auto list) {
      std::ranges::reverse(list);
      return list;
    });
    for (const Int neutral : {0, 1}) {
      each(concat("ignore the last of ", name(i)), [neutral](auto list) {
        list.back() = static_cast<typename decltype(list)::value_type>(neutral);
        return list;
      });
      each(concat("ignore the first of ", name(i)), [neutral](auto list) {
        list.front() = static_cast<typename decltype(list)::value_type>(neutral);
        return list;
      });
    }
    if (name(i) == "pad") {
      add("apply pad to the first dimensions in place of the last", [i](std::vector<Value>& all) {
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
      });
      each("exchange what pad adds before and behind", [](auto list) {
        for (std::size_t k = 0; k + 1 < list.size(); k += 2) std::swap(list[k], list[k + 1]);
        return list;
      });
    }
    each(concat("use only the first of ", name(i)), [](auto list) {
      list.resize(1);
      return list;
    });
    each(concat("use only the last of ", name(i)), [](auto list) {
      list.erase(list.begin(), list.end() - 1);
      return list;
    });
  }

  void exchanged(std::size_t i, std::size_t j) {
    const auto bare = [&](std::size_t k) {
      const std::string_view type = op_.arguments[k].type;
      return type.ends_with('?') ? type.substr(0, type.size() - 1) : type;
    };
    if (bare(i) != bare(j) || names_dtype(op_.arguments[i]) || bare(i) == "Tensor[]") return;
    if (i == 0 && j == 1 && has_alpha() && !is_named("sub")) return;  // multiplies the other operand by alpha
    add(concat("exchange ", name(i), " and ", name(j)), [i, j](std::vector<Value>& all) {
      if (is_same(all[i], all[j])) return false;
      std::swap(all[i], all[j]);
      return true;
    });
  }

  // Whether the operator is a sum or difference of two tensors, one of them multiplied by alpha.
  bool has_alpha() const { return argument_of(op_, "alpha") && is_tensor(0) && is_tensor(1) && name(1) == "other"; }
  // A sum or difference that multiplies the wrong operand by alpha.
  void other_alpha() {
    if (is_named("::rsub.Scalar"))  // alpha * other - self
      add("multiply other in place of self by alpha", [alpha = *argument_of(op_, "alpha")](std::vector<Value>& all) {
        const auto other = number_in(all[1]), factor = number_in(all[alpha]);
        if (!other || !factor || real(*factor) == 1) return false;
        const Real product = real(*other) * real(*factor);
        const bool is_whole = std::holds_alternative<Int>(all[1]) && std::holds_alternative<Int>(all[alpha]);
        all[1] = is_whole && std::fabs(product) < 0x1p62 ? Value(static_cast<Int>(product))
                                                         : Value(static_cast<double>(product));
        all[alpha] = Int{1};
        return true;
      });
    if (!has_alpha()) return;
    const bool is_difference = is_named("sub");
    found_.push_back(answering(
        op_, fmt::format("multiply {} in place of {} by alpha", name(is_named("rsub")), name(!is_named("rsub"))),
        [op = &op_, is_difference](const cases::HostCall& call) -> std::optional<judge::Expectation> {
          std::vector<Value> arguments = call.arguments;
          std::swap(arguments[0], arguments[1]);
          judge::Expectation e = judge::expect(*op, arguments, Budget(cheap));
          if (e.answer.outcome != Outcome::ok) return std::nullopt;
          if (!is_difference) return e;
          std::vector<Tensor> outs = e.outs;
          if (is_integer(outs[0].dtype)) {
            Array<Int> all = read<Int>(outs[0]);
            for (Int& n : all.data) n = wrap_to(outs[0].dtype, static_cast<Int>(-static_cast<Bits>(n)));
            write(all, outs[0]);
          } else {
            replace(
                outs[0], [](Real, DType) { return true; }, [](Real x) { return -x; });
          }
          return with_results(std::move(e), std::move(outs));
        }));
  }

  // Tensors with a number for each channel, from which a kernel reads another channel's number: from one or from all.
  void parameters() {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < inputs_; ++i)
      if (op_.arguments[i].type.starts_with("Tensor?") || name(i).starts_with("running_")) all.push_back(i);
    for (const std::size_t i : all) numbers_of_channels({i});
    if (all.size() > 1) numbers_of_channels(all);
  }

  void numbers_of_channels(const std::vector<std::size_t>& from) {
    std::vector<std::string> names;
    for (const std::size_t i : from) names.emplace_back(name(i));
    const std::string which = features::listed(names);
    const auto each = [&](std::string does, std::function<Int(Int channel, Int channels, Int groups)> source) {
      const auto groups = argument_of(op_, "groups"), group = argument_of(op_, "group");
      const auto at = groups ? groups : group;
      add(std::move(does), [from, at, source](std::vector<Value>& all) {
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
      });
    };
    each(concat("use the first number of ", which, " for all channels"), [](Int, Int, Int) { return 0; });
    if (!argument_of(op_, "groups") && !argument_of(op_, "group")) return;
    each(concat("use ", which, " of the first group for every group"),
         [](Int k, Int channels, Int groups) { return k % (channels / groups); });
    each(concat("use the number of the group, not of the channel, in ", which),
         [](Int k, Int channels, Int groups) { return k / (channels / groups); });
  }

  // Calls change(tensor) for the argument's tensors. Returns whether any changed.
  static bool change_tensors(Value& value, const std::function<bool(Tensor&)>& change) {
    bool any = false;
    if (Tensor* t = std::get_if<Tensor>(&value)) any = change(*t);
    if (Tensors* list = std::get_if<Tensors>(&value))
      for (auto& t : *list)
        if (t) any |= change(*t);
    return any;
  }
  void each_tensor_of(std::string does, std::size_t i, std::function<bool(Tensor&)> change) {
    add(std::move(does), [i, change](std::vector<Value>& all) { return change_tensors(all[i], change); });
  }
  void all_tensors(std::string does, std::function<bool(Tensor&)> change) {
    add(std::move(does), [n = inputs_, change](std::vector<Value>& all) {
      bool any = false;
      for (std::size_t i = 0; i < n; ++i) any |= change_tensors(all[i], change);
      return any;
    });
  }

  static bool read_as(Tensor& t, const Dims& order) {
    if (t.dim_order == order || t.rank() != order.size()) return false;
    t.dim_order = order;
    return true;
  }
  static bool as_contiguous(Tensor& t) { return read_as(t, Dims::counting(t.rank())); }

  static bool truncated(Tensor& t) {
    return is_floating(t.dtype) && replace(
                                       t, [](Real x, DType) { return std::isfinite(x) && x != std::trunc(x); },
                                       [](Real x) { return std::trunc(x); });
  }

  // A normalisation with given statistics.
  void variances() {
    const auto variance = argument_of(op_, "running_var"), eps = argument_of(op_, "eps");
    if (!variance || !eps) return;
    add("divide by the variance in place of its root", [variance = *variance, eps = *eps](std::vector<Value>& all) {
      Tensor* t = std::get_if<Tensor>(&all[variance]);
      const double* e = std::get_if<double>(&all[eps]);
      if (!t || !e || !is_floating(t->dtype)) return false;
      Array<Real> numbers = read<Real>(*t);
      for (Real& x : numbers.data) x = (x + *e) * (x + *e) - *e;
      write(numbers, *t);
      return true;
    });
  }

  // A reduction that reads whole vectors of each row, and not the rest behind them.
  void rests() {
    constexpr auto names = std::to_array<std::string_view>(
        {"::sum.", "::amax.", "::amin.", "::prod.", "::any.", "::all.", "::argmax.", "::argmin.", "::max.", "::min."});
    const auto dim = argument_of(op_, "dim");
    if (!dim || !is_tensor(0) || std::ranges::none_of(names, [&](std::string_view n) { return is_named(n); })) return;
    for (const auto& [width, in_short_rows] : {std::pair(4, true), {4, false}, {8, true}, {8, false}, {16, false}})
      add(fmt::format("leave out the elements behind the last multiple of {} in each row", width),
          [dim = *dim, width = Int{width}, in_short_rows = in_short_rows](std::vector<Value>& all) {
            return cut_rows(all, dim, [=](Int n) {
              return std::pair(Int{0}, n < width && !in_short_rows ? n : n / width * width);
            });
          });
  }

  // A maximum over windows of an input that is padded with zeros.
  void zero_padding() {
    const auto padding = argument_of(op_, "padding");
    if (!padding || !is_named("max_pool")) return;
    found_.push_back(answering(
        op_, "pad with 0 in place of the least number",
        [op = &op_, at = *padding](const cases::HostCall& call) -> std::optional<judge::Expectation> {
          const Ints* pads = std::get_if<Ints>(&call.arguments[at]);
          if (!pads || pads->empty() || std::ranges::count(*pads, 0) == std::ssize(*pads)) return std::nullopt;
          const Int down = pads->front(), right = pads->back();
          auto padded =
              result_of("aten::constant_pad_nd.out", {call.arguments[0], Ints{right, right, down, down}, Int{0}});
          if (!padded) return std::nullopt;
          std::vector<Value> all = call.arguments;
          all[0] = std::move(*padded), all[at] = Ints{0, 0};
          judge::Expectation e = judge::expect(*op, all, Budget(cheap));
          if (e.answer.outcome != Outcome::ok || e.outs[0].sizes != call.expected.outs[0].sizes) return std::nullopt;
          std::vector<Tensor> outs = call.expected.outs;
          outs[0] = e.outs[0];
          return with_results(call.expected, std::move(outs));
        }));
  }

  void layouts(std::size_t i) {
    if (!is_tensor(i)) return;
    each_tensor_of(concat("read ", name(i), " as if it were contiguous"), i, as_contiguous);
    if (first_tensor() < i)
      add(concat("read ", name(i), " in the dim order of ", name(first_tensor())),
          [i, first = first_tensor()](std::vector<Value>& all) {
            const Tensor* from = std::get_if<Tensor>(&all[first]);
            return from && change_tensors(all[i], [&](Tensor& t) { return read_as(t, from->dim_order); });
          });
    unbroadcast(concat("read ", name(i), " in order in place of broadcasting it"), i, i + 1);
    each_tensor_of(concat("transpose ", name(i)), i, [](Tensor& t) {
      const int n = t.rank();
      if (n < 2 || t.sizes[n - 1] != t.sizes[n - 2] || t.sizes[n - 1] < 2) return false;
      Dims order = t.dim_order;
      for (Int& d : order) d = d == n - 1 ? n - 2 : d == n - 2 ? n - 1 : d;
      t.dim_order = order;
      return true;
    });
    each_tensor_of(concat("use the first item of ", name(i), " for the whole batch"), i, [](Tensor& t) {
      if (t.rank() < 3 || t.sizes[0] < 2 || t.count() == 0) return false;
      Array<Element> all = read<Element>(t);
      const Int item = all.count() / t.sizes[0];
      for (Int k = item; k < all.count(); ++k) all[k] = all[k % item];
      write(all, t);
      return true;
    });
  }

  // A kernel that takes element k modulo the number of elements in place of the one that broadcasts to result k.
  static bool unbroadcast(Value& value, const Dims& sizes) {
    Tensor* t = std::get_if<Tensor>(&value);
    const int lead = t ? sizes.size() - t->rank() : 0;
    if (!t || t->count() == 0 || t->count() >= count(sizes) || lead < 0) return false;
    for (int d = 0; d < t->rank(); ++d)
      if (t->sizes[d] != 1 && t->sizes[d] != sizes[lead + d]) return false;
    *t = cases::resized(*t, sizes);
    return true;
  }
  void unbroadcast(std::string does, std::size_t first, std::size_t end) {
    found_.push_back(
        answering(op_, std::move(does),
                  [op = &op_, first, end](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                    if (call.expected.outs.empty()) return std::nullopt;
                    std::vector<Value> arguments = call.arguments;
                    bool any = false;
                    for (std::size_t i = first; i < end; ++i)
                      any |= unbroadcast(arguments[i], call.expected.outs[0].sizes);
                    if (!any) return std::nullopt;
                    judge::Expectation e = judge::expect(*op, arguments, Budget(cheap));
                    return e.answer.outcome == Outcome::ok ? std::optional(std::move(e)) : std::nullopt;
                  }));
  }

  // A kernel that knows nothing of dim orders, of inputs and of outs.
  void without_layouts() {
    all_tensors("read inputs as if they were contiguous", as_contiguous);
    found_.push_back(answering(op_, "treat every tensor as contiguous",
                               [op = &op_](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                                 std::vector<Value> arguments = call.arguments;
                                 bool any = false;
                                 for (Value& v : arguments) any |= change_tensors(v, as_contiguous);
                                 if (!any) return std::nullopt;
                                 judge::Expectation e = judge::expect(*op, arguments, Budget(cheap));
                                 const std::vector<Tensor>& right = call.expected.outs;
                                 if (e.answer.outcome != Outcome::ok || e.outs.size() != right.size())
                                   return std::nullopt;
                                 std::vector<Tensor> outs = e.outs;
                                 for (std::size_t k = 0; k < outs.size(); ++k) {
                                   if (outs[k].sizes != right[k].sizes || outs[k].dtype != right[k].dtype)
                                     return std::nullopt;
                                   outs[k].dim_order = right[k].dim_order;
                                 }
                                 return with_results(call.expected, std::move(outs));
                               }));
  }

  std::size_t first_tensor() const {
    std::size_t i = 0;
    while (i < inputs_ && !is_tensor(i)) ++i;
    return i;
  }

  // Replaces the numbers for which `is` holds. Returns whether there were any.
  static bool replace(Tensor& t, bool (*is)(Real, DType), Real (*now)(Real)) {
    if (info(t.dtype).is_opaque()) return false;
    Array<Bits> parts = read_parts(t);
    const DTypeInfo& d = info(info(t.dtype).part);
    bool any = false;
    for (Bits& b : parts.data)
      if (const Real x = d.real_of(b); is(x, info(t.dtype).part)) b = d.bits_of_real(now(x)), any = true;
    if (any) write_parts(parts, t);
    return any;
  }

  void contents(std::size_t i) {
    if (!is_tensor(i)) return;
    const bool holds_indices = name(i).starts_with("ind");
    if (holds_indices)
      for (Real (*now)(Real) : {+[](Real) { return Real{0}; }, +[](Real x) { return -x; }})
        add(concat("do not wrap negative ", name(i)), [i, now](std::vector<Value>& all) {
          return change_tensors(all[i], [&](Tensor& t) {
            return is_integer(t.dtype) && replace(
                                              t, [](Real x, DType) { return x < 0; }, now);
          });
        });
    each_tensor_of(concat("truncate ", name(i), " to integers"), i, truncated);
    if (name(i) == "bias")
      each_tensor_of("subtract bias in place of adding it", i, [](Tensor& t) {
        return is_floating(t.dtype) && replace(
                                           t, [](Real x, DType) { return x != 0; }, [](Real x) { return -x; });
      });
    if (name(i) == "bias")
      each_tensor_of("add bias twice", i, [](Tensor& t) {
        return !is_complex(t.dtype) && replace(
                                           t, [](Real x, DType) { return x != 0; }, [](Real x) { return 2 * x; });
      });
  }

  // A convolution whose groups all read the channels of the first.
  void groups() {
    const auto at = std::ranges::find(op_.arguments, "groups", &SchemaArgument::name);
    if (at == op_.arguments.end() || !is_tensor(0)) return;
    const auto groups = static_cast<std::size_t>(at - op_.arguments.begin());
    add("ignore groups", [groups](std::vector<Value>& all) {
      Tensor* input = std::get_if<Tensor>(&all[0]);
      const Int* n = std::get_if<Int>(&all[groups]);
      if (!input || !n || *n < 2 || input->rank() < 2) return false;
      std::vector<Value> slice{*input, Int{1}, Int{0}, input->sizes[1] / *n, Int{1}, {}};
      if (call(*find_operator("aten::slice_copy.Tensor_out"), slice).outcome != Outcome::ok) return false;
      all[0] = std::get<Tensor>(slice.back()), all[groups] = Int{1};
      return true;
    });
  }

  // A concatenation that leaves out tensors without elements, though these have sizes.
  void concatenation() {
    const auto dim = argument_of(op_, "dim");
    if (op_.arguments[0].type != "Tensor[]" || op_.name.find("::cat.") == std::string_view::npos || !dim) return;
    add("do not count the sizes of tensors without elements", [dim = *dim](std::vector<Value>& all) {
      const Int* d = std::get_if<Int>(&all[dim]);
      return d && change_tensors(all[0], [&](Tensor& t) {
               const Int at = *d < 0 ? *d + t.rank() : *d;
               if (t.count() > 0 || at < 0 || at >= t.rank() || t.sizes[static_cast<int>(at)] == 0) return false;
               Dims sizes = t.sizes;
               sizes[static_cast<int>(at)] = 0;
               t = make(t.dtype, sizes, t.dim_order);
               return true;
             });
    });
  }

  // A mean over windows that counts places outside of the input, even those outside of its padding.
  void windows() {
    const auto kernel = argument_of(op_, "kernel_size"), divisor = argument_of(op_, "divisor_override");
    if (!kernel || !divisor) return;
    add("divide by the size of the whole window where it reaches beyond the padded input",
        [kernel = *kernel, divisor = *divisor](std::vector<Value>& all) {
          if (!std::holds_alternative<std::monostate>(all[divisor])) return false;
          Int size = 1;
          for (const Int n : std::get<Ints>(all[kernel])) size *= n;
          all[divisor] = size;
          return true;
        });
  }

  // Results of another call as those of a call, converted to the right dtypes; none if their sizes are not right.
  static std::optional<judge::Expectation> converted(const cases::HostCall& call, std::vector<Tensor> outs) {
    const std::vector<Tensor>& right = call.expected.outs;
    for (std::size_t k = 0; k < outs.size(); ++k) {
      if (outs[k].sizes != right[k].sizes) return std::nullopt;
      if (outs[k].dtype != right[k].dtype) outs[k] = cast(outs[k], right[k].dtype);
      outs[k] = arranged(outs[k], right[k].dim_order);
    }
    return with_results(call.expected, std::move(outs));
  }

  // A kernel that computes another call, and converts its results to the dtypes of the right ones.
  void add_converted(std::string does, Change change) {
    found_.push_back(answering(
        op_, std::move(does),
        [op = &op_, n = inputs_, change](const cases::HostCall& call_made) -> std::optional<judge::Expectation> {
          std::vector<Value> arguments = call_made.arguments;
          if (!call_made.valid() || !change(arguments)) return std::nullopt;
          std::fill(arguments.begin() + static_cast<std::ptrdiff_t>(n), arguments.end(), Value());
          if (call(*op, arguments, Budget(cheap)).outcome != Outcome::ok) return std::nullopt;
          std::vector<Tensor> outs;
          for (std::size_t k = n; k < arguments.size(); ++k) {
            const Tensor* result = std::get_if<Tensor>(&arguments[k]);
            if (!result) return std::nullopt;
            outs.push_back(*result);
          }
          return converted(call_made, std::move(outs));
        }));
  }

  // A kernel that converts all tensors of a list to the dtype of the first. Tensors without a common dtype then have
  // one.
  void as_the_first_of(std::size_t i) {
    const auto change = [i](std::vector<Value>& all) {
      Tensors* list = std::get_if<Tensors>(&all[i]);
      if (!list || list->empty() || !(*list)[0] || info((*list)[0]->dtype).is_opaque()) return false;
      return change_tensors(all[i], [dtype = (*list)[0]->dtype](Tensor& t) {
        if (t.dtype == dtype || info(t.dtype).is_opaque()) return false;
        t = cast(t, dtype);
        return true;
      });
    };
    add_converted(concat("convert ", name(i), " to the dtype of the first"), change);
    found_.back().admits = [op = &op_, change](const cases::HostCall& call) {
      std::vector<Value> arguments = call.arguments;
      return change(arguments) && judge::expect(*op, arguments, Budget(cheap)).answer.outcome == Outcome::ok;
    };
  }

  static bool cast_to(Tensor& t, DType dtype, DType now) {
    if (t.dtype != dtype) return false;
    t = cast(cast(t, now), dtype);
    return true;
  }

  void dtypes() {
    all_tensors("hold float64 numbers as float32",
                [](Tensor& t) { return cast_to(t, DType::float64, DType::float32); });
    all_tensors("hold integers as float32", [](Tensor& t) {
      return cast_to(t, DType::int64, DType::float32) || cast_to(t, DType::int32, DType::float32);
    });
    all_tensors("hold float64 numbers and integers as float32", [](Tensor& t) {
      return cast_to(t, DType::float64, DType::float32) || cast_to(t, DType::int64, DType::float32) ||
             cast_to(t, DType::int32, DType::float32);
    });
    all_tensors("hold integers as float64", [](Tensor& t) { return cast_to(t, DType::int64, DType::float64); });
    all_tensors("read uint8 numbers as int8", [](Tensor& t) {
      if (t.dtype != DType::uint8) return false;
      t = cast(cast(t, DType::int8), DType::int16);
      return true;
    });
    all_tensors("hold int64 numbers as int32", [](Tensor& t) { return cast_to(t, DType::int64, DType::int32); });
    all_tensors("flush subnormal inputs to 0", [](Tensor& t) {
      return is_floating(info(t.dtype).part) &&
             replace(
                 t,
                 [](Real x, DType d) { return x != 0 && std::fabs(x) < std::ldexp(Real{1}, info(d).least_exponent); },
                 [](Real x) { return std::copysign(Real{0}, x); });
    });
    all_tensors("treat NaN as 0", [](Tensor& t) {
      return is_floating(info(t.dtype).part) &&
             replace(
                 t, [](Real x, DType) { return std::isnan(x); }, [](Real) { return Real{0}; });
    });
    for (const Real end : {-std::numeric_limits<Real>::infinity(), std::numeric_limits<Real>::infinity()})
      if (is_named(end < 0 ? "max" : "min"))
        all_tensors("ignore NaN", [end](Tensor& t) {
          if (!is_floating(t.dtype)) return false;
          Array<Real> all = read<Real>(t);
          if (std::ranges::none_of(all.data, [](Real x) { return std::isnan(x); })) return false;
          for (Real& x : all.data) x = std::isnan(x) ? end : x;
          write(all, t);
          return true;
        });
    const std::size_t first = first_tensor();
    for (std::size_t i = first + 1; i < inputs_; ++i)
      if (is_tensor(i))
        add(concat("convert ", name(i), " to the dtype of ", name(first)), [i, first](std::vector<Value>& all) {
          const Tensor* from = std::get_if<Tensor>(&all[first]);
          return from && change_tensors(all[i], [&](Tensor& t) {
                   if (t.dtype == from->dtype || info(t.dtype).is_opaque() || info(from->dtype).is_opaque())
                     return false;
                   t = cast(t, from->dtype);
                   return true;
                 });
        });
    for (std::size_t i = 0; i < inputs_; ++i)
      if (op_.arguments[i].type == "Tensor[]") as_the_first_of(i);
    for (std::size_t i = 0; i < inputs_; ++i)
      if (cases::takes_number(op_.arguments[i].type))
        add(concat("hold ", name(i), " as float32"), [i](std::vector<Value>& all) {
          const double* x = std::get_if<double>(&all[i]);
          return x && changed_to(all[i], static_cast<double>(static_cast<float>(*x)));
        });
    for (std::size_t i = 0; i < inputs_; ++i)
      if (op_.arguments[i].type.starts_with("Scalar") && !names_dtype(op_.arguments[i])) {
        add(concat("truncate ", name(i), " to an integer"), [i](std::vector<Value>& all) {
          const double* x = std::get_if<double>(&all[i]);
          return x && changed_to(all[i], std::trunc(*x) + 0.0);
        });
        add_converted(concat("truncate ", name(i), " to an integer"), [i, n = inputs_](std::vector<Value>& all) {
          const double* x = std::get_if<double>(&all[i]);
          if (!x || !std::isfinite(*x) || std::fabs(*x) >= 0x1p62) return false;
          all[i] = static_cast<Int>(*x);
          for (std::size_t k = 0; k < n; ++k)
            change_tensors(all[k], [](Tensor& t) {
              if (is_integer(t.dtype)) t = cast(t, DType::int64);
              return true;
            });
          return true;
        });
        found_.back().is_open = [i](const cases::HostCall& call) {
          const double* x = std::get_if<double>(&call.arguments[i]);
          return call.valid() && x && !(std::fabs(*x) < 0x1p62);
        };
        add(concat("convert ", name(i), " to the dtype of ", name(first)), [i, first](std::vector<Value>& all) {
          const Tensor* from = std::get_if<Tensor>(&all[first]);
          const auto x = number_in(all[i]);
          return from && x && !is_bool(*x) && is_floating(from->dtype) &&
                 changed_to(all[i], round_to(from->dtype, real(*x)));
        });
        computed(concat("do not round ", name(i), " to the dtype of ", name(first)), is_half, DType::float32, false);
      }
    rounded_once();
    computed(
        argument_of(op_, "align_corners") ? "truncate results that should be rounded" : "compute integers in float32",
        is_whole, DType::float32, false);
    computed("compute integers in float64", is_whole, DType::float64, false);
    computed("saturate integers that should wrap", is_whole, DType::float64, true);
    results_of_float32();
  }

  // A kernel that rounds to a half type once, where each step is to be rounded.
  void rounded_once() {
    computed("compute float16 and bfloat16 results in float32 and round once", is_half, DType::float32, false,
             [](std::vector<Value>& arguments, const Operator& op) {
               for (std::size_t i = 0; i < arguments.size(); ++i)
                 if (Int* n = std::get_if<Int>(&arguments[i]); n && names_dtype(op.arguments[i]))
                   if (const auto dtype = dtype_numbered(*n); dtype && is_half(*dtype))
                     *n = static_cast<Int>(DType::float32);
             });
  }

  // A kernel that converts inputs of some dtypes to a floating dtype, computes there, and converts the results back.
  // `change` changes other arguments.
  using ChangeOthers = void (*)(std::vector<Value>&, const Operator&);
  void computed(std::string does, bool (*converts)(DType), DType dtype, bool saturates, ChangeOthers change = nullptr) {
    found_.push_back(answering(op_, std::move(does),
                               [this_op = &op_, n = inputs_, has_tensors = first_tensor() < inputs_, converts, dtype,
                                change, saturates](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                                 const std::vector<Tensor>& right = call.expected.outs;
                                 std::vector<Value> arguments = call.arguments;
                                 bool any = false;
                                 for (std::size_t i = 0; i < n; ++i)
                                   any |= change_tensors(arguments[i], [&](Tensor& t) {
                                     if (!converts(t.dtype)) return false;
                                     t = cast(t, dtype);
                                     return true;
                                   });
                                 if (change) change(arguments, *this_op), any = true;
                                 if (has_tensors && !any) return std::nullopt;
                                 for (std::size_t i = n; i < arguments.size(); ++i)
                                   if (Tensor* t = std::get_if<Tensor>(&arguments[i]);
                                       t && converts(t->dtype) && t->dtype != DType::boolean)
                                     *t = make(dtype, t->sizes, t->dim_order);
                                 judge::Expectation e = judge::expect(*this_op, arguments, Budget(cheap));
                                 if (e.answer.outcome != Outcome::ok || e.outs.size() != right.size())
                                   return std::nullopt;
                                 for (std::size_t k = 0; saturates && k < right.size(); ++k)
                                   saturate(e.outs[k], right[k].dtype);
                                 return converted(call, std::move(e.outs));
                               }));
  }
  // A kernel that computes float64 results in float32, by whatever formula: its results are float32 numbers.
  void results_of_float32() {
    const auto is_float32 = [](Real x) { return !std::isfinite(x) || static_cast<Real>(static_cast<float>(x)) == x; };
    const auto lacks_some = [is_float32](const Tensor& right) {
      return right.dtype == DType::float64 && !std::ranges::all_of(read<Real>(right).data, is_float32);
    };
    const auto differs = [lacks_some](const cases::HostCall& call) {
      return call.valid() && std::ranges::any_of(call.expected.outs, lacks_some);
    };
    const auto explains = [is_float32, lacks_some](const Answered& a) {
      const std::vector<Tensor>& right = a.call.expected.outs;
      if (!a.call.valid() || a.refused() || a.outs.size() != right.size()) return false;
      bool any = false;
      for (std::size_t k = 0; k < right.size(); ++k) {
        if (right[k].dtype != a.outs[k].dtype || right[k].sizes != a.outs[k].sizes) return false;
        if (!lacks_some(right[k])) continue;
        any = true;
        if (!are_near(read<Real>(a.outs[k]), read<Real>(right[k]), largest_input(a.call)) ||
            !std::ranges::all_of(read<Real>(a.outs[k]).data, is_float32))
          return false;
      }
      return any;
    };
    found_.push_back({"compute float64 results in float32", About::computation, false, false, differs, explains});
  }
  static Real largest_input(const cases::HostCall& call) {
    Real most = 0;
    cases::each_tensor(call.arguments, [&](const Tensor& t, std::size_t) {
      if (!info(t.dtype).is_opaque())
        for (const Real x : magnitudes(read<Real>(t)).data) most = std::max(most, x);
    });
    return most;
  }
  // Whether results differ by what float32 can lose of numbers of this size, and most by what it can lose of
  // themselves.
  static bool are_near(const Array<Real>& got, const Array<Real>& right, Real size) {
    Int near = 0, all = 0;
    for (Int k = 0; k < got.count(); ++k) {
      if (!std::isfinite(right[k]) || !std::isfinite(got[k])) continue;
      const Real error = std::fabs(got[k] - right[k]);
      if (error > 0x1p-12 * std::max(std::fabs(right[k]), size)) return false;
      ++all, near += error <= 0x1p-12 * std::fabs(right[k]);
    }
    return 2 * near >= all;
  }

  static void saturate(Tensor& t, DType dtype) {
    if (!is_floating(t.dtype) || !is_integer(dtype)) return;
    Array<Real> all = read<Real>(t);
    for (Real& x : all.data) x = std::clamp(x, least_integer(dtype), largest_integer(dtype));
    write(all, t);
  }

  void results() {
    const auto add = [&](std::string does, Spoil spoil) {
      found_.push_back(spoiling(op_, std::move(does), std::move(spoil)));
    };
    add("write results as if out were contiguous", [](Tensor& out, const cases::HostCall&) {
      const Dims order = out.dim_order, contiguous = Dims::counting(out.rank());
      if (order == contiguous) return false;
      out = arranged(out, contiguous);
      out.dim_order = order;
      return true;
    });
    add("write results in reverse order", [](Tensor& out, const cases::HostCall&) {
      Array<Element> all = read<Element>(out);
      std::ranges::reverse(all.data);
      write(all, out);
      return true;
    });
    add("give results of the opposite sign", [](Tensor& out, const cases::HostCall&) {
      return (is_floating(out.dtype) || is_integer(out.dtype)) &&
             replace(
                 out, [](Real x, DType) { return !std::isnan(x); }, [](Real x) { return -x; });
    });
    if (!divides()) rounded("truncate results that should be rounded", [](Real x) { return std::trunc(x); });
    rounded("round halves away from 0", [](Real x) { return std::round(x); });
    add("compute int64 results in int32", [](Tensor& out, const cases::HostCall&) {
      if (out.dtype != DType::int64) return false;
      Array<Int> all = read<Int>(out);
      for (Int& n : all.data) n = wrap_to(DType::int32, n);
      write(all, out);
      return true;
    });
    if (const std::size_t from = first_tensor(); from < inputs_)
      add(concat("wrap results to the dtype of ", name(from)), [from](Tensor& out, const cases::HostCall& call) {
        const Tensor* t = std::get_if<Tensor>(&call.arguments[from]);
        if (!t || !is_integer(t->dtype) || !is_integer(out.dtype) || info(t->dtype).bytes >= info(out.dtype).bytes)
          return false;
        Array<Int> all = read<Int>(out);
        for (Int& n : all.data) n = wrap_to(t->dtype, n);
        write(all, out);
        return true;
      });
    if (!divides() && !is_named("::bucketize.") && !is_named("::searchsorted.")) one_less();
    off_by_one();
    empty_windows();
    overflows();
    signs_of_zeros();
    add("give 0 for every result", [](Tensor& out, const cases::HostCall&) {
      std::ranges::fill(out.bytes, std::byte{});
      return true;
    });
    const std::size_t first = first_tensor();
    if (first < inputs_)
      add(concat("give ", name(first), " unchanged"), [first](Tensor& out, const cases::HostCall& call) {
        const Tensor* t = std::get_if<Tensor>(&call.arguments[first]);
        if (!t || t->sizes != out.sizes || info(t->dtype).is_opaque() || info(out.dtype).is_opaque()) return false;
        out = arranged(cast(*t, out.dtype), out.dim_order);
        return true;
      });
  }

  // Integer results whose numbers before the rounding are known, rounded in another manner.
  void rounded(std::string does, Real (*f)(Real)) {
    found_.push_back(
        answering(op_, std::move(does), [f](const cases::HostCall& call) -> std::optional<judge::Expectation> {
          std::vector<Tensor> outs = call.expected.outs;
          bool any = false;
          for (std::size_t k = 0; k < outs.size() && k < call.expected.answer.unrounded.size(); ++k) {
            const Buffer<Real>& values = call.expected.answer.unrounded[k].values;
            Array<Real> all(outs[k].sizes);
            if (!is_integer(outs[k].dtype) || values.size() != all.data.size()) continue;
            std::ranges::transform(values, all.data.begin(), f);
            write(all, outs[k]), any = true;
          }
          return any ? std::optional(with_results(call.expected, std::move(outs))) : std::nullopt;
        }));
  }

  // Whether each wrong number of the first result is what `may_be` accepts for the right one, and there is one.
  static bool has_only(const Answered& a, bool (*is_meant)(DType), bool (*may_be)(Real right, Real got)) {
    if (!a.call.valid() || a.refused() || a.outs.empty()) return false;
    const Tensor &right = a.call.expected.outs[0], &got = a.outs[0];
    if (got.dtype != right.dtype || got.sizes != right.sizes || !is_meant(right.dtype)) return false;
    const Array<Real> x = read<Real>(right), y = read<Real>(got);
    bool any = false;
    for (Int k = 0; k < x.count(); ++k) {
      if (is_same_number(x[k], y[k])) continue;
      if (!may_be(x[k], y[k])) return false;
      any = true;
    }
    return any;
  }

  // Results that are rounded to integers, where the number before the rounding is not known.
  void one_less() {
    const auto is_less = [](Real right, Real got) {
      return std::fabs(got) == std::fabs(right) - 1 && (got == 0 || std::signbit(got) == std::signbit(right));
    };
    const auto differs = [](const cases::HostCall& call) {
      return call.valid() && !call.expected.outs.empty() && is_integer(call.expected.outs[0].dtype) &&
             std::ranges::any_of(read<Int>(call.expected.outs[0]).data, [](Int n) { return n != 0; });
    };
    const auto explains = [is_less](const Answered& a) { return has_only(a, is_integer, is_less); };
    found_.push_back({"truncate results that should be rounded", About::computation, false, true, differs, explains});
  }

  // A maximum over places none of which is in the input.
  void empty_windows() {
    if (!argument_of(op_, "kernel_size") || !argument_of(op_, "padding") || !is_named("max_pool")) return;
    const auto differs = [](const cases::HostCall& call) {
      if (!call.valid() || is_complex(call.expected.outs[0].dtype)) return false;
      const DType dtype = call.expected.outs[0].dtype;
      const Real least = is_floating(dtype) ? -std::numeric_limits<Real>::infinity() : least_integer(dtype);
      return least < 0 && std::ranges::count(read<Real>(call.expected.outs[0]).data, least) > 0 &&
             std::ranges::count(read<Real>(std::get<Tensor>(call.arguments[0])).data, least) == 0;
    };
    const auto is_0 = [](Real right, Real got) { return right <= -128 && got == 0; };
    const auto explains = [=](const Answered& a) {
      return differs(a.call) && has_only(
                                    a, [](DType) { return true; }, is_0);
    };
    found_.push_back({"return 0 in place of the least number where a window lies wholly in the padding", About::results,
                      true, false, differs, explains});
  }

  // Intermediate results of a narrow dtype that overflow, though neither the inputs nor the right results do.
  void overflows() {
    for (const DType dtype : {DType::float16, DType::float32}) {
      const auto is_finite = [](const Tensor& t) {
        return info(t.dtype).is_opaque() ||
               std::ranges::all_of(magnitudes(read<Real>(t)).data, [](Real x) { return std::isfinite(x); });
      };
      const auto differs = [dtype, is_finite, n = inputs_](const cases::HostCall& call) {
        if (!call.valid() || call.expected.outs.empty() || call.expected.outs[0].dtype != dtype) return false;
        const Real most = largest_input(call);  // a sum of squares must be large
        if (std::ldexp(most * most, 10) < largest(dtype)) return false;
        bool all = true;
        cases::each_tensor(std::span(call.arguments).first(n),
                           [&](const Tensor& t, std::size_t) { all = all && (is_complex(t.dtype) || is_finite(t)); });
        return all;
      };
      const auto has_overflown = [](Real right, Real got) { return std::isfinite(right) && !std::isfinite(got); };
      const auto explains = [=](const Answered& a) {
        return differs(a.call) && has_only(a, is_floating, has_overflown);
      };
      found_.push_back({concat("let intermediate results of ", info(dtype).name, " overflow"), About::computation,
                        false, true, differs, explains});
    }
  }

  // Results that are rounded in another manner, in which the number before the rounding is not known.
  void off_by_one() {
    if (divides() || !argument_of(op_, "align_corners")) return;
    const auto is_next = [](Real right, Real got) { return std::fabs(got - right) == 1; };
    const auto differs = [](const cases::HostCall& call) {
      return call.valid() && !call.expected.outs.empty() && is_integer(call.expected.outs[0].dtype);
    };
    const auto explains = [is_next](const Answered& a) { return has_only(a, is_integer, is_next); };
    found_.push_back({"round interpolated integers otherwise, so that results differ by 1", About::computation, false,
                      true, differs, explains});
  }

  void signs_of_zeros() {
    const auto is_zero = [](Real right, Real got) { return right == 0 && got == 0; };
    const auto differs = [](const cases::HostCall& call) {
      return call.valid() && !call.expected.outs.empty() && is_floating(call.expected.outs[0].dtype) &&
             std::ranges::any_of(read<Real>(call.expected.outs[0]).data, [](Real x) { return x == 0; });
    };
    const auto explains = [is_zero](const Answered& a) { return has_only(a, is_floating, is_zero); };
    found_.push_back({"give zeros of the wrong sign", About::places, false, true, differs, explains});
  }

  // A kernel whose formula, computed in float32, gives each row of self another result than is right.
  using OfRow = std::function<Real(std::span<const Real> row, const cases::HostCall& call)>;
  void reducing(std::string does, std::vector<DType> dtypes, OfRow f) {
    found_.push_back(answering(
        op_, std::move(does), [op = &op_, dtypes, f](const cases::HostCall& call) -> std::optional<judge::Expectation> {
          if (std::ranges::find(dtypes, call.expected.outs[0].dtype) == dtypes.end()) return std::nullopt;
          const Tensor* from = std::get_if<Tensor>(&call.arguments[0]);
          if (from && from->count() == 0 && info(from->dtype).kind < Kind::complex) {  // each combines no elements
            std::vector<Tensor> outs = call.expected.outs;
            Array<Real> results(outs[0].sizes);
            std::ranges::fill(results.data, f({}, call));
            write(results, outs[0]);
            return with_results(call.expected, std::move(outs));
          }
          const auto rows = rows_of(*op, call);
          if (!rows || rows->number != call.expected.outs[0].count() ||
              info(std::get<Tensor>(call.arguments[0]).dtype).kind >= Kind::complex)
            return std::nullopt;
          const Array<Real> self = read<Real>(std::get<Tensor>(call.arguments[0]));
          std::vector<Tensor> outs = call.expected.outs;
          Array<Real> results(outs[0].sizes);
          std::vector<Real> row(static_cast<std::size_t>(rows->length));
          for (Int r = 0; r < rows->number; ++r) {
            for (Int k = 0; k < rows->length; ++k)
              row[static_cast<std::size_t>(k)] = self[rows->source[static_cast<std::size_t>(r * rows->length + k)]];
            results[r] = f(row, call);
          }
          write(results, outs[0]);
          return with_results(call.expected, std::move(outs));
        }));
  }

  // Whether the error of each variance is what a difference of the rounded sums of squares leaves, in whatever order
  // the kernel adds.
  static bool cancels(const Answered& a) {
    if (!a.call.valid() || a.refused() || a.outs.empty() || a.outs[0].sizes != a.call.expected.outs[0].sizes)
      return false;
    const Tensor &self = std::get<Tensor>(a.call.arguments[0]), &want = a.call.expected.outs[0];
    if (info(self.dtype).kind >= Kind::complex || want.count() == 0 || a.outs[0].dtype != want.dtype) return false;
    Real squares = 0;
    for (const Real x : read<Real>(self).data) squares += x * x;
    const Array<Real> got = read<Real>(a.outs[0]), right = read<Real>(want);
    bool any = false;
    for (Int k = 0; k < got.count(); ++k) {
      if (std::isfinite(got[k]) != std::isfinite(right[k]) ||
          (std::isfinite(got[k]) && !(std::fabs(got[k] - right[k]) <= 8 * ulp(want.dtype, squares))))
        return false;
      any |= std::isfinite(got[k]) && got[k] != right[k];
    }
    return any;
  }

  // Formulas that are read in another manner than the operator's.
  void formulas() {
    const bool is_sum = op_.name.starts_with("aten::sum."), is_mean = op_.name.starts_with("aten::mean.");
    if (is_sum || is_mean || op_.name.starts_with("aten::cumsum.")) running_sums(is_mean);
    if (is_sum || is_mean)
      reducing("add all terms to one float32 number, which loses bits in long sums", {DType::float32},
               [is_mean](std::span<const Real> row, const cases::HostCall&) {
                 Real sum = 0;
                 for (const Real x : row) sum = round_to(DType::float32, sum + x);
                 return is_mean ? sum / static_cast<Real>(row.size()) : sum;
               });
    if (is_sum || is_mean) {
      const auto with_partials = [is_mean](std::span<const Real> row, DType partial) {
        Real sum = 0;
        for (const Real x : row) sum = round_to(partial, sum + x);
        return is_mean ? sum / static_cast<Real>(row.size()) : sum;
      };
      for (const DType partial : {DType::float16, DType::bfloat16})
        for (const DType dtype : {DType::float32, DType::float64})
          reducing(concat("hold partial sums in ", info(partial).name), {dtype},
                   [=](std::span<const Real> row, const cases::HostCall&) { return with_partials(row, partial); });
      reducing("hold partial sums in the half type of the results", {DType::float16, DType::bfloat16},
               [=](std::span<const Real> row, const cases::HostCall& call) {
                 return with_partials(row, call.expected.outs[0].dtype);
               });
    }
    if (is_mean)
      reducing("return 0 for the mean of no numbers", {DType::float32, DType::float64, DType::float16, DType::bfloat16},
               [](std::span<const Real> row, const cases::HostCall&) {
                 Real sum = 0;
                 for (const Real x : row) sum += x;
                 return row.empty() ? 0 : sum / static_cast<Real>(row.size());
               });
    if (is_mean)
      for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16})
        reducing("divide by n - 1 in place of n", {dtype}, [](std::span<const Real> row, const cases::HostCall&) {
          Real sum = 0;
          for (const Real x : row) sum += x;
          return sum / (static_cast<Real>(row.size()) - 1);
        });
    if (op_.name.starts_with("aten::var"))
      for (const DType dtype : {DType::float32, DType::float64})
        reducing(
            "compute a variance as E[x^2] - E[x]^2, which cancels", {dtype},
            [op = &op_, dtype](std::span<const Real> row, const cases::HostCall& call) {
              Real sum = 0, squares = 0;
              for (const Real x : row)
                sum = round_to(dtype, sum + x), squares = round_to(dtype, squares + round_to(dtype, x * x));
              const auto n = static_cast<Real>(row.size());
              const auto at = std::ranges::find_if(op->arguments, [](const SchemaArgument& a) {
                return a.name == "correction" || a.name == "unbiased";
              });
              const auto given = at == op->arguments.end()
                                     ? std::nullopt
                                     : number_in(call.arguments[static_cast<std::size_t>(at - op->arguments.begin())]);
              return (squares - round_to(dtype, sum * sum / n)) / std::max(Real{0}, n - (given ? real(*given) : 1));
            });
    if (op_.name == "aten::round.out")
      of_one_number("compute floor(x + 0.5)", [](Real x, DType dtype) { return std::floor(round_to(dtype, x + 0.5)); });
    if (op_.name.starts_with("aten::log1p"))
      of_one_number("round 1 + x before the logarithm",
                    [](Real x, DType dtype) { return std::log(round_to(dtype, 1 + x)); });
    if (op_.name.starts_with("aten::expm1"))
      of_one_number("subtract 1 from a rounded exponential",
                    [](Real x, DType dtype) { return round_to(dtype, std::exp(x)) - 1; });
    if (op_.name.starts_with("aten::var"))
      for (std::size_t k = found_.size() - 2; k < found_.size(); ++k) found_[k].explains = cancels;
    if (op_.name == "aten::_softmax.out" || op_.name == "aten::_log_softmax.out") {
      without_maximum("do not subtract the maximum, so that exponentials overflow", [](Real) { return Real{0}; });
      without_maximum("do not subtract a negative maximum, so that exponentials underflow",
                      [](Real maximum) { return std::max(Real{0}, maximum); });
    }
    logarithm_of_softmax();
    bits_of_truths();
    quotients();
    quantized();
    clamped_first();
    nibbles();
    added_steps();
    dequantized();
    ranges();
    ranges_without_zero();
    roots();
    doubled();
    divisions();
    remainders();
    if (op_.name.find("shift") != std::string_view::npos) shifts();
    if (op_.choice == "dropout") unscaled();
  }

  bool is_named(std::string_view word) const { return defects::is_named(op_, word); }
  bool remains() const { return is_named("::remainder.") || is_named("::mod."); }
  // Whether quotients are rounded.
  bool divides() const {
    return remains() || is_named("::floor_divide.") || is_named("::floordiv.") ||
           std::ranges::find(op_.arguments, "rounding_mode", &SchemaArgument::name) != op_.arguments.end();
  }

  // A kernel that divides as C does: the quotient is rounded toward 0.
  void divisions() {
    if (!divides()) return;
    const auto mode = std::ranges::find(op_.arguments, "rounding_mode", &SchemaArgument::name);
    const bool has_mode = mode != op_.arguments.end(), remains = this->remains();
    const auto at = static_cast<std::size_t>(mode - op_.arguments.begin());
    for (const bool is_exact : {true, false})  // whether integers are divided as integers, or by way of float64
      found_.push_back(spoiling(op_,
                                remains ? "return the remainder with the sign of the first operand"
                                        : "round the quotient toward 0 in place of down",
                                [=](Tensor& out, const cases::HostCall& call) {
                                  const std::string* given =
                                      has_mode ? std::get_if<std::string>(&call.arguments[at]) : nullptr;
                                  if (has_mode && (!given || *given != "floor")) return false;
                                  return is_exact && is_integer(out.dtype) ? divided_as_integers(out, call, remains)
                                                                           : divided(out, call, remains);
                                }));
  }
  // A remainder with the sign of the divisor, where that of the dividend is right.
  void remainders() {
    if (!is_named("::fmod.")) return;
    found_.push_back(spoiling(op_, "return the remainder with the sign of the second operand",
                              [scalar = is_named("Scalar")](Tensor& out, const cases::HostCall& call) {
                                const auto now =
                                    result_of(scalar ? "aten::remainder.Scalar_out" : "aten::remainder.Tensor_out",
                                              {call.arguments[0], call.arguments[1]});
                                if (!now || now->dtype != out.dtype || now->sizes != out.sizes) return false;
                                write(read<Element>(*now), out);
                                return true;
                              }));
  }
  static bool divided_as_integers(Tensor& out, const cases::HostCall& call, bool remains) {
    const auto a = integers_of(call.arguments[0]), b = integers_of(call.arguments[1]);
    if (!a || !b) return false;
    Array<Int> results = read<Int>(out);
    const auto dividends = families::broadcast(*a, out.sizes), divisors = families::broadcast(*b, out.sizes);
    Int flat = 0;
    for (const Dims& i : indices(out.sizes)) {
      const Int x = dividends.at(i, flat), y = wrap_to(out.dtype, divisors.at(i, flat));
      if (y != 0 && y != -1) results[flat] = wrap_to(out.dtype, remains ? x % y : x / y);
      ++flat;
    }
    write(results, out);
    return true;
  }
  static bool divided(Tensor& out, const cases::HostCall& call, bool remains) {
    const auto a = numbers_of(call.arguments[0]), b = numbers_of(call.arguments[1]);
    if (!a || !b) return false;
    const bool of_integers = integers_of(call.arguments[0]) && integers_of(call.arguments[1]);  // without -0
    Array<Real> results = read<Real>(out);
    const auto dividends = families::broadcast(*a, out.sizes), divisors = families::broadcast(*b, out.sizes);
    Int flat = 0;
    for (const Dims& i : indices(out.sizes)) {
      const Real x = dividends.at(i, flat), y = divisors.at(i, flat);
      if (const Real now = remains ? std::fmod(x, y) : std::trunc(x / y);
          y != 0 && std::isfinite(now) && std::isfinite(results[flat]))
        results[flat] = of_integers && now == 0 ? 0 : now;
      ++flat;
    }
    write(results, out);
    return true;
  }
  static std::optional<Array<Int>> integers_of(const Value& v) {
    if (const Tensor* t = std::get_if<Tensor>(&v))
      return is_whole(t->dtype) ? std::optional(read<Int>(*t)) : std::nullopt;
    const auto number = number_in(v);
    if (!number || is_floating(*number)) return std::nullopt;
    Array<Int> one;
    one.data.at(0) = exact<Int>(*number);
    return one;
  }

  // A choice that is computed as a sum of products: 0 times NaN or infinity is NaN.
  void chosen_by_products() {
    if (op_.name != "aten::where.self_out") return;
    found_.push_back(spoiling(op_, "let NaN and infinity of the operand that is not chosen reach the result",
                              [](Tensor& out, const cases::HostCall& call) {
                                const auto chooses = numbers_of(call.arguments[0]);
                                const auto a = numbers_of(call.arguments[1]), b = numbers_of(call.arguments[2]);
                                if (!chooses || !a || !b || !is_floating(out.dtype)) return false;
                                Array<Real> all = read<Real>(out);
                                Int flat = 0;
                                for (const Dims& i : indices(out.sizes)) {
                                  const Real chosen = families::broadcast(*chooses, out.sizes).at(i, flat) != 0;
                                  all[flat] = chosen * families::broadcast(*a, out.sizes).at(i, flat) +
                                              (1 - chosen) * families::broadcast(*b, out.sizes).at(i, flat);
                                  ++flat;
                                }
                                write(all, out);
                                return true;
                              }));
  }

  // A permutation that takes the strides of self in the inverse order. Where it reads behind self, its answer is not
  // known.
  void inverse_permutation() {
    const auto dims = argument_of(op_, "dims");
    if (!is_named("::permute") || !dims) return;
    found_.push_back(answering(op_, "take the strides of self by the inverse of dims",
                               [dims = *dims](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                                 const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
                                 const Ints* given = std::get_if<Ints>(&call.arguments[dims]);
                                 if (!call.valid() || !self || !given || self->rank() < 2) return std::nullopt;
                                 const int rank = self->rank();
                                 Dims strides = self->sizes;
                                 Int each = 1;
                                 for (int k = rank - 1; k >= 0; --k) {
                                   const Int d = self->dim_order[k];
                                   strides[d] = std::exchange(each, each * self->sizes[d]);
                                 }
                                 Dims taken = strides;  // for each dimension of the result
                                 for (Int k = 0; k < rank; ++k)
                                   taken[wrap_dim((*given)[static_cast<std::size_t>(k)], rank)] = strides[k];
                                 Tensor memory = *self;  // its elements in their order in memory
                                 memory.sizes = memory.dim_order = {self->count()}, memory.dim_order[0] = 0;
                                 return with_elements(call, memory, [&](const Dims& i) {
                                   Int at = 0;
                                   for (int d = 0; d < rank; ++d) at += i[d] * taken[d];
                                   return at;
                                 });
                               }));
  }

  // A logical operator that combines the bits of integers, not whether they are 0.
  void bits_of_truths() {
    constexpr std::string_view prefix = "aten::logical_";
    if (!op_.name.starts_with(prefix) || inputs_ != 2) return;
    const std::string bitwise =
        concat("aten::bitwise_", op_.name.substr(prefix.size(), op_.name.find('.') - prefix.size()));
    found_.push_back(answering(
        op_, concat("compute ", std::string_view(bitwise).substr(6), " of integers, and whether it is not 0"),
        [other = bitwise + ".Tensor_out"](const cases::HostCall& call) -> std::optional<judge::Expectation> {
          const Tensor *a = std::get_if<Tensor>(&call.arguments[0]), *b = std::get_if<Tensor>(&call.arguments[1]);
          if (!call.valid() || !a || !b || !is_whole(a->dtype) || !is_whole(b->dtype)) return std::nullopt;
          const auto bits = result_of(other, {*a, *b});
          return bits ? converted(call, {cast(*bits, DType::boolean)}) : std::nullopt;
        }));
  }

  // The logarithm of a rounded softmax, which loses small numbers.
  void logarithm_of_softmax() {
    if (op_.name != "aten::_log_softmax.out") return;
    const auto of = [](Real x, DType dtype) {
      return std::log(round_to(dtype == DType::float64 ? dtype : DType::float32, std::exp(x)));
    };
    const auto differs = [of](const cases::HostCall& call) {
      if (!call.valid() || !is_floating(call.expected.outs[0].dtype)) return false;
      const Tensor& out = call.expected.outs[0];
      return std::ranges::any_of(read<Real>(out).data,
                                 [&](Real x) { return std::isfinite(x) && std::isinf(of(x, out.dtype)); });
    };
    const auto explains = [of, differs](const Answered& a) {
      constexpr Real near = 0x1p-6;  // of numbers that were computed from few bits
      if (!differs(a.call) || a.refused() || a.outs.size() != 1 || a.outs[0].dtype != a.call.expected.outs[0].dtype ||
          a.outs[0].sizes != a.call.expected.outs[0].sizes)
        return false;
      const Array<Real> got = read<Real>(a.outs[0]), right = read<Real>(a.call.expected.outs[0]);
      for (Int k = 0; k < got.count(); ++k) {
        const Real now = std::isfinite(right[k]) ? of(right[k], a.outs[0].dtype) : right[k];
        if (!is_same_number(got[k], now) && !(std::fabs(got[k] - now) <= near * std::max(Real{1}, std::fabs(now))))
          return false;
      }
      return true;
    };
    found_.push_back(
        {"take the logarithm of a softmax that underflows to 0", About::computation, false, false, differs, explains});
  }

  // A sum of products, beta self + alpha (mat1 mat2), in which what has the factor 0 is to be left out.
  void factors() {
    const auto alpha = argument_of(op_, "alpha"), beta = argument_of(op_, "beta");
    if (!alpha || !beta || op_.outs() != 1 || inputs_ < 3 || !is_tensor(0) || !is_tensor(1)) return;
    found_.push_back(spoiling(op_, "multiply self by a beta of 0, so that NaN and infinity stay",
                              [beta = *beta](Tensor& out, const cases::HostCall& call) {
                                const auto factor = number_in(call.arguments[beta]);
                                const auto self = numbers_of(call.arguments[0]);
                                if (!factor || real(*factor) != 0 || !self || !is_floating(out.dtype)) return false;
                                Array<Real> all = read<Real>(out);
                                Int flat = 0;
                                for (const Dims& i : indices(out.sizes)) {
                                  if (!std::isfinite(families::broadcast(*self, out.sizes).at(i, flat)))
                                    all[flat] = std::numeric_limits<Real>::quiet_NaN();
                                  ++flat;
                                }
                                write(all, out);
                                return true;
                              }));
    found_.push_back(spoiling(op_, "multiply an empty sum by alpha, so that NaN and infinity give NaN",
                              [alpha = *alpha](Tensor& out, const cases::HostCall& call) {
                                const auto factor = number_in(call.arguments[alpha]);
                                const Tensor* first = std::get_if<Tensor>(&call.arguments[1]);
                                if (!factor || std::isfinite(real(*factor)) || !first || first->count() != 0 ||
                                    !is_floating(out.dtype))
                                  return false;
                                Array<Real> all = read<Real>(out);
                                std::ranges::fill(all.data, std::numeric_limits<Real>::quiet_NaN());
                                write(all, out);
                                return true;
                              }));
  }

  // A quantization whose quotients, computed in float32, are rounded as std::round does.
  void quantized() {
    if (op_.name != "quantized_decomposed::quantize_per_tensor.out") return;
    struct Rounding {
      const char* does;
      Real (*of_half)(Real q, Real zero);
    };
    constexpr auto roundings = std::to_array<Rounding>({
        {"round halves away from 0", [](Real q, Real zero) { return std::round(q) + zero; }},
        {"add zero_point before the rounding", [](Real q, Real zero) { return std::nearbyint(q + zero); }},
    });
    for (const Rounding& r : roundings)
      found_.push_back(spoiling(op_, r.does, [of = r.of_half](Tensor& out, const cases::HostCall& call) {
        const auto* scale = std::get_if<double>(&call.arguments[1]);
        const auto input = numbers_of(call.arguments[0]), zero = numbers_of(call.arguments[2]),
                   least = numbers_of(call.arguments[3]), most = numbers_of(call.arguments[4]);
        if (!scale || !input || !zero || !least || !most || !is_integer(out.dtype)) return false;
        Array<Real> all = read<Real>(out);
        bool any = false;
        for (Int k = 0; k < all.count(); ++k) {
          const auto q = static_cast<Real>(static_cast<float>((*input)[k]) * (1.0F / static_cast<float>(*scale)));
          if (std::fabs(q - std::trunc(q)) != 0.5) continue;
          all[k] = std::clamp(of(q, (*zero)[0]), (*least)[0], std::max((*least)[0], (*most)[0])), any = true;
        }
        if (any) write(all, out);
        return any;
      }));
  }

  // A quantization that clamps before it adds the zero point.
  void clamped_first() {
    const auto one = argument_of(op_, "zero_point"), each = argument_of(op_, "zero_points");
    if (!is_named("::quantize_per_") || (!one && !each)) return;
    found_.push_back(spoiling(op_, "clamp before the zero point is added",
                              [op = &op_, at = one ? *one : *each](Tensor& out, const cases::HostCall& call) {
                                const auto points = numbers_of(call.arguments[at]);
                                std::vector<Value> all = call.arguments;
                                if (Tensor* t = std::get_if<Tensor>(&all[at]))
                                  std::ranges::fill(t->bytes, std::byte{});
                                else
                                  all[at] = Int{0};
                                const judge::Expectation e = judge::expect(*op, all, Budget(cheap));
                                if (!points || points->count() == 0 || e.answer.outcome != Outcome::ok ||
                                    e.outs[0].sizes != out.sizes || !is_integer(out.dtype))
                                  return false;
                                const std::vector<Int> from = parameters_of(*op, call.arguments, out, points->count());
                                Array<Int> now = read<Int>(e.outs[0]);
                                for (std::size_t k = 0; k < from.size(); ++k)
                                  now.data[k] = wrap_to(out.dtype, now.data[k] + static_cast<Int>((*points)[from[k]]));
                                write(now, out);
                                return true;
                              }));
  }

  // Two numbers of 4 bits in each byte.
  void nibbles() {
    const auto weight = argument_of(op_, "weight");
    if (!is_named("_4bit.") || !weight) return;
    add("exchange the two numbers of each byte of weight", [weight = *weight](std::vector<Value>& all) {
      return change_tensors(all[weight], [](Tensor& t) {
        const Tensor before = t;
        for (std::byte& b : t.bytes) b = (b << 4) | (b >> 4);
        return before.bytes != t.bytes;
      });
    });
  }

  // A range that adds step to the number before, which is rounded.
  void added_steps() {
    if (!is_named("::arange.start")) return;
    found_.push_back(spoiling(op_, "add step to the rounded number before, so that errors add up",
                              [](Tensor& out, const cases::HostCall& call) {
                                const auto start = number_in(call.arguments[0]), step = number_in(call.arguments[2]);
                                if (!start || !step || !is_floating(out.dtype) || out.count() < 3) return false;
                                Array<Real> now(out.sizes);
                                Real x = round_to(out.dtype, real(*start));
                                for (Real& each : now.data)
                                  each = x, x = round_to(out.dtype, x + round_to(out.dtype, real(*step)));
                                write(now, out);
                                return true;
                              }));
  }

  // A dequantization that subtracts zero_point from the integer, not from the float32 number.
  void dequantized() {
    if (op_.name != "quantized_decomposed::dequantize_per_tensor.out") return;
    for (const bool wraps : {false, true})
      found_.push_back(spoiling(op_,
                                wraps ? "subtract zero_point in the dtype of input, where it wraps"
                                      : "subtract zero_point from integers before their conversion to float32",
                                [wraps](Tensor& out, const cases::HostCall& call) {
                                  const Tensor& input = std::get<Tensor>(call.arguments[0]);
                                  const auto* scale = std::get_if<double>(&call.arguments[1]);
                                  const auto* zero = std::get_if<Int>(&call.arguments[2]);
                                  if (!scale || !zero || !is_integer(input.dtype) || out.dtype != DType::float32)
                                    return false;
                                  const Array<Int> all = read<Int>(input);
                                  Array<Real> now(out.sizes);
                                  const auto centered = [&](Int x) {
                                    const Int n = x - *zero;
                                    return wraps ? wrap_to(input.dtype, n) : n;
                                  };
                                  for (Int k = 0; k < now.count(); ++k)
                                    now[k] = static_cast<float>(centered(all[k])) * static_cast<float>(*scale);
                                  write(now, out);
                                  return true;
                                }));
  }

  // A scale that is chosen for a range without extent.
  void ranges() {
    if (!is_named("::choose_qparams")) return;
    const bool is_of_rows = is_named("per_token");
    const auto differs = [is_of_rows](const cases::HostCall& call) {
      const Tensor* input = std::get_if<Tensor>(&call.arguments[0]);
      if (!call.valid() || !input || info(input->dtype).kind >= Kind::complex || input->count() == 0 ||
          input->rank() == 0)
        return false;
      const Array<Real> all = read<Real>(*input);
      const auto length = static_cast<std::size_t>(is_of_rows ? input->sizes[input->rank() - 1] : input->count());
      for (std::span<const Real> left(all.data); !left.empty(); left = left.subspan(length))
        if (std::ranges::all_of(left.first(length), [](Real x) { return x == 0; })) return true;
      return false;
    };
    const auto is_tenth = [](Real, Real got) { return std::fabs(got - 0.1) < 1e-6; };
    const auto explains = [=](const Answered& a) { return differs(a.call) && has_only(a, is_floating, is_tenth); };
    found_.push_back({"return a scale of 0.1 where all numbers are 0, in place of the least scale", About::results,
                      true, false, differs, explains});
  }

  // A range that leaves out 0 where all numbers are positive, or all negative: from it comes a smaller scale.
  void ranges_without_zero() {
    const auto least = argument_of(op_, "eps");
    if (!is_named("::choose_qparams") || is_named("symmetric.") || !least) return;
    // The scales of smaller ranges; none if no range is smaller, or if no scale becomes smaller.
    const auto smaller =
        [at = *least, is_of_rows = is_named("per_token")](const cases::HostCall& call) -> std::optional<Array<Real>> {
      const Tensor* input = std::get_if<Tensor>(&call.arguments[0]);
      const auto eps = number_in(call.arguments[at]);
      if (!call.valid() || !input || info(input->dtype).kind >= Kind::complex || input->count() == 0 || !eps ||
          (is_of_rows && input->rank() == 0))
        return std::nullopt;
      const Array<Real> numbers = read<Real>(*input);
      Array<Real> scales = read<Real>(call.expected.outs[0]);
      const Array<Real> right = scales;
      const Int length = is_of_rows ? input->sizes[input->rank() - 1] : input->count();
      for (Int k = 0; k < scales.count() && (k + 1) * length <= numbers.count(); ++k) {
        const auto [low, high] = std::ranges::minmax(
            std::span(numbers.data).subspan(static_cast<std::size_t>(k * length), static_cast<std::size_t>(length)));
        const Real extent = low > 0 ? (high - low) / high : high < 0 ? (low - high) / low : 1;
        scales[k] = std::max(right[k] * extent, std::min(right[k], real(*eps)));
      }
      return are_near(scales, right, 0) ? std::nullopt : std::optional(std::move(scales));
    };
    const auto explains = [smaller](const Answered& a) {
      const auto scales = smaller(a.call);
      return scales && !a.refused() && !a.outs.empty() && a.outs[0].sizes == scales->sizes &&
             is_floating(a.outs[0].dtype) && are_near(read<Real>(a.outs[0]), *scales, 0);
    };
    found_.push_back({"leave 0 out of the range where all numbers have one sign", About::results, true, false,
                      [smaller](const cases::HostCall& call) { return smaller(call).has_value(); }, explains});
  }

  // Powers that are to be computed as a square root or its reciprocal: those of -0 and -infinity differ.
  void roots() {
    if (!is_named("::pow.Tensor_Scalar")) return;
    found_.push_back(spoiling(op_,
                              "compute powers of 0.5 and -0.5 otherwise than sqrt and 1 / sqrt for -0 and -infinity",
                              [](Tensor& out, const cases::HostCall& call) {
                                const auto exponent = number_in(call.arguments[1]);
                                const auto self = numbers_of(call.arguments[0]);
                                if (!exponent || !self || !is_floating(out.dtype) || std::fabs(real(*exponent)) != 0.5)
                                  return false;
                                Array<Real> now = read<Real>(out);
                                for (Int k = 0; k < now.count(); ++k)
                                  if (const Real x = (*self)[k]; x == 0 || std::isinf(x))
                                    now[k] = std::pow(x, real(*exponent));
                                write(now, out);
                                return true;
                              }));
  }

  // The nearest element of an input, at an index that is not halved where the result is twice as long.
  void doubled() {
    const auto scales = argument_of(op_, "scale_factors");
    if (!scales || !is_named("nearest2d")) return;
    found_.push_back(spoiling(
        op_, "divide by scale_factors in place of 2 where out is twice as long as input",
        [scales = *scales](Tensor& out, const cases::HostCall& call) {
          const Doubles* given = std::get_if<Doubles>(&call.arguments[scales]);
          const Tensor& input = std::get<Tensor>(call.arguments[0]);
          if (!given || given->size() != 2 || input.rank() != 4 || out.rank() != 4) return false;
          const auto source = [&](int dim, Int at) {
            const auto step = static_cast<Real>(1 / static_cast<float>((*given)[static_cast<std::size_t>(dim - 2)]));
            const auto place = static_cast<Int>(std::floor(round_to(DType::float32, static_cast<Real>(at) * step)));
            return std::min(place, input.sizes[dim] - 1);
          };
          const Array<Element> from = read<Element>(input);
          Array<Element> now(out.sizes);
          Int flat = 0;
          for (const Dims& i : indices(out.sizes))
            now[flat++] = from(Dims{i[0], i[1], source(2, i[2]), source(3, i[3])});
          write(now, out);
          return true;
        }));
  }

  // Processors take the count of a shift modulo the width of a register, and shift unsigned numbers by zeros.
  void shifts() {
    // Whether a count that is too large gives the sign, as is right, or 0.
    for (const bool keeps_sign : {true, false}) {
      if (!is_named("right_shift") && !is_named("rshift")) break;
      found_.push_back(
          spoiling(op_, "shift zeros into negative numbers", [keeps_sign](Tensor& out, const cases::HostCall& call) {
            const auto a = integers_of(call.arguments[0]), b = integers_of(call.arguments[1]);
            if (!a || !b || !is_integer(out.dtype)) return false;
            const int bits = 8 * static_cast<int>(info(out.dtype).bytes);
            Array<Int> now = read<Int>(out);
            Int flat = 0;
            for (const Dims& i : indices(out.sizes)) {
              const Int count = families::broadcast(*b, out.sizes).at(i, flat);
              const auto number = static_cast<Bits>(families::broadcast(*a, out.sizes).at(i, flat));
              const Bits kept = bits == 64 ? number : number & ((Bits{1} << bits) - 1);
              if (count > 0 && count < bits)
                now[flat] = wrap_to(out.dtype, static_cast<Int>(kept >> count));
              else if (count != 0 && !keeps_sign)
                now[flat] = 0;
              ++flat;
            }
            write(now, out);
            return true;
          }));
    }
    add("take the shift count modulo 32 or 64", [](std::vector<Value>& all) {
      types::Promotion promotion;
      for (std::size_t i = 0; i < 2; ++i)
        if (const Tensor* t = std::get_if<Tensor>(&all[i]))
          promotion.add(*t);
        else if (const auto number = number_in(all[i]))
          promotion.add(*number);
      const Int most = info(promotion.result()).bytes == 8 ? 63 : 31;
      if (Int* n = std::get_if<Int>(&all[1])) return changed_to(all[1], *n & most);
      return change_tensors(all[1], [&](Tensor& t) {
        if (!is_integer(t.dtype)) return false;
        Array<Int> counts = read<Int>(t);
        for (Int& n : counts.data) n &= most;
        const Tensor before = t;
        write(counts, t);
        return before.bytes != t.bytes;
      });
    });
  }

  // A dropout that keeps the elements as they are. Which elements it keeps is drawn, so no answer can be foretold.
  void unscaled() {
    const auto differs = [](const cases::HostCall& call) {
      const double* p = std::get_if<double>(&call.arguments[1]);
      const bool* train = std::get_if<bool>(&call.arguments[2]);
      return call.valid() && p && *p > 0 && *p < 1 && !(train && !*train);
    };
    const auto explains = [differs](const Answered& a) {
      if (!differs(a.call) || a.refused() || a.outs.size() != 2) return false;
      const Array<Real> x = read<Real>(std::get<Tensor>(a.call.arguments[0])), y = read<Real>(a.outs[0]),
                        mask = read<Real>(a.outs[1]);
      if (x.count() != y.count() || x.count() != mask.count()) return false;
      for (Int k = 0; k < x.count(); ++k)
        if (mask[k] != 0 ? !is_same_number(x[k], y[k]) : y[k] != 0 && !std::isnan(y[k])) return false;
      return true;
    };
    found_.push_back({"do not divide the kept elements by 1 - p", About::computation, false, true, differs, explains});
  }

  // A number or tensor argument as numbers.
  static std::optional<Array<Real>> numbers_of(const Value& v) {
    if (const Tensor* t = std::get_if<Tensor>(&v))
      return info(t->dtype).kind < Kind::complex ? std::optional(read<Real>(*t)) : std::nullopt;
    const auto number = number_in(v);
    if (!number) return std::nullopt;
    Array<Real> one{Dims()};
    one.data.at(0) = real(*number);
    return one;
  }

  // The dtype in which a kernel computes with floating operands; none if no operand is floating.
  static std::optional<DType> floating_dtype(std::span<const Value> operands) {
    std::optional<DType> dtype;
    bool is_number = false;
    for (const Value& v : operands)
      if (const Tensor* t = std::get_if<Tensor>(&v); t && is_floating(t->dtype))
        dtype = t->dtype == DType::float64 || dtype == DType::float64 ? DType::float64 : DType::float32;
      else
        is_number = is_number || std::holds_alternative<double>(v);
    return dtype || !is_number ? dtype : DType::float32;
  }

  // A kernel of two operands whose formula gives each element another result than is right.
  void of_two_numbers(std::string does, Real (*f)(Real a, Real b, DType dtype)) {
    found_.push_back(spoiling(op_, std::move(does), [f](Tensor& out, const cases::HostCall& call) {
      const auto a = numbers_of(call.arguments[0]), b = numbers_of(call.arguments[1]);
      const auto dtype = floating_dtype(std::span(call.arguments).first(2));
      if (!a || !b || !dtype) return false;
      Array<Real> results(out.sizes);
      Int flat = 0;
      for (const Dims& i : indices(out.sizes)) {
        const Real y = families::broadcast(*b, out.sizes).at(i, flat);
        results[flat] = f(families::broadcast(*a, out.sizes).at(i, flat), round_to(*dtype, y), *dtype);
        ++flat;
      }
      write(results, out);
      return true;
    }));
  }

  void quotients() {
    if (is_named("::remainder.") && !is_named("Scalar_Tensor"))
      of_two_numbers("compute self - floor(self / other) * other, which loses bits", [](Real a, Real b, DType d) {
        const Real quotient = std::floor(round_to(d, a / b));
        return round_to(d, a - round_to(d, quotient * b));
      });
    const auto mode = std::ranges::find(op_.arguments, "rounding_mode", &SchemaArgument::name);
    if (op_.name == "aten::div.out" || op_.name == "aten::div.Scalar_out")
      of_two_numbers("multiply by the reciprocal of other",
                     [](Real a, Real b, DType d) { return round_to(d, a * round_to(d, 1 / b)); });
    if (op_.name != "aten::floor_divide.out" && mode == op_.arguments.end()) return;
    of_two_numbers("do not round (self - remainder) / other to an integer, and return infinity for 0 / 0",
                   [](Real a, Real b, DType d) {
                     const Real remainder = std::fmod(a, b);
                     if (b == 0) return std::copysign(std::numeric_limits<Real>::infinity(), a);
                     const Real quotient = round_to(d, round_to(d, a - remainder) / b);
                     return remainder != 0 && std::signbit(b) != std::signbit(remainder) ? round_to(d, quotient - 1)
                                                                                         : quotient;
                   });
    if (mode == op_.arguments.end()) return;
    const auto at = static_cast<std::size_t>(mode - op_.arguments.begin());
    Hypothesis& last = found_.back();
    last.differs = [at, differs = last.differs](const cases::HostCall& call) {
      const std::string* given = std::get_if<std::string>(&call.arguments[at]);
      return given && *given == "floor" && differs(call);
    };
  }

  // Sums of half types that are rounded after each term.
  void running_sums(bool is_mean) {
    found_.push_back(answering(op_, "round sums to the half type after each term",
                               [op = &op_, is_mean](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                                 std::vector<Tensor> outs = call.expected.outs;
                                 const DType dtype = outs[0].dtype;
                                 const auto rows = rows_of(*op, call);
                                 if (!rows || !is_half(dtype) ||
                                     info(std::get<Tensor>(call.arguments[0]).dtype).kind >= Kind::complex)
                                   return std::nullopt;
                                 const Array<Real> self = read<Real>(std::get<Tensor>(call.arguments[0]));
                                 const bool each = outs[0].count() != rows->number;  // whether each term has a result
                                 if (each && outs[0].count() != self.count()) return std::nullopt;
                                 Array<Real> results(outs[0].sizes);
                                 for (Int r = 0; r < rows->number; ++r) {
                                   Real sum = 0;
                                   for (Int k = 0; k < rows->length; ++k) {
                                     const Int at = rows->source[static_cast<std::size_t>(r * rows->length + k)];
                                     sum = round_to(dtype, sum + round_to(dtype, self[at]));
                                     results[each ? at : r] = is_mean ? sum / static_cast<Real>(rows->length) : sum;
                                   }
                                 }
                                 write(results, outs[0]);
                                 return with_results(call.expected, std::move(outs));
                               }));
  }

  // A formula of one number, computed in the dtype of the arithmetic, or in that of the result with zeros as they are.
  void of_one_number(std::string_view does, Real (*f)(Real x, DType dtype)) {
    for (const bool in_dtype_of_out : {false, true})
      found_.push_back(spoiling(op_, std::string(does), [f, in_dtype_of_out](Tensor& out, const cases::HostCall& call) {
        const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
        if (!self || info(self->dtype).kind >= Kind::complex || !is_floating(out.dtype)) return false;
        const DType computed = is_floating(self->dtype) ? compute_dtype(self->dtype) : DType::float32;
        Array<Real> all = read<Real>(*self);
        const Array<Real> right = read<Real>(out);
        for (Int k = 0; k < all.count(); ++k) {
          const bool stays = !std::isfinite(right[k]) || (in_dtype_of_out && all[k] == 0);
          all[k] = stays ? right[k] : f(all[k], in_dtype_of_out ? out.dtype : computed);
        }
        write(all, out);
        return true;
      }));
  }

  // Sums of exponentials that overflow, or that have few bits left, so that results are foretold roughly or not at all.
  void without_maximum(std::string does, Real (*subtracted)(Real maximum)) {
    const bool logarithm = op_.name == "aten::_log_softmax.out";
    struct Foretold {
      Array<Real> results;
      std::vector<Real> errors;  // that float32 arithmetic leaves
    };
    const auto foretell = [op = &op_, logarithm, subtracted](DType dtype,
                                                             const cases::HostCall& call) -> std::optional<Foretold> {
      const auto rows = rows_of(*op, call);
      if (!rows || !is_floating(dtype)) return std::nullopt;
      dtype = compute_dtype(dtype);
      Array<Real> self = read<Real>(std::get<Tensor>(call.arguments[0]));
      Foretold f{Array<Real>(std::get<Tensor>(call.arguments[0]).sizes), std::vector<Real>(self.data.size())};
      for (Int r = 0; r < rows->number; ++r) {
        const auto place = [&](Int k) { return rows->source[static_cast<std::size_t>(r * rows->length + k)]; };
        Real sum = 0, most = -std::numeric_limits<Real>::infinity();
        for (Int k = 0; k < rows->length; ++k) most = std::max(most, self[place(k)]);
        for (Int k = 0; k < rows->length; ++k) self[place(k)] -= subtracted(most);
        for (Int k = 0; k < rows->length; ++k) sum = round_to(dtype, sum + round_to(dtype, std::exp(self[place(k)])));
        for (Int k = 0; k < rows->length; ++k) {
          f.results[place(k)] =
              logarithm ? self[place(k)] - std::log(sum) : round_to(dtype, std::exp(self[place(k)])) / sum;
          const Real size = std::max(std::fabs(std::log(sum)), std::fabs(self[place(k)]));
          const bool has_few_bits = sum > 0 && std::isfinite(sum) && std::fabs(std::log(sum)) > 80;
          f.errors[static_cast<std::size_t>(place(k))] = has_few_bits ? std::numeric_limits<Real>::infinity()
                                                         : logarithm && std::isfinite(size) ? 4 * ulp(dtype, size)
                                                                                            : 0;
        }
      }
      return f;
    };
    Hypothesis h = spoiling(op_, std::move(does), [foretell](Tensor& out, const cases::HostCall& call) {
      const auto f = foretell(out.dtype, call);
      if (f) write(f->results, out);
      return f.has_value();
    });
    h.explains = [explains = h.explains, foretell](const Answered& a) {
      std::vector<Tensor> outs = a.outs;
      const auto f = a.call.valid() && !outs.empty() ? foretell(outs[0].dtype, a.call) : std::nullopt;
      if (!f || f->results.sizes != outs[0].sizes) return explains(a);
      Array<Real> got = read<Real>(outs[0]);
      for (Int k = 0; k < got.count(); ++k)
        if (std::fabs(got[k] - f->results[k]) <= f->errors[static_cast<std::size_t>(k)]) got[k] = f->results[k];
      write(got, outs[0]);
      return explains({a.call, a.failure, outs});
    };
    found_.push_back(std::move(h));
  }

  const Operator& op_;
  std::size_t inputs_;
  std::vector<Hypothesis> found_;
};

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

std::vector<Hypothesis> known_mistakes(const Operator& op) {
  std::vector<Hypothesis> all = Mistakes(op).all();
  for (auto* more : {mistakes_of_norms, mistakes_of_indices, mistakes_of_windows, mistakes_of_reductions,
                     mistakes_of_copies, mistakes_of_products, mistakes_of_quantization, mistakes_of_any_kernel})
    std::ranges::move(more(op), std::back_inserter(all));
  return all;
}

}  // namespace assay::defects

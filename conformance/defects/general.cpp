#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "conformance/cases/mutation.h"
#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"
#include "conformance/text/literal.h"

namespace assay::defects {
namespace {

std::string_view without_optional(std::string_view type) {
  return type.ends_with('?') ? type.substr(0, type.size() - 1) : type;
}
bool is_tensor(const SchemaArgument& a) { return without_optional(a.type) == "Tensor"; }
// The name of an operator without its overload, as "aten::fmod" of "aten::fmod.Tensor_out".
std::string_view base_name(const Operator& op) { return op.name.substr(0, op.name.find('.')); }

std::string_view results_of(const Operator& op, std::size_t output) {
  return op.outs() == 1 ? "results" : op.arguments[inputs_of(op) + output].name;
}

// A kernel that answers as if the call were another, in all results or in one of several.
void add_as_if(const Operator& op, std::vector<Hypothesis>& found, const std::string& does, const Change& change) {
  found.push_back(as_if(op, does, change));
  for (std::size_t k = 0; op.outs() > 1 && k < op.outs(); ++k)
    found.push_back(answering(op, fmt::format("{} for {}", does, results_of(op, k)),
                              [&op, change, k](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                                std::vector<Value> arguments = call.arguments;
                                if (!change(arguments)) return std::nullopt;
                                judge::Expectation e = judge::expect(op, arguments, Budget(cheap));
                                std::vector<Tensor> outs = call.expected.outs;
                                if (e.answer.outcome != Outcome::ok || k >= outs.size() ||
                                    e.outs[k].sizes != outs[k].sizes || e.outs[k].dtype != outs[k].dtype)
                                  return std::nullopt;
                                outs[k] = arranged(e.outs[k], outs[k].dim_order);
                                return with_results(call.expected, std::move(outs));
                              }));
}

// -- numbers ---------------------------------------------------------------------------------------------------------

struct OtherNumber {
  std::string_view says;  // with {} for the name of the argument
  Real (*of)(Real x);
};
constexpr auto other_numbers = std::to_array<OtherNumber>({
    {"{} + 1", [](Real x) { return x + 1; }},
    {"{} - 1", [](Real x) { return x - 1; }},
    {"twice {}", [](Real x) { return 2 * x; }},
    {"half of {}", [](Real x) { return x / 2; }},
    {"the absolute value of {}", [](Real x) { return std::fabs(x); }},
    {"the square of {}", [](Real x) { return x * x; }},
    {"1 / {}", [](Real x) { return 1 / x; }},
});

// Whether f changed a number, or one of a list. Integers are rounded toward 0; large ones stay.
bool change_numbers(Value& value, const std::function<Real(Real)>& f) {
  const auto integer = [&f](Int n) {
    const Real now = std::trunc(f(static_cast<Real>(n)));
    return std::isfinite(now) && std::fabs(now) < 0x1p31 && n > -(Int{1} << 31) && n < (Int{1} << 31)
               ? static_cast<Int>(now)
               : n;
  };
  if (const Int* n = std::get_if<Int>(&value)) return changed_to(value, integer(*n));
  if (const double* x = std::get_if<double>(&value)) return !std::isnan(*x) && changed_to(value, double{f(*x)});
  if (const Ints* list = std::get_if<Ints>(&value)) {
    Ints now = *list;
    std::ranges::transform(now, now.begin(), integer);
    return changed_to(value, std::move(now));
  }
  if (const Doubles* list = std::get_if<Doubles>(&value)) {
    Doubles now = *list;
    std::ranges::transform(now, now.begin(), f);
    return changed_to(value, std::move(now));
  }
  return false;
}

int first_rank(std::span<const Value> arguments) {
  for (const Value& v : arguments)
    if (const Tensor* t = std::get_if<Tensor>(&v)) return t->rank();
  return 0;
}

void mistakes_in_numbers(const Operator& op, std::vector<Hypothesis>& found) {
  for (std::size_t i = 0; i < inputs_of(op); ++i) {
    const SchemaArgument& a = op.arguments[i];
    if (names_dtype(a) || a.type.starts_with("Tensor")) continue;
    if (a.type == "bool")
      add_as_if(op, found, concat("take the opposite of ", a.name),
                [i](std::vector<Value>& all) { return changed_to(all[i], !std::get<bool>(all[i])); });
    else if (!is_dimension(a))
      for (const OtherNumber& other : other_numbers)
        add_as_if(op, found,
                  fmt::format("use {} in place of {}", fmt::format(fmt::runtime(other.says), a.name), a.name),
                  [i, of = other.of](std::vector<Value>& all) { return change_numbers(all[i], of); });
    else
      for (const int step : {-1, 1})
        add_as_if(op, found, fmt::format("use the dimension {} {}", step < 0 ? "before" : "behind", a.name),
                  [i, step](std::vector<Value>& all) {
                    const int rank = first_rank(all);
                    return rank > 1 && change_numbers(all[i], [&](Real d) { return std::fmod(d + rank + step, rank); });
                  });
    for (std::size_t j = 0; j < inputs_of(op); ++j)
      if (j != i && without_optional(op.arguments[j].type) == without_optional(a.type))
        add_as_if(op, found, fmt::format("use {} in place of {}", op.arguments[j].name, a.name),
                  [i, j](std::vector<Value>& all) {
                    if (is_same(all[i], all[j])) return false;
                    all[i] = all[j];
                    return true;
                  });
  }
}

// -- elements of tensors ---------------------------------------------------------------------------------------------

// A dimension of a tensor of any rank.
struct Along {
  std::string_view says;
  int dim;  // negative: counts from the end
  std::optional<int> in(const Tensor& t) const {
    const int d = dim < 0 ? dim + t.rank() : dim;
    return d >= 0 && d < t.rank() && t.sizes[d] > 1 ? std::optional(d) : std::nullopt;
  }
};
constexpr auto dimensions = std::to_array<Along>(
    {{"the last dimension", -1}, {"dimension 0", 0}, {"dimension 1", 1}, {"the last dimension but one", -2}});

// The place along a dimension of n elements from which a kernel takes element i; -1: it takes 0.
using Source = Int (*)(Int i, Int n);
bool take_from(Tensor& t, const Along& along, Source source) {
  const auto dim = along.in(t);
  if (!dim || info(t.dtype).is_opaque()) return false;
  const Int n = t.sizes[*dim];
  Tensor now = taken(t, *dim, n, [&](Int i) { return source(i, n); });
  if (now.bytes == t.bytes) return false;
  t = std::move(now);
  return true;
}

// A kernel that reads whole vectors, and not the rest behind them.
template <Int width>
Int without_rest(Int i, Int n) {
  return i < n / width * width ? i : -1;
}

struct OtherElements {
  std::string_view says;  // with {0} for the name of the tensor, and {1} for the dimension
  Source source;
};
constexpr auto read_elements = std::to_array<OtherElements>({
    {"read {0} in reverse order along {1}", [](Int i, Int n) { return n - 1 - i; }},
    {"read {0} one element too far along {1}", [](Int i, Int n) { return std::min(i + 1, n - 1); }},
    {"read {0} one element too early along {1}", [](Int i, Int) { return std::max<Int>(i - 1, 0); }},
    {"read the first element of {0} along {1} for all", [](Int, Int) { return Int{0}; }},
    {"read the last element of {0} along {1} for all", [](Int, Int n) { return n - 1; }},
    {"take the last element of {0} along {1} as 0", [](Int i, Int n) { return i == n - 1 ? -1 : i; }},
    {"take the first element of {0} along {1} as 0", [](Int i, Int) { return i == 0 ? -1 : i; }},
    {"take all elements of {0} but the first along {1} as 0", [](Int i, Int) { return i == 0 ? i : -1; }},
    {"take elements of {0} behind the last multiple of 4 along {1} as 0", without_rest<4>},
    {"take elements of {0} behind the last multiple of 8 along {1} as 0", without_rest<8>},
    {"take elements of {0} behind the last multiple of 16 along {1} as 0", without_rest<16>},
});
constexpr auto written_elements = std::to_array<OtherElements>({
    {"write {0} in reverse order along {1}", [](Int i, Int n) { return n - 1 - i; }},
    {"move {0} by one element along {1}", [](Int i, Int n) { return (i + n - 1) % n; }},
    {"move {0} back by one element along {1}", [](Int i, Int n) { return (i + 1) % n; }},
    {"write the first of {0} along {1} everywhere", [](Int, Int) { return Int{0}; }},
    {"write the last of {0} along {1} everywhere", [](Int, Int n) { return n - 1; }},
});

void mistakes_in_elements_of_inputs(const Operator& op, std::vector<Hypothesis>& found) {
  for (std::size_t i = 0; i < inputs_of(op); ++i) {
    if (!is_tensor(op.arguments[i])) continue;
    for (const OtherElements& other : read_elements)
      for (const Along& along : dimensions)
        add_as_if(op, found, fmt::format(fmt::runtime(other.says), op.arguments[i].name, along.says),
                  [i, along, source = other.source](std::vector<Value>& all) {
                    Tensor* t = std::get_if<Tensor>(&all[i]);
                    return t && take_from(*t, along, source);
                  });
  }
}

// A kernel that takes a tensor for a number.
void tensors_as_numbers(const Operator& op, std::vector<Hypothesis>& found) {
  for (std::size_t i = 0; i < inputs_of(op); ++i)
    if (is_tensor(op.arguments[i]))
      add_as_if(op, found, fmt::format("use the first element of {} for all", op.arguments[i].name),
                [i](std::vector<Value>& all) {
                  Tensor* t = std::get_if<Tensor>(&all[i]);
                  if (!t || t->count() < 2 || info(t->dtype).is_opaque()) return false;
                  const auto before = t->bytes;
                  Array<Element> elements = read<Element>(*t);
                  std::ranges::fill(elements.data, Element(elements[0]));
                  write(elements, *t);
                  return before != t->bytes;
                });
}

// A kernel whose loop behind the whole vectors begins at the first element of an input again.
void restarted_rests(const Operator& op, std::vector<Hypothesis>& found) {
  for (std::size_t i = 0; i < inputs_of(op); ++i)
    for (const Int width : {4, 8, 16, 32})
      if (is_tensor(op.arguments[i]))
        add_as_if(op, found,
                  fmt::format("read {} from its first element again behind the last multiple of {} elements",
                              op.arguments[i].name, width),
                  [i, width](std::vector<Value>& all) {
                    Tensor* t = std::get_if<Tensor>(&all[i]);
                    const std::size_t whole = t ? static_cast<std::size_t>(t->count() / width * width) : 0;
                    if (whole == 0 || info(t->dtype).is_opaque()) return false;
                    const auto before = t->bytes;
                    const std::size_t begin = whole * static_cast<std::size_t>(info(t->dtype).bytes);
                    std::copy_n(before.begin(), before.size() - begin,
                                t->bytes.begin() + static_cast<std::ptrdiff_t>(begin));
                    return before != t->bytes;
                  });
}

// A kernel that multiplies an input by a number argument that is the factor of another term.
void other_factors(const Operator& op, std::vector<Hypothesis>& found) {
  for (std::size_t i = 0; i < inputs_of(op); ++i)
    for (std::size_t j = 0; is_tensor(op.arguments[i]) && j < inputs_of(op); ++j) {
      if (!cases::takes_number(op.arguments[j].type) || is_dimension(op.arguments[j]) || names_dtype(op.arguments[j]))
        continue;
      add_as_if(op, found, fmt::format("multiply {} also by {}", op.arguments[i].name, op.arguments[j].name),
                [i, j](std::vector<Value>& all) {
                  Tensor* t = std::get_if<Tensor>(&all[i]);
                  const auto number = number_in(all[j]);
                  if (!t || !number || is_bool(*number) || info(t->dtype).is_opaque()) return false;
                  const Real factor = real(*number);
                  if (factor == 1 || !std::isfinite(factor) || (is_integer(t->dtype) && factor != std::trunc(factor)))
                    return false;
                  const DTypeInfo& d = info(info(t->dtype).part);
                  Array<Bits> parts = read_parts(*t);
                  for (Bits& b : parts.data) {
                    const Real product = d.real_of(b) * factor;
                    if (is_integer(t->dtype) && std::fabs(product) >= 0x1p62) return false;
                    b = d.bits_of_real(product);
                  }
                  const auto before = t->bytes;
                  write_parts(parts, *t);
                  return before != t->bytes;
                });
    }
}

// Whether the elements of a tensor are read in reverse order along each of its dimensions from `first` on.
bool reverse_from(Tensor& t, int first) {
  bool any = false;
  for (int d = first; d < t.rank(); ++d) any |= take_from(t, {"", d}, [](Int i, Int n) { return n - 1 - i; });
  return any;
}

// A kernel that takes the sizes of another tensor for those of an input, or broadcasts an input otherwise.
void mistakes_in_shapes(const Operator& op, std::vector<Hypothesis>& found) {
  for (std::size_t i = 0; i < inputs_of(op); ++i) {
    if (!is_tensor(op.arguments[i])) continue;
    const std::string_view name = op.arguments[i].name;
    found.push_back(as_if(op, fmt::format("read {} in reverse order along its spatial dimensions", name),
                          [i](std::vector<Value>& all) {
                            Tensor* t = std::get_if<Tensor>(&all[i]);
                            return t && reverse_from(*t, 2);
                          }));
    for (std::size_t j = 0; j < inputs_of(op); ++j)
      if (j != i && is_tensor(op.arguments[j]))
        found.push_back(as_if(op, fmt::format("read {} with the strides of {}", name, op.arguments[j].name),
                              [i, j](std::vector<Value>& all) {
                                Tensor* t = std::get_if<Tensor>(&all[i]);
                                const Tensor* other = std::get_if<Tensor>(&all[j]);
                                if (!t || !other || t->rank() != other->rank() || t->sizes == other->sizes ||
                                    t->count() < other->count())
                                  return false;
                                *t = cases::resized(*t, other->sizes);
                                return true;
                              }));
    found.push_back(
        answering(op, fmt::format("align {} with the first dimensions of the result in place of the last", name),
                  [&op, i](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                    std::vector<Value> arguments = call.arguments;
                    Tensor* t = std::get_if<Tensor>(&arguments[i]);
                    const int rank = call.expected.outs.empty() ? 0 : call.expected.outs[0].rank();
                    if (!t || t->count() < 2 || t->rank() >= rank) return std::nullopt;
                    Dims sizes = t->sizes;
                    for (int d = 0; d < sizes.size(); ++d)
                      if (sizes[d] != 1) sizes[d] = call.expected.outs[0].sizes[d];
                    while (sizes.size() < rank) sizes.push_back(1);

                    *t = cases::resized(*t, sizes);
                    judge::Expectation e = judge::expect(op, arguments, Budget(cheap));
                    return e.answer.outcome == Outcome::ok ? std::optional(std::move(e)) : std::nullopt;
                  }));
  }
}

// A kernel that takes for each result the element of an input at the same place in memory.
void places_of_results(const Operator& op, std::vector<Hypothesis>& found) {
  for (std::size_t i = 0; i < inputs_of(op); ++i)
    if (is_tensor(op.arguments[i]))
      found.push_back(answering(
          op,
          fmt::format("read {} in the order in which out lies in memory, whatever its own order", op.arguments[i].name),
          [&op, i](const cases::HostCall& call) -> std::optional<judge::Expectation> {
            std::vector<Value> arguments = call.arguments;
            Tensor* t = std::get_if<Tensor>(&arguments[i]);
            if (!t || call.expected.outs.empty() || t->sizes != call.expected.outs[0].sizes ||
                t->dim_order == call.expected.outs[0].dim_order)
              return std::nullopt;
            t->dim_order = call.expected.outs[0].dim_order;
            return judge::expect(op, arguments, Budget(cheap));
          }));
}

// A kernel that leaves out an end of each row that it combines.
void shortened_rows(const Operator& op, std::vector<Hypothesis>& found) {
  const auto dim = argument_of(op, "dim");
  if (!dim || !is_tensor(op.arguments[0]) || argument_of(op, "index") || argument_of(op, "start")) return;
  for (const bool is_first : {false, true})
    found.push_back(as_if(op, fmt::format("leave out the {} element of each row", is_first ? "first" : "last"),
                          [dim = *dim, is_first](std::vector<Value>& all) {
                            return cut_rows(all, dim, [is_first](Int n) {
                              return n < 2 ? std::pair(Int{0}, n) : std::pair(Int{is_first}, is_first ? n : n - 1);
                            });
                          }));
}

// -- other operators -------------------------------------------------------------------------------------------------

// For each input of an operator: the position of the argument of another operator's call that it takes; none: its
// default. None if the calls are too different.
using Taken = std::vector<std::optional<std::size_t>>;
std::optional<Taken> taken_by(const Operator& op, const Operator& from) {
  const auto type = [](const SchemaArgument& a) { return a.type.substr(0, a.type.find_first_of("[?")); };
  Taken taken;
  std::size_t tensors = 0;
  for (std::size_t i = 0; i < inputs_of(op); ++i) {
    const SchemaArgument& a = op.arguments[i];
    const auto named = argument_of(from, a.name);
    const bool is_at_same_place = i < inputs_of(from) && type(from.arguments[i]) == type(a);
    if (named && *named < inputs_of(from) && type(from.arguments[*named]) == type(a))
      taken.emplace_back(*named);
    else if (is_at_same_place && a.default_text.empty() && !argument_of(op, from.arguments[i].name))
      taken.emplace_back(i);
    else if (!a.default_text.empty())
      taken.emplace_back();
    else
      return std::nullopt;
    tensors += is_tensor(a) && taken.back();
  }
  const auto of_from = from.arguments.first(inputs_of(from));
  const auto all = std::ranges::count_if(of_from, [](const SchemaArgument& a) { return a.type == "Tensor"; });
  return static_cast<std::ptrdiff_t>(tensors) >= all && tensors > 0 ? std::optional(std::move(taken)) : std::nullopt;
}

void other_operators(const Operator& op, std::vector<Hypothesis>& found) {
  for (const Operator& other : operator_table()) {
    if (other.outs() != op.outs() || base_name(other) == base_name(op) || other.mutated() != op.mutated()) continue;
    const auto taken = taken_by(other, op);
    if (!taken) continue;
    found.push_back(
        answering(op, fmt::format("compute {} in its place", base_name(other)),
                  [&other, taken = *taken](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                    std::vector<Value> arguments;
                    for (std::size_t i = 0; i < taken.size(); ++i) {
                      const SchemaArgument& a = other.arguments[i];
                      arguments.push_back(taken[i] ? call.arguments[*taken[i]]
                                                   : text::read_literal(a.default_text, a.type, a.length));
                    }
                    const auto outs = std::span(call.arguments).last(other.outs());
                    arguments.insert(arguments.end(), outs.begin(), outs.end());
                    judge::Expectation e = judge::expect(other, arguments, Budget(cheap));
                    const auto is_alike = [](const Tensor& a, const Tensor& b) {
                      return a.sizes == b.sizes && a.dtype == b.dtype && a.dim_order == b.dim_order;
                    };
                    if (e.answer.outcome != Outcome::ok || !std::ranges::equal(e.outs, call.expected.outs, is_alike))
                      return std::nullopt;
                    return with_results(call.expected, std::move(e.outs));
                  }));
    found.back().about = About::computation, found.back().is_everywhere = true;
  }
}

// -- results ---------------------------------------------------------------------------------------------------------

// A number of a call by which a kernel may change its results.
struct Quantity {
  std::string says;
  std::function<std::optional<Real>(const cases::HostCall&)> of;
};
std::vector<Quantity> quantities_of(const Operator& op) {
  std::vector<Quantity> all;
  for (const Int n : {1, 2}) all.push_back({fmt::format("{}", n), [n](const auto&) { return static_cast<Real>(n); }});
  const auto results = [](const cases::HostCall& call) { return call.expected.outs[0].count(); };
  all.push_back({"the number of results", [results](const auto& call) { return static_cast<Real>(results(call)); }});
  for (std::size_t i = 0; i < inputs_of(op); ++i) {
    const SchemaArgument& a = op.arguments[i];
    const auto tensor = [i](const cases::HostCall& call) { return std::get_if<Tensor>(&call.arguments[i]); };
    if (is_tensor(a)) {
      all.push_back({concat("the number of elements of ", a.name), [tensor](const auto& call) {
                       const Tensor* t = tensor(call);
                       return t ? std::optional(static_cast<Real>(t->count())) : std::nullopt;
                     }});
      all.push_back(
          {fmt::format("the number of elements of {} for each result", a.name), [tensor, results](const auto& call) {
             const Tensor* t = tensor(call);
             return t && results(call) > 0
                        ? std::optional(static_cast<Real>(t->count()) / static_cast<Real>(results(call)))
                        : std::nullopt;
           }});
      all.push_back(
          {fmt::format("the number of elements of the last two dimensions of {}", a.name), [tensor](const auto& call) {
             const Tensor* t = tensor(call);
             const int n = t ? t->rank() : 0;
             return n > 1 ? std::optional(static_cast<Real>(t->sizes[n - 1] * t->sizes[n - 2])) : std::nullopt;
           }});
      for (const Along& along : dimensions)
        all.push_back({fmt::format("the size of {} along {}", a.name, along.says), [tensor, along](const auto& call) {
                         const Tensor* t = tensor(call);
                         const auto d = t ? along.in(*t) : std::nullopt;
                         return d ? std::optional(static_cast<Real>(t->sizes[*d])) : std::nullopt;
                       }});
    } else if (cases::takes_number(a.type) && !is_dimension(a) && !names_dtype(a)) {
      all.push_back({std::string(a.name), [i](const cases::HostCall& call) {
                       const auto number = number_in(call.arguments[i]);
                       return number ? std::optional(real(*number)) : std::nullopt;
                     }});
    }
  }
  return all;
}

struct Combination {
  std::string_view says;  // with {0} for the results, and {1} for the quantity
  Real (*of)(Real result, Real quantity);
  Real neutral;
};
constexpr auto combinations = std::to_array<Combination>({
    {"multiply {0} by {1}", [](Real x, Real y) { return x * y; }, 1},
    {"divide {0} by {1}", [](Real x, Real y) { return x / y; }, 1},
    {"add {1} to {0}", [](Real x, Real y) { return x + y; }, 0},
    {"subtract {1} from {0}", [](Real x, Real y) { return x - y; }, 0},
    {"take {0} modulo {1}", [](Real x, Real y) { return y > 0 && std::trunc(x) == x ? std::fmod(x, y) : x; }, 0},
});

// A function that a kernel applies to right results, or leaves out.
struct Function {
  std::string_view says;  // with {} for the results
  Real (*of)(Real x);
};
constexpr auto functions = std::to_array<Function>({
    {"return -x as {} where x is right", [](Real x) { return -x; }},
    {"return |x| as {} where x is right", [](Real x) { return std::fabs(x); }},
    {"return x * x as {} where x is right", [](Real x) { return x * x; }},
    {"return sqrt(x) as {} where x is right", [](Real x) { return std::sqrt(x); }},
    {"return 1 / x as {} where x is right", [](Real x) { return 1 / x; }},
    {"return exp(x) as {} where x is right", [](Real x) { return std::exp(x); }},
    {"return log(x) as {} where x is right", [](Real x) { return std::log(x); }},
    {"return log(1 + exp(x)) as {} where x is right",
     [](Real x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }},
    {"return 1 - x as {} where x is right", [](Real x) { return 1 - x; }},
    {"round {} to integers", [](Real x) { return std::nearbyint(x); }},
    {"round {} toward 0", [](Real x) { return std::trunc(x); }},
    {"round {} down", [](Real x) { return std::floor(x); }},
    {"round {} up", [](Real x) { return std::ceil(x); }},
});

// Results as they are before they are rounded, where these are known.
Array<Real> unrounded(const judge::Expectation& e, std::size_t output) {
  Array<Real> all = read<Real>(e.outs[output]);
  if (output < e.answer.unrounded.size() && e.answer.unrounded[output].values.size() == all.data.size())
    std::ranges::copy(e.answer.unrounded[output].values, all.data.begin());
  return all;
}

void conjugates(const Operator& op, std::vector<Hypothesis>& found) {
  found.push_back(spoiling(op, "give the conjugate of the right result", [](Tensor& out, const cases::HostCall&) {
    if (!is_complex(out.dtype)) return false;
    Array<Complex> all = read<Complex>(out);
    for (Complex& z : all.data) z = std::conj(z);
    const auto before = out.bytes;
    write(all, out);
    return out.bytes != before;
  }));
}

// A reduction that does not begin anew for each row: a result is combined with those before.
void kept_rows(const Operator& op, std::vector<Hypothesis>& found) {
  constexpr auto combined = std::to_array<Real (*)(Real, Real)>(
      {[](Real x, Real y) { return y < x ? y : x; }, [](Real x, Real y) { return y > x ? y : x; },
       [](Real x, Real y) { return x + y; }, [](Real x, Real y) { return x * y; }});
  if (!argument_of(op, "dim") || !is_tensor(op.arguments[0])) return;
  for (const auto& combine : combined)
    found.push_back(answering(op, "carry the result of a row over to the next",
                              [&op, combine](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                                std::vector<Tensor> outs = call.expected.outs;
                                const auto rows = rows_of(op, call);
                                if (!rows || outs[0].count() != rows->number ||
                                    info(outs[0].dtype).kind >= Kind::complex)
                                  return std::nullopt;
                                Array<Real> all = read<Real>(outs[0]);
                                std::optional<Array<Real>> places;
                                if (outs.size() == 2) places = read<Real>(outs[1]);
                                for (Int r = 1; r < all.count(); ++r) {
                                  const Real now = combine(all[r - 1], all[r]);
                                  if (places && now == all[r - 1]) (*places)[r] = (*places)[r - 1];
                                  all[r] = now;
                                }
                                write(all, outs[0]);
                                if (places) write(*places, outs[1]);
                                return with_results(call.expected, std::move(outs));
                              }));
}

// A function that changes each number of a result, unless it gives NaN; null: the kernel answers the call as is right.
using Changed = std::function<std::function<Real(Real)>(const cases::HostCall&)>;

// One of the right results as a kernel changes it; none if it does not.
std::optional<Tensor> changed_result(const cases::HostCall& call, std::size_t output, const Changed& f_of) {
  if (!call.valid() || output >= call.expected.outs.size()) return std::nullopt;
  Tensor out = call.expected.outs[output];
  const auto f = is_floating(out.dtype) || is_integer(out.dtype) ? f_of(call) : nullptr;
  if (!f) return std::nullopt;
  Array<Real> all = unrounded(call.expected, output);
  bool any = false, fits = true;  // zeros may only change their sign
  for (Real& x : all.data) {
    const Real now = f(x);
    if (std::isnan(now)) continue;
    any = any || now != x, fits = fits && std::fabs(now) < 0x1p62;
    x = now;
  }
  if (!any || (!fits && is_integer(out.dtype))) return std::nullopt;
  write(all, out);
  return out;
}

// Whether results are the same up to the rounding of right results before they were changed.
bool resembles(const Tensor& got, const Tensor& changed, const Tensor& right) {
  constexpr Real most_ulps = 64, most_ulps_of_halves = 4;
  if (got.dtype != changed.dtype || got.sizes != changed.sizes || got.dim_order != changed.dim_order) return false;
  if (got.bytes == changed.bytes) return true;
  if (!is_floating(got.dtype)) return false;
  const Array<Real> x = read<Real>(got), y = read<Real>(changed), z = read<Real>(right);
  const Real most = is_half(got.dtype) ? most_ulps_of_halves : most_ulps;
  for (Int k = 0; k < x.count(); ++k)
    if (!is_same_number(x[k], y[k]) &&
        !(std::fabs(x[k] - y[k]) <= most * ulp(got.dtype, std::max(std::fabs(y[k]), std::fabs(z[k])))))
      return false;
  return true;
}

// A kernel that changes one of its results.
void add_changed(const Operator& op, std::vector<Hypothesis>& found, std::string does, std::size_t output,
                 const Changed& f_of) {
  const auto differs = [=](const cases::HostCall& call) {
    const auto changed = changed_result(call, output, f_of);
    return changed && !resembles(call.expected.outs[output], *changed, call.expected.outs[output]);
  };
  const auto explains = [=, &op](const Answered& a) {
    const std::vector<Tensor>& right = a.call.expected.outs;
    if (a.refused() || a.outs.size() != right.size()) return false;
    const auto changed = changed_result(a.call, output, f_of);
    if (!changed || !resembles(a.outs[output], *changed, right[output])) return false;
    std::vector<Tensor> others = a.outs;
    others[output] = right[output];
    return !verdict::is_failure(
        judge::judge(op, a.call.expected.arguments, a.call.expected, {Outcome::ok, {}, {}, others}).verdict);
  };
  found.push_back({std::move(does), About::computation, false, false, differs, explains});
  found.back().knows_complex = false;
}

void mistakes_in_results(const Operator& op, std::vector<Hypothesis>& found) {
  for (std::size_t k = 0; k < op.outs(); ++k) {
    for (const OtherElements& other : written_elements)
      for (const Along& along : dimensions)
        found.push_back(answering(
            op, fmt::format(fmt::runtime(other.says), results_of(op, k), along.says),
            [k, along, source = other.source](const cases::HostCall& call) -> std::optional<judge::Expectation> {
              std::vector<Tensor> outs = call.expected.outs;
              if (k >= outs.size() || !take_from(outs[k], along, source)) return std::nullopt;
              return with_results(call.expected, std::move(outs));
            }));
    for (const Quantity& quantity : quantities_of(op))
      for (const Combination& combination : combinations)
        add_changed(op, found, fmt::format(fmt::runtime(combination.says), results_of(op, k), quantity.says), k,
                    [quantity, combination](const cases::HostCall& call) -> std::function<Real(Real)> {
                      const auto number = quantity.of(call);
                      if (!number || !std::isfinite(*number) || *number == combination.neutral) return nullptr;
                      return [of = combination.of, y = *number](Real x) { return of(x, y); };
                    });
    for (const Function& function : functions)
      add_changed(op, found, fmt::format(fmt::runtime(function.says), results_of(op, k)), k,
                  [of = function.of](const cases::HostCall&) { return of; });
  }
  conjugates(op, found);
  kept_rows(op, found);
  for (Hypothesis& h : found) h.about = About::computation;
}

// -- appearances -----------------------------------------------------------------------------------------------------

// The numbers of a result in ascending order, NaN at the end; none if they cannot be ordered.
std::optional<std::vector<Real>> sorted(const Tensor& t) {
  if (is_complex(t.dtype) || info(t.dtype).is_opaque()) return std::nullopt;
  std::vector<Real> all;
  for (const Real x : read<Real>(t).data) all.push_back(std::isnan(x) ? std::numeric_limits<Real>::infinity() : x);
  std::ranges::sort(all);
  return all;
}

// Results that are right numbers in wrong places.
Hypothesis in_other_places(const Operator& op, std::size_t output) {
  const auto differs = [output](const cases::HostCall& call) {
    if (!call.valid() || output >= call.expected.outs.size()) return false;
    const auto numbers = sorted(call.expected.outs[output]);
    return numbers && numbers->size() > 1 && numbers->front() != numbers->back();
  };
  const auto explains = [differs, output](const Answered& a) {
    if (!differs(a.call) || a.refused() || output >= a.outs.size()) return false;
    const Tensor &got = a.outs[output], &right = a.call.expected.outs[output];
    return got.dtype == right.dtype && got.sizes == right.sizes && got.bytes != right.bytes &&
           sorted(got) == sorted(right);
  };
  return {fmt::format("give the right numbers as {} in wrong places", results_of(op, output)),
          About::places,
          false,
          false,
          differs,
          explains};
}

// Results that differ from the right ones by one factor, or by one number, in each call.
Hypothesis changed_alike(const Operator& op, std::size_t output, bool is_factor) {
  const auto differs = [output](const cases::HostCall& call) {
    return call.valid() && output < call.expected.outs.size() && is_floating(call.expected.outs[output].dtype) &&
           call.expected.outs[output].count() > 1;
  };
  const auto explains = [=](const Answered& a) {
    if (!differs(a.call) || a.refused() || output >= a.outs.size()) return false;
    const Tensor &got = a.outs[output], &right = a.call.expected.outs[output];
    if (got.dtype != right.dtype || got.sizes != right.sizes) return false;
    const Array<Real> x = read<Real>(right), y = read<Real>(got);
    std::optional<Real> change;
    Int number = 0;
    for (Int k = 0; k < x.count(); ++k) {
      if (!std::isfinite(x[k]) || (is_factor && x[k] == 0)) continue;
      const Real now = is_factor ? y[k] / x[k] : y[k] - x[k];
      if (!change) change = now;
      const Real size = is_factor ? std::fabs(*change) : std::max(std::fabs(x[k]), std::fabs(y[k]));
      if (!(std::fabs(now - *change) <= 8 * ulp(right.dtype, size))) return false;
      ++number;
    }
    return number > 1 && *change != (is_factor ? 1 : 0);
  };
  return {fmt::format(fmt::runtime(is_factor ? "multiply {} by one number" : "add one number to {}"),
                      results_of(op, output)),
          About::places,
          false,
          false,
          differs,
          explains};
}

// Wrong results that are elements of an input, as all right ones are.
Hypothesis from_other_places(const Operator& op, std::size_t input) {
  const auto unique = [](std::vector<Real> all) {
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  };
  const auto come_from = [input, unique](const cases::HostCall& call, const Tensor& out) {
    const Tensor* from = std::get_if<Tensor>(&call.arguments[input]);
    if (!from || from->dtype != out.dtype) return false;
    const auto some = sorted(out), all = sorted(*from);
    return some && all && !some->empty() && !all->empty() && all->front() != all->back() &&
           std::ranges::includes(unique(*all), unique(*some));
  };
  const auto differs = [come_from](const cases::HostCall& call) {
    return call.valid() && come_from(call, call.expected.outs[0]);
  };
  const auto explains = [differs, come_from](const Answered& a) {
    return differs(a.call) && !a.refused() && !a.outs.empty() && a.outs[0].sizes == a.call.expected.outs[0].sizes &&
           come_from(a.call, a.outs[0]);
  };
  return {fmt::format("take elements of {} from wrong places", op.arguments[input].name),
          About::places,
          false,
          false,
          differs,
          explains};
}

}  // namespace

std::vector<Hypothesis> mistakes_of_any_kernel(const Operator& op) {
  std::vector<Hypothesis> found, computation;
  mistakes_in_numbers(op, found);
  mistakes_in_elements_of_inputs(op, found);
  tensors_as_numbers(op, found);
  restarted_rests(op, found);
  other_factors(op, found);
  mistakes_in_shapes(op, found);
  places_of_results(op, found);
  shortened_rows(op, found);
  mistakes_in_results(op, computation);
  std::ranges::move(computation, std::back_inserter(found));
  for (Hypothesis& h : found) h.is_general = true;
  other_operators(op, found);
  return found;
}

std::vector<Hypothesis> appearances_of(const Operator& op) {
  std::vector<Hypothesis> found;
  for (std::size_t k = 0; k < op.outs(); ++k) {
    found.push_back(in_other_places(op, k));
    for (const bool is_factor : {true, false}) found.push_back(changed_alike(op, k, is_factor));
  }
  for (std::size_t i = 0; i < inputs_of(op); ++i)
    if (is_tensor(op.arguments[i])) found.push_back(from_other_places(op, i));
  return found;
}

}  // namespace assay::defects

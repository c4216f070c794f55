#include "conformance/cases/mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "conformance/cases/special_numbers.h"
#include "dtype_lists.gen.h"
#include "reference/fault.h"

namespace assay::cases {
namespace {

constexpr std::array kind_names{"dtype",    "dtypes", "sizes",    "size",    "rank",  "layout", "values", "integer",
                                "scalar",   "list",   "length",   "text",    "none",  "out",    "number", "numbers",
                                "elements", "scale",  "exponent", "extents", "plain", "halves"};
static_assert(kind_names.size() == mutation_kinds + 3);

constexpr std::array all_dtypes = dtype_orders::mutated;
static_assert(all_dtypes.size() == dtype_orders::mutated_complex.size());  // one number names a dtype of either list
constexpr std::array<Int, 13> tried_integers{
    0, 1, 2, -1, 3, -2, 4, 7, -5, 100, -100, std::numeric_limits<Int>::max(), std::numeric_limits<Int>::min()};
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 tried_inf = std::numeric_limits<double>::infinity();
const std::array<Scalar, 14> scalars{Int{0}, Int{1}, Int{-1},  Int{2},       0.5,       1.0,        -1.5,
                                     true,   300.0,  Int{300}, not_a_number, tried_inf, -tried_inf, 1e300};
constexpr std::array tried_texts{"none", "tanh", "floor", "trunc", "nothing known", "amax"};
constexpr std::array<Int, 8> lengths{0, 1, 2, 3, 4, 5, 7, 16};
constexpr Int most_exact_elements = Int{1} << 20;  // of a tensor whose sizes are exactly stated
constexpr Int fewest_of_blocks = 256;              // elements of a dimension that kernels take in several blocks
constexpr std::size_t fewest_drawn = 4;            // elements, from which others are drawn
constexpr std::size_t most_bits = 24;              // of drawn numbers: what loops as often ends soon

std::size_t pick(Int n, std::size_t choices) { return static_cast<std::size_t>(static_cast<Bits>(n) % choices); }

// The positions of the in arguments that hold a T.
template <class T>
std::vector<std::size_t> holding(const Operator& op, std::span<const Value> arguments) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!op.arguments[i].out && std::holds_alternative<T>(arguments[i])) found.push_back(i);
  return found;
}

// Every in tensor, those of lists one by one.
std::vector<Tensor*> tensors_of(const Operator& op, std::vector<Value>& arguments) {
  std::vector<Tensor*> found;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (op.arguments[i].out) continue;
    if (Tensor* t = std::get_if<Tensor>(&arguments[i])) found.push_back(t);
    if (Tensors* list = std::get_if<Tensors>(&arguments[i]))
      for (auto& t : *list)
        if (t) found.push_back(&*t);
  }
  return found;
}

Dims nth_order(int rank, Int n) {
  Dims order = Dims::counting(rank);
  for (int d = rank; d > 1; --d) {  // the factorial digits of n, each a rotation
    std::rotate(order.begin() + (rank - d),
                order.begin() + (rank - d) + static_cast<Int>(pick(n, static_cast<std::size_t>(d))), order.end());
    n /= d;
  }
  return order;
}

bool has_fractions(DType dtype) { return is_floating(info(dtype).part); }

// A tensor like another, of the numbers, or parts of such, whose bits draw() gives one after another.
template <class Draw>
Tensor made_of(const Tensor& like, Draw draw) {
  Tensor out = make(like.dtype, like.sizes, like.dim_order);
  Array<Bits> numbers(Dims{like.count() * info(like.dtype).parts()});
  for (Bits& number : numbers.data) number = draw();
  write_parts(numbers, out);
  return out;
}

// Values that functions stumble over; the last palettes are plain numbers.
std::vector<Real> palette(const Tensor& tensor, Int n) {
  const bool floating = has_fractions(tensor.dtype);
  const Real most = floating ? largest(tensor.dtype) : largest_integer(tensor.dtype);
  const Real least = floating ? ulp(tensor.dtype, 0) : 1;
  std::array<std::vector<Real>, 6> palettes{{
      {0, 1, -1, 2, -2, 3, -3, 0.5},
      {-8.25, -3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 8.25},
      {0, -0.0, 1, -1, std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity(),
       -std::numeric_limits<Real>::infinity()},
      {most, -most, least, -least, 0, 1, most / 2},
      {100, -100, 88.75, -89, 1e4, -1e4, 65504, 1e-5, -1e-5},
      {1, 1, 1, 1},
  }};
  return std::move(palettes[pick(n, palettes.size())]);
}

Tensor filled(const Tensor& tensor, Int n, Int seed) {
  std::vector<Bits> choices;
  for (const Real x : palette(tensor, n))
    choices.push_back(info(tensor.dtype).bits_of_real(has_fractions(tensor.dtype) || std::isfinite(x) ? x : 0));
  Bits state = static_cast<Bits>(seed) * 0x9e3779b97f4a7c15u + 1;
  return made_of(tensor, [&] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return choices[(state >> 33) % choices.size()];
  });
}

Bits scrambled(Bits state) {  // splitmix64 (Steele, Lea, Flood 2014)
  state += 0x9e3779b97f4a7c15u;
  state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
  state = (state ^ state >> 27) * 0x94d049bb133111ebu;
  return state ^ state >> 31;
}

// An integer of at most `bits` bits, with a sign.
Int drawn_integer(Int bits, Bits draw) {
  const Int size = static_cast<Int>(scrambled(draw) & ((Bits{1} << pick(bits, most_bits)) - 1));
  return draw % 2 == 0 ? size : -size;
}

// The same with as many bits behind the point.
double drawn_fraction(Int bits, Bits draw) {
  const int places = static_cast<int>(pick(bits, most_bits)) / 2;
  return std::ldexp(static_cast<double>(drawn_integer(bits, draw)), -places);
}

Tensor drawn(const Tensor& tensor, Int bits, Int seed) {
  Bits draw = static_cast<Bits>(seed);
  return made_of(tensor, [&] {
    draw = scrambled(draw);
    return info(tensor.dtype)
        .bits_of_real(has_fractions(tensor.dtype) ? drawn_fraction(bits, draw)
                                                  : static_cast<Real>(drawn_integer(bits, draw)));
  });
}

// Each element one of the tensor's own.
Tensor resampled(const Tensor& tensor, Int seed) {
  const Array<Element> old = read<Element>(tensor);
  Array<Element> values(tensor.sizes);
  Bits draw = scrambled(static_cast<Bits>(seed));
  for (Element& v : values.data)
    v = old[static_cast<Int>(draw % static_cast<Bits>(old.count()))], draw = scrambled(draw);
  Tensor out = make(tensor.dtype, tensor.sizes, tensor.dim_order);
  write(values, out);
  return out;
}

// From -1000 to 1000, most often near 0.
int drawn_exponent(Int n, Int times) {
  return (static_cast<int>(pick(n, 64)) - 32) * static_cast<int>(pick(times, 32));
}

// The integer times a power of two; what does not fit is lost.
Int scaled(Int n, int exponent) { return static_cast<Int>(static_cast<Bits>(n) << pick(exponent, 64)); }

Tensor scaled(const Tensor& tensor, int exponent) {
  Tensor out = make(tensor.dtype, tensor.sizes, tensor.dim_order);
  const auto write_scaled = [&](auto values, auto change) {
    std::ranges::transform(values.data, values.data.begin(), change);
    write(values, out);
  };
  if (is_floating(tensor.dtype))
    write_scaled(read<Real>(tensor), [&](Real x) { return std::ldexp(x, exponent); });
  else if (is_complex(tensor.dtype))
    write_scaled(read<Complex>(tensor), [&](const Complex& z) {
      return Complex(std::ldexp(z.real(), exponent), std::ldexp(z.imag(), exponent));
    });
  else
    write_scaled(read<Int>(tensor), [&](Int n) { return scaled(n, exponent); });
  return out;
}

// The distinct sizes of all tensors, smallest first.
std::vector<Int> distinct_sizes(const std::vector<Tensor*>& tensors) {
  std::set<Int> sizes;
  for (const Tensor* t : tensors) sizes.insert(t->sizes.begin(), t->sizes.end());
  return {sizes.begin(), sizes.end()};
}

// The tensor in another dtype. Opaque dtypes have no conversions, so that the elements become zeros.
Tensor converted(const Tensor& t, Int n) {
  const DType dtype = (is_complex(t.dtype) ? dtype_orders::mutated_complex : all_dtypes)[pick(n, all_dtypes.size())];
  const bool opaque = info(t.dtype).kind == Kind::opaque || info(dtype).kind == Kind::opaque;
  return opaque ? make(dtype, t.sizes, t.dim_order) : cast(t, dtype);
}

// Replaces the n-th special numbers of a tensor by plain ones. Returns how many numbers changed.
Int make_plain(Tensor& t, Int n) {
  const SpecialNumbers& special = special_numbers[pick(n, special_numbers.size())];
  if (!special.plain || info(t.dtype).is_opaque()) return 0;
  const DTypeInfo& part = info(info(t.dtype).part);
  Array<Bits> numbers = read_parts(t);
  Int changed = 0;
  for (Bits& b : numbers.data)
    if (const Real x = part.real_of(b); special.has(x))
      if (const Bits now = part.bits_of_real(special.plain(x)); now != b) b = now, ++changed;
  if (changed > 0) write_parts(numbers, t);
  return changed;
}

void change_tensor(Tensor& t, const Mutation& m) {
  const Int a = m.n[1], b = m.n[2];
  Dims sizes = t.sizes;
  switch (m.kind) {
    case Mutation::Kind::dtype:
      t = converted(t, a);
      return;
    case Mutation::Kind::size:
      if (sizes.size() > 0)
        sizes[static_cast<Int>(pick(a, static_cast<std::size_t>(sizes.size())))] = lengths[pick(b, lengths.size())];
      break;
    case Mutation::Kind::rank:
      if (pick(a, 3) == 0 && sizes.size() > 0) sizes.erase(0);
      if (pick(a, 3) == 1 && sizes.size() < max_rank) sizes.insert(0, 1);
      if (pick(a, 3) == 2) sizes = {};
      break;
    case Mutation::Kind::layout:
      t = arranged(t, nth_order(t.rank(), a));
      return;
    case Mutation::Kind::values:
      t = info(t.dtype).kind == Kind::opaque ? t : filled(t, a, b);
      return;
    case Mutation::Kind::numbers:
      t = info(t.dtype).kind == Kind::opaque ? t : drawn(t, a, b);
      return;
    case Mutation::Kind::elements:
      t = resampled(t, b);
      return;
    case Mutation::Kind::scale:
      t = info(t.dtype).kind == Kind::opaque ? t : scaled(t, drawn_exponent(a, b));
      return;
    case Mutation::Kind::plain:
      make_plain(t, a);
      return;
    default:
      return;
  }
  if (count(sizes) <= 1 << 16) t = resized(t, sizes);
}

void change_sizes(const std::vector<Tensor*>& tensors, const Mutation& m) {
  const std::vector<Int> sizes = distinct_sizes(tensors);
  if (sizes.empty()) return;
  const Int old = sizes[pick(m.n[0], sizes.size())], now = lengths[pick(m.n[1], lengths.size())];
  for (Tensor* t : tensors) {
    Dims changed = t->sizes;
    std::ranges::replace(changed, old, now);
    if (count(changed) <= 1 << 16) *t = resized(*t, changed);
  }
}

// The elements of a floating tensor that are neither its largest nor its least numbers; all, if there are few others.
std::vector<Element> inner_elements(const Tensor& tensor) {
  const Array<Element> all = read<Element>(tensor);
  const Array<Real> numbers = read<Real>(tensor);
  const auto [least, most] = std::ranges::minmax(numbers.data);
  std::vector<Element> inner;
  for (Int k = 0; k < all.count(); ++k)
    if (least < numbers[k] && numbers[k] < most) inner.push_back(all[k]);
  return inner.size() < fewest_drawn ? std::vector<Element>(all.data.begin(), all.data.end()) : inner;
}

// A tensor like another with other sizes, of the elements that choose(i, flat, draw) returns for each index i.
template <class Choose>
Tensor of_chosen(const Tensor& like, const Dims& sizes, Choose choose) {
  Array<Element> values(sizes);
  Bits draw = scrambled(static_cast<Bits>(count(sizes)));
  Int flat = 0;
  for (const Dims& i : indices(sizes)) {
    values[flat] = choose(i, flat, draw);
    draw = scrambled(draw), ++flat;
  }
  Tensor out = make(like.dtype, sizes, like.dim_order);
  write(values, out);
  return out;
}

// The tensor with other sizes: its first elements, then some drawn from them, so that no two blocks are equal. In a
// floating tensor with a dimension that becomes long its elements come last, and its extreme numbers in the second half
// of such a dimension alone: kernels that work in blocks must find them there.
Tensor extended(const Tensor& tensor, const Dims& sizes) {
  const Array<Element> old = read<Element>(tensor);
  if (old.count() == 0) return make(tensor.dtype, sizes, tensor.dim_order);
  const auto drawn_from = [](const auto& elements, Bits draw) { return elements[draw % elements.size()]; };
  const auto becomes_long = [&](int d) { return sizes[d] > old.sizes[d] && sizes[d] >= fewest_of_blocks; };
  bool is_long = false;
  for (int d = 0; d < sizes.size(); ++d) is_long = is_long || becomes_long(d);
  if (!is_floating(tensor.dtype) || !is_long)
    return of_chosen(tensor, sizes, [&](const Dims&, Int flat, Bits draw) {
      return flat < old.count() ? old[flat] : drawn_from(old.data, draw);
    });
  const std::vector<Element> inner = inner_elements(tensor);
  return of_chosen(tensor, sizes, [&](const Dims& i, Int, Bits draw) {
    Dims own = i;
    bool is_own = true, is_late = false;
    for (int d = 0; d < sizes.size(); ++d) {
      own[d] -= std::max<Int>(sizes[d] - old.sizes[d], 0);
      is_own = is_own && own[d] >= 0;
      is_late = is_late || (becomes_long(d) && i[d] >= sizes[d] / 2);
    }
    return is_own ? old(own) : is_late ? drawn_from(old.data, draw) : drawn_from(inner, draw);
  });
}

bool can_extend(const Dims& sizes) {
  Int elements = 1;
  for (const Int n : sizes) {
    if (n < 0 || n > most_exact_elements) return false;
    elements = std::min(elements * n, most_exact_elements + 1);
  }
  return elements <= most_exact_elements;
}

// The integers of a call, those of lists one by one.
std::vector<Int*> integers_of(const Operator& op, std::vector<Value>& arguments) {
  std::vector<Int*> found;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (op.arguments[i].out || op.arguments[i].type.starts_with("ScalarType")) continue;
    if (Int* n = std::get_if<Int>(&arguments[i])) found.push_back(n);
    if (Ints* list = std::get_if<Ints>(&arguments[i]))
      for (Int& n : *list) found.push_back(&n);
  }
  return found;
}

void change_extents(const Operator& op, std::vector<Value>& arguments, const Mutation& m) {
  const std::vector<Tensor*> tensors = tensors_of(op, arguments);
  const std::vector<Int> sizes = distinct_sizes(tensors);
  if (sizes.empty()) return;
  const Int old = sizes[pick(m.n[0], sizes.size())];
  std::vector<Dims> changed;
  for (const Tensor* t : tensors) {
    std::ranges::replace(changed.emplace_back(t->sizes), old, m.n[1]);
    if (!can_extend(changed.back())) return;
  }
  for (std::size_t k = 0; k < tensors.size(); ++k)
    if (changed[k] != tensors[k]->sizes) *tensors[k] = extended(*tensors[k], changed[k]);
  if (m.n[2] == 0) return;
  for (Int* n : integers_of(op, arguments))
    if (*n == old) *n = m.n[1];
}

// The argument with that name, as one number or, behind an s, as a tensor of several; null if there is none.
Value* find_argument(const Operator& op, std::vector<Value>& arguments, std::string_view name) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (op.arguments[i].name == name || op.arguments[i].name == concat(name, "s")) return &arguments[i];
  return nullptr;
}

// Sets the number, or the elements of the tensor to number(0), number(1) and so on.
void set_numbers(Value& value, const std::function<Real(Int)>& number) {
  if (std::holds_alternative<double>(value)) value = static_cast<double>(number(0));
  if (std::holds_alternative<Int>(value)) value = static_cast<Int>(number(0));
  Tensor* t = std::get_if<Tensor>(&value);
  if (!t || is_complex(t->dtype) || info(t->dtype).is_opaque()) return;
  *t = made_of(*t, [&, k = Int{0}]() mutable { return info(t->dtype).bits_of_real(number(k++)); });
}

void change_to_halves(const Operator& op, std::vector<Value>& arguments, const Mutation& m) {
  Value* scale = find_argument(op, arguments, "scale");
  Value* zero_point = find_argument(op, arguments, "zero_point");
  const Value* least = find_argument(op, arguments, "quant_min");
  const Value* most = find_argument(op, arguments, "quant_max");
  const Tensor* input = std::get_if<Tensor>(&arguments[0]);
  if (!scale || !zero_point || !least || !most || !input || !is_floating(input->dtype)) return;
  const Real unit = std::ldexp(Real{1}, static_cast<int>(m.n[1])), offset = static_cast<Real>(m.n[0]);
  const Real first = static_cast<Real>(std::get<Int>(*least)) - offset,
             last = static_cast<Real>(std::get<Int>(*most)) - offset;
  set_numbers(*scale, [&](Int) { return unit; });
  set_numbers(*zero_point, [&](Int k) { return offset + static_cast<Real>(k); });
  set_numbers(arguments[0], [&](Int k) {
    const Real step = static_cast<Real>(k / 4);
    const std::array<Real, 4> below{step, -1 - step, first - 1 + step, last - step};
    return (below[pick(k, below.size())] + Real{0.5}) * unit;
  });
}

void change_dtypes(const std::vector<Tensor*>& tensors, const Mutation& m) {
  const DType old = tensors[pick(m.n[0], tensors.size())]->dtype;
  for (Tensor* t : tensors)
    if (t->dtype == old) *t = converted(*t, m.n[1]);
}

template <class List>
void change_length(List& list, Int n, const typename List::value_type& first) {
  const auto last = list.empty() ? first : list.back();
  list.resize(static_cast<std::size_t>(lengths[pick(n, lengths.size())]), last);
}

void change_list(Value& value, const Mutation& m) {
  Ints* ints = std::get_if<Ints>(&value);
  if (m.kind == Mutation::Kind::list) {
    if (ints && !ints->empty())
      (*ints)[pick(m.n[1], ints->size())] = tried_integers[pick(m.n[2], tried_integers.size())];
    return;
  }
  if (ints) change_length(*ints, m.n[1], 1);
  if (Doubles* doubles = std::get_if<Doubles>(&value)) change_length(*doubles, m.n[1], 1);
  if (Tensors* list = std::get_if<Tensors>(&value)) change_length(*list, m.n[1], std::nullopt);
}

void change_integer(Value& value, std::string_view type, Int n) {
  if (std::holds_alternative<bool>(value))
    value = !std::get<bool>(value);
  else if (type.starts_with("ScalarType"))
    value = static_cast<Int>(all_dtypes[pick(n, all_dtypes.size())]);
  else
    value = tried_integers[pick(n, tried_integers.size())];
}

void change_scalar(Value& value, std::string_view type, Int n) {
  const Scalar& s = scalars[pick(n, scalars.size())];
  if (type.starts_with("float"))
    value = static_cast<double>(real(s));
  else
    std::visit([&](auto v) { value = v; }, s);
}

void draw_number(Value& value, Int bits, Bits draw) {
  if (Int* n = std::get_if<Int>(&value)) *n = drawn_integer(bits, draw);
  if (double* x = std::get_if<double>(&value)) *x = drawn_fraction(bits, draw);
  if (Ints* list = std::get_if<Ints>(&value); list && !list->empty())
    (*list)[draw % list->size()] = drawn_integer(bits, draw);
  if (Doubles* list = std::get_if<Doubles>(&value); list && !list->empty())
    (*list)[draw % list->size()] = drawn_fraction(bits, draw);
}

void scale_number(Value& value, int exponent, Bits draw) {
  if (Int* n = std::get_if<Int>(&value)) *n = scaled(*n, exponent);
  if (double* x = std::get_if<double>(&value)) *x = std::ldexp(*x, exponent);
  if (Doubles* list = std::get_if<Doubles>(&value); list && !list->empty())
    (*list)[draw % list->size()] = std::ldexp((*list)[draw % list->size()], exponent);
}

bool is_integer_type(std::string_view type) {
  return type == "int" || type == "bool" || type == "ScalarType" || type == "int?" || type == "ScalarType?" ||
         type == "MemoryFormat?";
}
bool is_list_type(std::string_view type) { return type.find("[]") != std::string_view::npos; }
bool is_number_type(std::string_view type) {
  return type == "Scalar" || type == "Scalar?" || type == "float" || type == "float?";
}

template <class P>
std::vector<std::size_t> typed(const Operator& op, P holds) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < op.arguments.size(); ++i)
    if (!op.arguments[i].out && holds(op.arguments[i].type)) found.push_back(i);
  return found;
}

// The arguments that a kind of mutation chooses from by n0.
std::vector<std::size_t> targets(const Operator& op, std::span<const Value> arguments, Mutation::Kind kind) {
  switch (kind) {
    case Mutation::Kind::integer:
      return typed(op, is_integer_type);
    case Mutation::Kind::scalar:
      return typed(op, is_number_type);
    case Mutation::Kind::list:
      return holding<Ints>(op, arguments);
    case Mutation::Kind::length:
      return typed(op, is_list_type);
    case Mutation::Kind::text:
      return typed(op, [](std::string_view t) { return t.starts_with("str"); });
    case Mutation::Kind::exponent:
      return typed(op, [](std::string_view t) { return is_number_type(t) || t.starts_with("float["); });
    case Mutation::Kind::number:
      return typed(op, [](std::string_view t) { return takes_number(t) || is_list_type(t); });
    case Mutation::Kind::none:
      return typed(op, [](std::string_view t) { return t.ends_with('?'); });
    default:
      return {};
  }
}

bool changes_tensor(Mutation::Kind kind) {
  using enum Mutation::Kind;
  return kind == dtype || kind == size || kind == rank || kind == layout || kind == values || kind == numbers ||
         kind == elements || kind == scale || kind == plain;
}

}  // namespace

Tensor resized(const Tensor& tensor, const Dims& sizes) {
  const Array<Element> old = read<Element>(tensor);
  Array<Element> values(sizes);
  for (Int k = 0; k < values.count() && old.count() > 0; ++k) values[k] = old[k % old.count()];
  const bool same_rank = sizes.size() == tensor.rank();
  Tensor out = make(tensor.dtype, sizes, same_rank ? tensor.dim_order : Dims::counting(sizes.size()));
  write(values, out);
  return out;
}

std::string to_text(const Mutation& m) {
  return fmt::format("{}:{}:{}:{}", kind_names[static_cast<std::size_t>(m.kind)], m.n[0], m.n[1], m.n[2]);
}

Mutation mutation_from(std::string_view text) {
  const auto fault = [&] {
    return Fault(Outcome::malformed, "case.mutation",
                 fmt::format("'{}' is no mutation of the form kind:number:number:number", text));
  };
  const std::size_t colon = text.find(':');
  const auto kind = std::ranges::find(kind_names, text.substr(0, colon));
  if (colon == std::string_view::npos || kind == kind_names.end()) throw fault();
  Mutation m{static_cast<Mutation::Kind>(kind - kind_names.begin()), {}};
  const char* at = text.data() + colon;
  const char* end = text.data() + text.size();
  for (Int& n : m.n) {
    if (at == end || *at != ':') throw fault();
    const auto [rest, error] = std::from_chars(at + 1, end, n);
    if (error != std::errc{}) throw fault();
    at = rest;
  }
  if (at != end) throw fault();
  return m;
}

bool takes_number(std::string_view type) { return is_number_type(type) || type == "int" || type == "int?"; }

std::vector<Value> mutated(const Operator& op, std::vector<Value> changed, const Mutation& m) {
  const std::vector<Tensor*> tensors = tensors_of(op, changed);
  if (m.kind == Mutation::Kind::sizes) {
    change_sizes(tensors, m);
  } else if (m.kind == Mutation::Kind::extents) {
    change_extents(op, changed, m);
  } else if (m.kind == Mutation::Kind::halves) {
    change_to_halves(op, changed, m);
  } else if (m.kind == Mutation::Kind::dtypes) {
    if (!tensors.empty()) change_dtypes(tensors, m);
  } else if (m.kind == Mutation::Kind::out) {
    const std::size_t out = changed.size() - op.outs() + pick(m.n[0], op.outs());
    if (op.arguments[out].type == "Tensor") changed[out] = make(all_dtypes[pick(m.n[1], all_dtypes.size())], {0});
  } else if (changes_tensor(m.kind)) {
    if (!tensors.empty()) change_tensor(*tensors[pick(m.n[0], tensors.size())], m);
  } else if (const auto places = targets(op, changed, m.kind); !places.empty()) {
    const std::size_t at = places[pick(m.n[0], places.size())];
    Value& value = changed[at];
    if (m.kind == Mutation::Kind::integer) change_integer(value, op.arguments[at].type, m.n[1]);
    if (m.kind == Mutation::Kind::scalar) change_scalar(value, op.arguments[at].type, m.n[1]);
    if (m.kind == Mutation::Kind::list || m.kind == Mutation::Kind::length) change_list(value, m);
    if (m.kind == Mutation::Kind::number) draw_number(value, m.n[1], scrambled(static_cast<Bits>(m.n[2])));
    if (m.kind == Mutation::Kind::exponent)
      scale_number(value, drawn_exponent(m.n[1], m.n[2]), static_cast<Bits>(m.n[2]));
    if (m.kind == Mutation::Kind::text) value = std::string(tried_texts[pick(m.n[1], tried_texts.size())]);
    if (m.kind == Mutation::Kind::none) value = std::monostate{};
  }
  return changed;
}

namespace {

// The positions of an argument's tensors among all in tensors.
std::pair<Int, Int> tensors_of_one(const Operator& op, std::span<const Value> arguments, std::size_t argument) {
  const auto end = arguments.begin() + static_cast<std::ptrdiff_t>(argument);
  std::vector<Value> before(arguments.begin(), end), with(arguments.begin(), end + 1);
  return {static_cast<Int>(tensors_of(op, before).size()), static_cast<Int>(tensors_of(op, with).size())};
}

}  // namespace

std::vector<Mutation> plain_numbers_of(const Operator& op, std::span<const Value> arguments, std::size_t argument) {
  const auto [first, end] = tensors_of_one(op, arguments, argument);
  std::vector<Value> own(arguments.begin(), arguments.end());
  const std::vector<Tensor*> tensors = tensors_of(op, own);
  std::vector<std::pair<Int, Mutation>> found;
  for (Int t = first; t < end; ++t)
    for (Int k = 0; k < std::ssize(special_numbers); ++k) {
      Tensor changed = *tensors[static_cast<std::size_t>(t)];
      if (const Int n = make_plain(changed, k); n > 0) found.push_back({n, {Mutation::Kind::plain, {t, k, 0}}});
    }
  std::ranges::stable_sort(found, {}, [](const auto& f) { return f.first; });
  std::vector<Mutation> all;
  for (const auto& [n, mutation] : found) all.push_back(mutation);
  return all;
}

std::optional<Mutation> made_contiguous(const Operator& op, std::span<const Value> arguments, std::size_t argument) {
  const Tensor* t = std::get_if<Tensor>(&arguments[argument]);
  if (!t || t->dim_order == Dims::counting(t->rank())) return std::nullopt;
  return Mutation{Mutation::Kind::layout, {tensors_of_one(op, arguments, argument).first, 0, 0}};
}

std::vector<Mutation> changes_of(const Operator& op, std::span<const Value> arguments, std::size_t argument) {
  using enum Mutation::Kind;
  std::vector<Mutation> all;
  const auto add = [&](Mutation::Kind kind, Int target, std::size_t first, std::size_t second) {
    for (std::size_t a = 0; a < first; ++a)
      for (std::size_t b = 0; b < second; ++b)
        all.push_back({kind, {target, static_cast<Int>(a), static_cast<Int>(b)}});
  };
  std::vector<Value> own(arguments.begin(), arguments.end());
  const auto [first_tensor, end_tensor] = tensors_of_one(op, arguments, argument);
  const std::vector<Tensor*> tensors = tensors_of(op, own);
  for (Int t = first_tensor; t < end_tensor; ++t) {
    add(dtype, t, all_dtypes.size(), 1);
    add(dtypes, t, all_dtypes.size(), 1);
    add(rank, t, 3, 1);
    add(layout, t, 24, 1);
    add(size, t, static_cast<std::size_t>(tensors[static_cast<std::size_t>(t)]->rank()), lengths.size());
    add(values, t, 4, 2);
  }
  const auto target = [&](Mutation::Kind kind) -> std::optional<Int> {
    const auto places = targets(op, arguments, kind);
    const auto at = std::ranges::find(places, argument);
    return at == places.end() ? std::nullopt : std::optional<Int>(at - places.begin());
  };
  if (const auto t = target(integer)) add(integer, *t, std::max(tried_integers.size(), all_dtypes.size()), 1);
  if (const auto t = target(scalar)) add(scalar, *t, scalars.size(), 1);
  if (const auto t = target(text)) add(text, *t, tried_texts.size(), 1);
  if (const auto t = target(none)) add(none, *t, 1, 1);
  if (const auto t = target(length)) add(length, *t, lengths.size(), 1);
  if (const auto t = target(list)) add(list, *t, std::get<Ints>(arguments[argument]).size(), tried_integers.size());
  if (op.arguments[argument].out && op.arguments[argument].type == "Tensor")
    add(out, static_cast<Int>(argument + op.outs() - op.arguments.size()), all_dtypes.size(), 1);
  return all;
}

}  // namespace assay::cases

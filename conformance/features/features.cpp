#include "conformance/features/features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "conformance/cases/tensors.h"
#include "operators/arithmetic.gen.h"
#include "operators/logic.gen.h"
#include "reference/families.h"
#include "reference/fault.h"
#include "reference/words/dtypes.h"
#include "reference/words/shapes.h"

namespace assay::features {
namespace {

constexpr std::string_view breaks = "the entry forbids ";
constexpr Int most_dtypes = 64;      // an upper bound: the file format numbers fewer dtypes
constexpr Int most_pairs = 1 << 14;  // beyond the elements of the operands; each pair takes a tenth of a microsecond

// What holds for some elements of a tensor.
struct Elements {
  bool nan = false, infinity = false, zero = false, negative_zero = false, subnormal = false, negative = false,
       fraction = false, half = false, extreme = false, above_16m = false, above_2g = false, above_double = false,
       no_float32 = false, equal = false, different = false;
  Real least = 0, most = 0;  // the bounds of the finite elements and 0
};

Real lowest(DType dtype) { return is_floating(dtype) ? -largest(dtype) : least_integer(dtype); }
Real highest(DType dtype) { return is_floating(dtype) ? largest(dtype) : largest_integer(dtype); }

// The bounds of a dtype: nonzero numbers below `least_normal` are subnormal; those beyond `low` or `high` are extreme.
struct Ends {
  explicit Ends(DType dtype)
      : least_normal(is_floating(dtype) ? std::ldexp(Real{1}, info(dtype).least_exponent) : 0),
        low(is_floating(dtype) ? lowest(dtype) / 4 : lowest(dtype)),
        high(is_floating(dtype) ? highest(dtype) / 4 : highest(dtype)) {}
  Real least_normal, low, high;
};

bool has_fraction(Real x) { return std::isfinite(x) && x != std::trunc(x); }
bool is_halfway(Real x) { return std::isfinite(x) && std::fabs(x - std::trunc(x)) == 0.5; }
bool is_float32(Real x) { return static_cast<Real>(static_cast<float>(x)) == x; }

void look_at(Real x, const Ends& ends, Elements& e) {
  e.nan |= std::isnan(x), e.infinity |= std::isinf(x);
  e.zero |= x == 0 && !std::signbit(x), e.negative_zero |= x == 0 && std::signbit(x);
  e.negative |= x < 0;
  if (!std::isfinite(x)) return;
  const Real size = std::fabs(x);
  e.least = std::min(e.least, x), e.most = std::max(e.most, x);
  e.subnormal |= size > 0 && size < ends.least_normal;
  e.fraction |= has_fraction(x), e.half |= is_halfway(x);
  e.above_16m |= size > 0x1p24, e.above_2g |= size >= 0x1p31, e.above_double |= size > 0x1p53;
  e.no_float32 |= !is_float32(x);
  e.extreme |= x >= ends.high || (x < 0 && x <= ends.low);
}

// Keys of n numbers that were added. The set is small and forgets keys: it saves looking at the same numbers many
// times, as long tensors have them.
template <std::size_t n, int slot_bits>
class Seen {
 public:
  using Key = std::array<std::uint64_t, n>;
  explicit Seen(const Key& first) { keys_.fill(first); }

  bool add(const Key& key) {  // false if the set has the key
    std::uint64_t mixed = 0;
    for (const std::uint64_t k : key) mixed = std::rotl(mixed, 32) ^ k;
    mixed *= 0x9e3779b97f4a7c15u;  // 2^64 / the golden ratio
    return std::exchange(keys_[mixed >> (64 - slot_bits)], key) != key;
  }

 private:
  std::array<Key, std::size_t{1} << slot_bits> keys_;
};

// Whether two of the numbers are equal. Sorts the first numbers, then all: long tensors often have equal elements
// early.
bool sort_until_equal(std::span<Real> values) {
  constexpr std::size_t first = 256;
  const auto equal_among = [](std::span<Real> some) {
    std::ranges::sort(some);
    return std::ranges::adjacent_find(some) != some.end();
  };
  return equal_among(values.first(std::min(first, values.size()))) || (values.size() > first && equal_among(values));
}

// Looks at the elements of a tensor; at complex elements by their parts.
Elements elements_of(const Tensor& t) {
  Elements e;
  if (info(t.dtype).kind == Kind::opaque) return e;
  const Array<Bits> parts = read_parts(t);
  const auto real_of = info(t.dtype).real_of;
  const Ends ends(info(t.dtype).part);
  std::optional<Seen<1, 8>> seen;
  Buffer<Real> values;  // without NaN and without most repetitions
  for (const Bits bits : parts.data) {
    const bool is_new = !seen || seen->add({bits});
    if (!seen) seen.emplace(Seen<1, 8>::Key{bits});
    if (!is_new && e.equal) continue;
    const Real x = real_of(bits);
    e.equal |= !is_new && !std::isnan(x);
    if (!is_new) continue;
    look_at(x, ends, e);
    if (!std::isnan(x)) values.push_back(x);
  }
  e.different = std::ranges::any_of(values, [&](Real x) { return x != values.front(); });
  e.equal = e.equal || sort_until_equal(values);
  return e;
}

struct TensorFlag {
  std::string_view says;
  bool (*holds)(const Tensor&, const Elements&);
};

// Flags of each tensor, after its name; also of the call, after "a tensor", and for inputs after "an input".
constexpr auto tensor_flags = std::to_array<TensorFlag>({
    {"is floating", [](const Tensor& t, const Elements&) { return is_floating(t.dtype); }},
    {"is complex", [](const Tensor& t, const Elements&) { return is_complex(t.dtype); }},
    {"is of a half type", [](const Tensor& t, const Elements&) { return is_half(t.dtype); }},
    {"is of integers", [](const Tensor& t, const Elements&) { return is_integer(t.dtype); }},
    {"is of wide unsigned integers",
     [](const Tensor& t, const Elements&) {
       return t.dtype == DType::uint16 || t.dtype == DType::uint32 || t.dtype == DType::uint64;
     }},
    {"has no dimensions", [](const Tensor& t, const Elements&) { return t.rank() == 0; }},
    {"has a size of 0", [](const Tensor& t, const Elements&) { return t.count() == 0; }},
    {"has a size of 1",
     [](const Tensor& t, const Elements&) { return std::ranges::find(t.sizes, 1) != t.sizes.end(); }},
    {"has rows of one element",
     [](const Tensor& t, const Elements&) { return t.rank() > 0 && t.sizes[t.rank() - 1] == 1; }},
    {"has rows of a multiple of 4",
     [](const Tensor& t, const Elements&) { return t.rank() > 0 && t.sizes[t.rank() - 1] % 4 == 0; }},
    {"has rows of a multiple of 8",
     [](const Tensor& t, const Elements&) { return t.rank() > 0 && t.sizes[t.rank() - 1] % 8 == 0; }},
    {"is contiguous", [](const Tensor& t, const Elements&) { return cases::is_contiguous(t); }},
    {"is channels last", [](const Tensor& t, const Elements&) { return cases::is_channels_last(t); }},
});

// Flags of each input, after its name; also of the call, after "an input", and for results after "a result".
constexpr auto element_flags = std::to_array<TensorFlag>({
    {"has NaN", [](const Tensor&, const Elements& e) { return e.nan; }},
    {"has infinity", [](const Tensor&, const Elements& e) { return e.infinity; }},
    {"has a negative zero", [](const Tensor&, const Elements& e) { return e.negative_zero; }},
    {"has subnormal numbers", [](const Tensor&, const Elements& e) { return e.subnormal; }},
    {"has extreme numbers", [](const Tensor&, const Elements& e) { return e.extreme; }},
    {"has zeros", [](const Tensor&, const Elements& e) { return e.zero; }},
    {"has negative numbers", [](const Tensor&, const Elements& e) { return e.negative; }},
    {"has fractions", [](const Tensor&, const Elements& e) { return e.fraction; }},
    {"has numbers halfway between integers", [](const Tensor&, const Elements& e) { return e.half; }},
    {"has numbers above 2^24", [](const Tensor&, const Elements& e) { return e.above_16m; }},
    {"has numbers of 2^31 and more", [](const Tensor&, const Elements& e) { return e.above_2g; }},
    {"has numbers above 2^53", [](const Tensor&, const Elements& e) { return e.above_double; }},
    {"has numbers that float32 lacks", [](const Tensor&, const Elements& e) { return e.no_float32; }},
    {"has different numbers", [](const Tensor&, const Elements& e) { return e.different; }},
    {"has equal elements", [](const Tensor&, const Elements& e) { return e.equal; }},
});

// Flags of each number argument, after its name; also of the call, after "an argument".
struct NumberFlag {
  std::string_view says;
  bool (*holds)(Real);
};
constexpr auto number_flags = std::to_array<NumberFlag>({
    {"is NaN", [](Real x) { return std::isnan(x); }},
    {"is infinite", [](Real x) { return std::isinf(x); }},
    {"is extreme", [](Real x) { return std::isfinite(x) && std::fabs(x) >= 0x1p31; }},
    {"is negative", [](Real x) { return x < 0; }},
    {"is 0", [](Real x) { return x == 0; }},
    {"is 1", [](Real x) { return x == 1; }},
    {"is a fraction", has_fraction},
    {"is no float32", [](Real x) { return std::isfinite(x) && !is_float32(x); }},
});

// What holds for at least one pair of elements of the first two operands, as they broadcast.
struct Pairs {
  bool equal = false, held_as_equal = false, held_as_0 = false, opposite_signs = false, negative = false,
       remainder = false, remainder_of_opposite_signs = false, remainder_by_held = false,
       quotient_of_negative_below_1 = false, quotient_below_1 = false, quotient_above_2g = false,
       quotient_below_minus_2g = false, reciprocal = false, least_by_minus_1 = false, power_above_2g = false,
       power_above_double = false, power_beyond = false, power_by_float64 = false, count_of_bits = false,
       left_shift = false, right_shift = false;
};

// Whether the operator's name has one of the words, which are separated by spaces; true if there are none.
bool is_named(const Operator& op, std::string_view words) {
  for (std::size_t begin = 0, end = 0; begin < words.size(); begin = end + 1) {
    end = std::min(words.find(' ', begin), words.size());
    if (op.name.find(words.substr(begin, end - begin)) != std::string_view::npos) return true;
  }
  return words.empty();
}
constexpr std::string_view of_divisions = "div mod remainder", of_powers = "pow", of_shifts = "shift";

// Examines pairs of operands of a common dtype. Powers and shifts are costly, so they are examined only for operators
// whose flags report them.
class PairsOf {
 public:
  PairsOf(const Operator& op, DType dtype)
      : dtype_(dtype),
        bits_(static_cast<int>(8 * info(dtype).bytes)),
        is_power_(is_named(op, of_powers)),
        is_shift_(is_named(op, of_shifts)) {}

  void look_at(Real a, Real b) {
    look_at_both(a, b);
    if (b != 0) look_at_quotient(a, b, a / b);
    if (is_power_) look_at_power(a, b);
    if (is_shift_ && !is_floating(dtype_)) look_at_shift(b, truncated_to(dtype_, a), truncated_to(dtype_, b));
  }

  const Pairs& found() const { return p_; }

 private:
  // The number after conversion to the dtype.
  Real held(Real x) const {
    if (is_floating(dtype_)) return round_to(dtype_, x);
    return static_cast<Real>(wrap_to(dtype_, truncated_to(DType::int64, x)));
  }

  void look_at_both(Real a, Real b) {
    const Real divisor = held(b);
    p_.equal |= a == b;
    p_.held_as_equal |= a != b && held(a) == divisor;
    p_.held_as_0 |= b != 0 && divisor == 0;
    p_.opposite_signs |= (a < 0 && b > 0) || (a > 0 && b < 0);
    p_.negative |= a < 0 && b < 0;
    if (divisor == b) return;
    const Real exact = std::fmod(a, b);
    p_.remainder_by_held |= !std::isnan(exact) && exact != std::fmod(a, divisor);
  }

  void look_at_quotient(Real a, Real b, Real quotient) {
    if (!p_.remainder || !p_.remainder_of_opposite_signs) {
      const bool remains = std::fmod(a, b) != 0;
      p_.remainder |= remains;
      p_.remainder_of_opposite_signs |= remains && ((a < 0 && b > 0) || (a > 0 && b < 0));
    }
    p_.quotient_of_negative_below_1 |= a < 0 && b < 0 && quotient < 1;
    p_.quotient_below_1 |= std::fabs(quotient) < 1;
    p_.quotient_above_2g |= quotient >= 0x1p31;
    p_.quotient_below_minus_2g |= quotient <= -0x1p31;
    p_.least_by_minus_1 |= is_integer(dtype_) && a == least_integer(dtype_) && b == -1;
    if (p_.reciprocal || !is_floating(dtype_) || !std::isfinite(quotient)) return;
    const Rounding round{compute_dtype(dtype_)};
    p_.reciprocal = round(quotient) != round(a * round(1 / b));
  }

  void look_at_power(Real a, Real b) {
    if (b > 0 && std::fabs(a) > 1) {
      const Real logarithm = std::log2(std::fabs(a)) * b;
      p_.power_above_2g |= logarithm >= 31;
      p_.power_above_double |= logarithm > 53;
      p_.power_beyond |= !is_floating(dtype_) && logarithm >= bits_ - 1;
    }
    if (p_.power_by_float64 || is_floating(dtype_)) return;
    const Int power = operators::pow(truncated_to(dtype_, a), truncated_to(dtype_, b));
    p_.power_by_float64 = truncated_to(dtype_, std::pow(a, b)) != wrap_to(dtype_, power);
  }

  void look_at_shift(Real b, Int n, Int m) {
    p_.count_of_bits |= b >= bits_;
    p_.left_shift = p_.left_shift || differs_in_register(operators::bitwise_left_shift, n, m);
    p_.right_shift = p_.right_shift || differs_in_register(operators::bitwise_right_shift, n, m);
  }

  // Processors take the shift count modulo the width of a register.
  template <class Shift>
  bool differs_in_register(Shift shift, Int n, Int count) const {
    const Int in_register = count & (bits_ == 64 ? 63 : 31);
    return in_register != count && wrap_to(dtype_, shift(n, count)) != wrap_to(dtype_, shift(n, in_register));
  }

  DType dtype_;
  int bits_;
  bool is_power_, is_shift_;
  Pairs p_;
};

// Flags of the call. Those about quotients, powers and shifts apply to operators with `of_operators` in their names.
struct PairFlag {
  std::string_view says;
  bool Pairs::*holds;
  std::string_view of_operators = "";
};
constexpr auto pair_flags = std::to_array<PairFlag>({
    {"both operands are equal somewhere", &Pairs::equal},
    {"both operands differ and their dtype holds them as equal somewhere", &Pairs::held_as_equal},
    {"the second operand is not 0 and their dtype holds it as 0 somewhere", &Pairs::held_as_0},
    {"both operands have opposite signs somewhere", &Pairs::opposite_signs},
    {"both operands are negative somewhere", &Pairs::negative},
    {"a remainder of operands of opposite signs is not 0 somewhere", &Pairs::remainder_of_opposite_signs, of_divisions},
    {"a remainder is not 0 somewhere", &Pairs::remainder, of_divisions},
    {"a remainder by what the dtype holds of the second operand is another somewhere", &Pairs::remainder_by_held,
     of_divisions},
    {"a quotient of negative operands is below 1 somewhere", &Pairs::quotient_of_negative_below_1, of_divisions},
    {"a quotient is below 1 somewhere", &Pairs::quotient_below_1, of_divisions},
    {"a quotient is 2^31 or more somewhere", &Pairs::quotient_above_2g, of_divisions},
    {"a quotient is -2^31 or less somewhere", &Pairs::quotient_below_minus_2g, of_divisions},
    {"a quotient differs from the product with the reciprocal somewhere", &Pairs::reciprocal, of_divisions},
    {"the least integer is divided by -1 somewhere", &Pairs::least_by_minus_1, of_divisions},
    {"a power is 2^31 or more somewhere", &Pairs::power_above_2g, of_powers},
    {"a power is above 2^53 somewhere", &Pairs::power_above_double, of_powers},
    {"a power is beyond its integers somewhere", &Pairs::power_beyond, of_powers},
    {"a power by way of float64 is another integer somewhere", &Pairs::power_by_float64, of_powers},
    {"the second operand is no less than the bits of the first somewhere", &Pairs::count_of_bits, of_shifts},
    {"a left shift by the count modulo the bits of a register is another somewhere", &Pairs::left_shift, of_shifts},
    {"a right shift by the count modulo the bits of a register is another somewhere", &Pairs::right_shift, of_shifts},
});

constexpr std::string_view argument_no_number = "an argument is no number of the first input's dtype",
                           result_is_rounded = "a result is rounded to an integer",
                           inputs_beyond_result = "an input has numbers beyond the dtype of the first result",
                           no_freedom = "the correction takes all degrees of freedom somewhere";

constexpr auto plain_call_flags = std::to_array<std::string_view>({
    call_is_valid,
    "every dim order is contiguous",
    "every dim order is channels last",
    "every dim order is contiguous or channels last",
    "the dim orders are one for all",
    "the inputs have different sizes",
    "the inputs have different ranks",
    "the inputs have different dtypes",
    results_are_empty,
    "an out has another dtype than its result",
    "an argument is None",
    "an argument is a bool where numbers are",
    "an argument is an integer where numbers are",
    "an argument is a float where numbers are",
    "a list is empty",
    argument_no_number,
    result_is_rounded,
    inputs_beyond_result,
    no_freedom,
});

Phrase phrase(std::string_view subject, std::string_view says) { return concat(subject, ' ', says); }

// A lambda, not a function pointer, so that comparisons can inline it.
constexpr auto place_of = [](Phrase p) { return p.place(); };

// Compares texts by their addresses, so the texts must outlive the map.
struct ByPlace {
  std::size_t operator()(std::string_view text) const { return std::hash<const char*>()(text.data()); }
  bool operator()(std::string_view a, std::string_view b) const { return a.data() == b.data() && a.size() == b.size(); }
};
template <class T>
using OfTexts = std::unordered_map<std::string_view, T, ByPlace, ByPlace>;

// The phrases about a tensor or a number, each made once.
class Subject {
 public:
  explicit Subject(std::string_view name) : name_(name) {}

  // The text must outlive the subject, as the texts of the flags do.
  Phrase operator()(std::string_view says) {
    const auto at = said_.find(says);
    return at != said_.end() ? at->second : said_.emplace(says, phrase(name_, says)).first->second;
  }

 private:
  std::string name_;
  OfTexts<Phrase> said_;
};

Subject& subject(std::string_view name) {
  thread_local OfTexts<Subject> known;  // names are from schemas or are literals in this file
  return known.try_emplace(name, name).first->second;
}

class Describing {
 public:
  Describing(const Operator& op, const cases::HostCall& call) : op_(op), call_(call) {}

  Features features() && {
    for (std::size_t i = 0; i < op_.arguments.size(); ++i) describe(op_.arguments[i], call_.arguments[i]);
    describe_pair();
    describe_bounds();
    describe_sizes();
    describe_dimensions();
    describe_shifts();
    describe_groups();
    describe_layouts();
    describe_results();
    say_if(different(input_dtypes_), "the inputs have different dtypes");
    std::ranges::sort(flags_, {}, place_of);
    flags_.erase(std::unique(flags_.begin(), flags_.end()), flags_.end());
    return {std::move(flags_), std::move(measures_)};
  }

 private:
  void say(Phrase flag) { flags_.push_back(flag); }
  void say(std::string_view name, std::string_view says) { say(subject(name)(says)); }
  void say_if(bool holds, std::string_view flag) {
    if (holds) say(flag);
  }
  void measure(Phrase name, double amount) { measures_.push_back({name, amount}); }

  template <class T>
  static bool different(const std::vector<T>& all) {
    return std::ranges::adjacent_find(all, std::not_equal_to()) != all.end();
  }

  void describe(const SchemaArgument& a, const Value& value) {
    const std::string_view name = a.name;
    std::visit(
        [&]<class T>(const T& v) {
          if constexpr (std::is_same_v<T, std::monostate>) {
            if (!a.out) say("an argument is None"), say(name, "is None");
          } else if constexpr (std::is_same_v<T, Tensor>) {
            const Elements e = tensor(a, v);
            shape(name, v);
            if (!a.out) numbers(name, e), named_inputs_.emplace_back(name, &v);
          } else if constexpr (std::is_same_v<T, Tensors>) {
            measure(subject("the length of")(name), static_cast<double>(v.size()));
            say_if(v.empty(), "a list is empty");
            cases::each_tensor(value, [&](const Tensor& t) { tensor(a, t); });
            if (std::ranges::any_of(v, [](const auto& t) { return !t; })) say(name, "has None");
            if (!v.empty() && !v[0]) say(name, "has None at its beginning");
          } else if constexpr (std::is_same_v<T, bool>) {
            if (v) say(name, "is true");
            if (a.type.starts_with("Scalar") && !a.type.starts_with("ScalarType"))
              say(name, "is a bool"), say("an argument is a bool where numbers are");
          } else if constexpr (std::is_same_v<T, std::string>) {
            say(phrase(name, concat("is \"", v, "\"")));
          } else if constexpr (std::is_same_v<T, Int> || std::is_same_v<T, double>) {
            number(a, v);
          } else {
            list(name, v);
          }
        },
        value);
  }

  Elements tensor(const SchemaArgument& a, const Tensor& t) {
    const std::string_view dtype = subject("is")(info(t.dtype).name);
    say(a.name, dtype), say("a tensor", dtype);
    orders_.push_back(&t);
    const Elements e = a.out ? Elements() : elements_of(t);
    for (const TensorFlag& flag : tensor_flags)
      if (flag.holds(t, e)) {
        say(a.name, flag.says), say("a tensor", flag.says);
        if (!a.out) say("an input", flag.says);
      }
    if (a.out) return e;
    for (const TensorFlag& flag : element_flags)
      if (flag.holds(t, e)) say(a.name, flag.says), say("an input", flag.says);
    least_ = std::min(least_, e.least), most_ = std::max(most_, e.most);
    say("an input", dtype);
    input_sizes_.push_back(t.sizes), input_dtypes_.push_back(t.dtype);
    return e;
  }

  void numbers(std::string_view name, const Elements& e) {
    measure(subject("the least number of")(name), static_cast<double>(e.least));
    measure(subject("the largest number of")(name), static_cast<double>(e.most));
  }

  void shape(std::string_view name, const Tensor& t) {
    const auto size = [&](std::string_view which, Int amount) {
      measure(subject(which)(name), static_cast<double>(amount));
    };
    size("the rank of", t.rank());
    size("the number of elements of", t.count());
    if (t.rank() > 0) size("the first size of", t.sizes[0]);
    if (t.rank() > 0) size("the last size of", t.sizes[t.rank() - 1]);
  }

  template <class T>
  void number(const SchemaArgument& a, T v) {
    const std::string_view name = a.name;
    if (a.type.starts_with("ScalarType")) {
      if constexpr (std::is_same_v<T, Int>)
        if (const auto dtype = dtype_numbered(v)) say(name, subject("is")(info(*dtype).name));
      return;
    }
    if (a.type.starts_with("Scalar")) {
      const std::string_view kind = std::is_same_v<T, Int> ? "is an integer" : "is a float";
      say(name, kind), say(phrase("an argument", phrase(kind, "where numbers are")));
    }
    const auto x = static_cast<Real>(v);
    if (a.type.starts_with("Scalar") && !input_dtypes_.empty() && std::isfinite(x) &&
        !is_held(tensor_of(v), input_dtypes_[0]))
      say(name, "is no number of the first input's dtype"), say(argument_no_number);
    for (const NumberFlag& flag : number_flags)
      if (flag.holds(x)) say(name, flag.says), say("an argument", flag.says);
    if (!std::isnan(x)) measure(name, static_cast<double>(x));
  }

  static bool is_held(const Tensor& number, DType by) {
    return info(by).kind == Kind::opaque || read<Real>(number, by).data[0] == read<Real>(number).data[0];
  }

  template <class List>
  void list(std::string_view name, const List& v) {
    measure(subject("the length of")(name), static_cast<double>(v.size()));
    say_if(v.empty(), "a list is empty");
    if (!input_sizes_.empty() && v.size() == static_cast<std::size_t>(input_sizes_[0].size()))
      say(name, "is of one entry for each dimension");
    if (v.empty()) return;
    const auto [least, most] = std::ranges::minmax_element(v);
    measure(subject("the least of")(name), static_cast<double>(*least));
    measure(subject("the largest of")(name), static_cast<double>(*most));
    if (std::ranges::find(v, 0) != v.end()) say(name, "has a 0");
    if (*least != *most) say(name, "has different entries");
  }

  // Describes the first two arguments that are numbers or tensors, if they broadcast.
  void describe_pair() {
    std::vector<std::size_t> operands;
    for (std::size_t i = 0; i < op_.arguments.size() && operands.size() < 2; ++i)
      if (is_operand(op_.arguments[i], call_.arguments[i])) operands.push_back(i);
    if (operands.size() < 2) return;
    const Pairs found = pairs_of(numbers_of(call_.arguments[operands[0]]), numbers_of(call_.arguments[operands[1]]),
                                 common_dtype(operands));
    for (const PairFlag& flag : pair_flags) say_if(found.*flag.holds && is_named(op_, flag.of_operators), flag.says);
  }

  // Numbers named min and max bound a result from below and from above.
  void describe_bounds() {
    const auto number = [&](std::string_view name) {
      const auto at = std::ranges::find(op_.arguments, name, &SchemaArgument::name);
      return at == op_.arguments.end()
                 ? std::nullopt
                 : number_in(call_.arguments[static_cast<std::size_t>(at - op_.arguments.begin())]);
    };
    const auto low = number("min"), high = number("max");
    say_if(low && high && real(*low) > real(*high), "min is above max");
  }

  // Compares the inputs pairwise if there are more than two. For two inputs, the first flag is enough.
  void describe_sizes() {
    say_if(different(input_sizes_), "the inputs have different sizes");
    const auto rank = [](const Dims& sizes) { return sizes.size(); };
    say_if(std::ranges::adjacent_find(input_sizes_, std::not_equal_to(), rank) != input_sizes_.end(),
           "the inputs have different ranks");
    const std::span all(named_inputs_);
    for (std::size_t i = 0; all.size() > 2 && i < all.size(); ++i)
      for (const auto& [other, tensor] : all.subspan(i + 1))
        if (all[i].second->sizes != tensor->sizes)
          say(phrase(all[i].first, concat("and ", other, " have different sizes")));
    describe_lengths();
  }

  // Compares the first sizes of an input and of a list of inputs, as kernels do with indices and the values for them.
  void describe_lengths() {
    for (std::size_t i = 0; i < op_.arguments.size(); ++i) {
      const Tensors* list = std::get_if<Tensors>(&call_.arguments[i]);
      if (!list || op_.arguments[i].out) continue;
      for (const auto& [name, tensor] : named_inputs_) {
        const auto differs = [t = tensor](const std::optional<Tensor>& item) {
          return item && (item->rank() == 0 || t->rank() == 0 || item->sizes[0] != t->sizes[0]);
        };
        if (std::ranges::any_of(*list, differs))
          say(phrase(name, concat("and ", op_.arguments[i].name, " have different first sizes")));
      }
    }
  }

  // The number of elements of the first input that a dimension argument names.
  void describe_dimensions() {
    const auto at = std::ranges::find(op_.arguments, "dim", &SchemaArgument::name);
    if (at == op_.arguments.end() || named_inputs_.empty()) return;
    const Int* dim = std::get_if<Int>(&call_.arguments[static_cast<std::size_t>(at - op_.arguments.begin())]);
    const auto& [name, tensor] = named_inputs_.front();
    const Int rank = tensor->rank();
    if (!dim || *dim < -rank || *dim >= rank) return;
    const int along = static_cast<int>(wrap_dim(*dim, tensor->rank()));
    const Int size = tensor->sizes[along];
    say_if(along == rank - 1, phrase("dim", "is the last dimension"));
    measure(phrase("the size of", concat(name, " along dim")), static_cast<double>(size));
    for (const std::string_view position : {"start", "end"}) {
      const auto given = std::ranges::find(op_.arguments, position, &SchemaArgument::name);
      const Int* n = given == op_.arguments.end()
                         ? nullptr
                         : std::get_if<Int>(&call_.arguments[static_cast<std::size_t>(given - op_.arguments.begin())]);
      say_if(n && *n < -size, phrase(position, concat("is below minus the size of ", name, " along dim")));
      say_if(n && *n > size, phrase(position, concat("is above the size of ", name, " along dim")));
    }
    const auto index = std::ranges::find(named_inputs_, "index", [](const auto& input) { return input.first; });
    if (index == named_inputs_.end() || index->second->rank() != rank) return;
    for (int d = 0; d < rank; ++d)
      if (d != along && index->second->sizes[d] < tensor->sizes[d])
        say(phrase("index", concat("is smaller than ", name, " in another dimension than dim")));
  }

  // A convolution with one group for each channel, for which kernels have a path of their own.
  void describe_groups() {
    const auto at = std::ranges::find(op_.arguments, "groups", &SchemaArgument::name);
    if (at == op_.arguments.end() || named_inputs_.empty()) return;
    const Int* groups = std::get_if<Int>(&call_.arguments[static_cast<std::size_t>(at - op_.arguments.begin())]);
    const Tensor& input = *named_inputs_.front().second;
    say_if(groups && *groups > 1 && input.rank() > 1 && input.sizes[1] == *groups,
           phrase("groups", "is the number of channels"));
  }

  // Shifts of a tensor along dimensions, or of all its elements in their order.
  void describe_shifts() {
    const auto value = [&](std::string_view name) -> const Ints* {
      const auto at = std::ranges::find(op_.arguments, name, &SchemaArgument::name);
      return at == op_.arguments.end()
                 ? nullptr
                 : std::get_if<Ints>(&call_.arguments[static_cast<std::size_t>(at - op_.arguments.begin())]);
    };
    const Ints *all = value("shifts"), *dims = value("dims");
    if (!all || !dims || named_inputs_.empty()) return;
    const auto& [name, tensor] = named_inputs_.front();
    const Int rank = tensor->rank();
    for (std::size_t k = 0; k < all->size(); ++k) {
      const bool has_dim = k < dims->size() && (*dims)[k] >= -rank && (*dims)[k] < rank;
      if (!dims->empty() && !has_dim) continue;
      const Int size =
          has_dim ? tensor->sizes[static_cast<int>(wrap_dim((*dims)[k], tensor->rank()))] : tensor->count();
      say_if((*all)[k] > size || (*all)[k] < -size,
             phrase("a shift", concat("is beyond the size of ", name, " along its dimension")));
    }
  }

  static bool is_operand(const SchemaArgument& a, const Value& v) {
    if (a.out || a.type.starts_with("ScalarType")) return false;
    if (const Tensor* t = std::get_if<Tensor>(&v)) return info(t->dtype).kind < Kind::complex;
    constexpr auto operands = std::to_array<std::string_view>({"self", "other", "a", "b", "exponent"});
    return std::ranges::find(operands, a.name) != operands.end() &&
           (std::holds_alternative<Int>(v) || std::holds_alternative<double>(v));
  }

  // What holds for the pairs of elements that an elementwise operator combines; nothing if the sizes do not broadcast.
  // Operands of other operators can broadcast to far more pairs than the operator computes; nothing is said of these.
  Pairs pairs_of(const Array<Real>& a, const Array<Real>& b, DType dtype) const {
    shapes::Broadcasting both;
    try {
      both.add("", a.sizes), both.add("", b.sizes);
    } catch (const Broken&) {
      return {};
    }
    if (count(both.sizes()) > std::max({a.count(), b.count(), most_pairs})) return {};
    PairsOf pairs(op_, dtype);
    const auto x = families::broadcast(a, both.sizes()), y = families::broadcast(b, both.sizes());
    using SeenPairs = Seen<2, 10>;
    std::optional<SeenPairs> seen;
    Int flat = 0;
    for (const Dims& i : indices(both.sizes())) {
      const Real left = x.at(i, flat), right = y.at(i, flat);
      const SeenPairs::Key both_bits{std::bit_cast<std::uint64_t>(left), std::bit_cast<std::uint64_t>(right)};
      if (!seen || seen->add(both_bits)) pairs.look_at(left, right);
      if (!seen) seen.emplace(both_bits);
      ++flat;
    }
    return pairs.found();
  }

  static Array<Real> numbers_of(const Value& v) {
    const Tensor* t = std::get_if<Tensor>(&v);
    return read<Real>(t ? *t : tensor_of(*number_in(v)));
  }

  // Bool if PyTorch defines no common dtype.
  DType common_dtype(const std::vector<std::size_t>& operands) const {
    try {
      types::Promotion promotion;
      for (const std::size_t i : operands) {
        const Tensor* t = std::get_if<Tensor>(&call_.arguments[i]);
        t ? promotion.add(*t) : promotion.add(*number_in(call_.arguments[i]));
      }
      return promotion.result();
    } catch (const Broken&) {
      return DType::boolean;
    }
  }

  void describe_layouts() {
    const auto every = [&](auto holds) { return std::ranges::all_of(orders_, holds); };
    const auto contiguous = [](const Tensor* t) { return cases::is_contiguous(*t); };
    // If some tensor is channels last, one without channels, such as a bias, counts as channels last when contiguous.
    const bool some_channels_last =
        std::ranges::any_of(orders_, [](const Tensor* t) { return cases::is_channels_last(*t); });
    const auto channels_last = [&](const Tensor* t) {
      return some_channels_last && (t->rank() < 4 ? contiguous(t) : cases::is_channels_last(*t));
    };
    say_if(every(contiguous), "every dim order is contiguous");
    say_if(some_channels_last && every(channels_last), "every dim order is channels last");
    say_if(every([&](const Tensor* t) { return contiguous(t) || channels_last(t); }),
           "every dim order is contiguous or channels last");
    say_if(every(contiguous) || every(channels_last) ||
               every([&](const Tensor* t) { return t->dim_order == orders_[0]->dim_order; }),
           "the dim orders are one for all");
  }

  void describe_results() {
    const judge::Expectation& e = call_.expected;
    if (!call_.valid()) return say_broken(e.answer.rule);
    say(call_is_valid);
    say_if(std::ranges::all_of(e.outs, [](const Tensor& t) { return t.count() == 0; }), results_are_empty);
    for (std::size_t k = 0; k < e.outs.size(); ++k) {
      const Elements found = elements_of(e.outs[k]);
      for (const TensorFlag& flag : element_flags)
        if (flag.holds(e.outs[k], found)) say("a result", flag.says);
      const Unrounded& computed = e.answer.unrounded[k];
      say_if(!computed.values.empty() && computed.dtype != e.outs[k].dtype, "an out has another dtype than its result");
      say_if(is_integer(e.outs[k].dtype) && std::ranges::any_of(computed.values, has_fraction), result_is_rounded);
    }
    if (!e.outs.empty() && (is_integer(e.outs[0].dtype) || is_floating(e.outs[0].dtype)))
      say_if(least_ < lowest(e.outs[0].dtype) || most_ > highest(e.outs[0].dtype), inputs_beyond_result);
    describe_freedom();
  }

  // For a variance: whether the correction is at least the number of elements that each result combines.
  void describe_freedom() {
    const auto corrects = [](const SchemaArgument& a) { return a.name == "correction" || a.name == "unbiased"; };
    const auto at = std::ranges::find_if(op_.arguments, corrects);
    if (at == op_.arguments.end() || call_.expected.outs[0].count() == 0) return;
    const auto given = number_in(call_.arguments[static_cast<std::size_t>(at - op_.arguments.begin())]);
    const Int numbers = std::get<Tensor>(call_.arguments[0]).count() / call_.expected.outs[0].count();
    say_if(static_cast<Real>(numbers) <= (given ? real(*given) : 1), no_freedom);
  }

  // States what the broken rule is about: rules of several operators that are about the same are one fact.
  void say_broken(std::string_view id) { say(concat(breaks, subject_of(op_, id).text())); }

  const Operator& op_;
  const cases::HostCall& call_;
  std::vector<Phrase> flags_;
  std::vector<Measure> measures_;
  std::vector<const Tensor*> orders_;
  std::vector<Dims> input_sizes_;
  std::vector<DType> input_dtypes_;
  std::vector<std::pair<std::string_view, const Tensor*>> named_inputs_;  // inputs that are not in a list
  Real least_ = 0, most_ = 0;  // the bounds of the finite numbers of all inputs, and 0
};

std::string replaced(std::string_view flag, std::string_view was, std::string_view now) {
  const std::size_t at = flag.find(was);
  return concat(flag.substr(0, at), now, flag.substr(at + was.size()));
}

}  // namespace

std::string RuleSubject::text() const {
  if (arguments.empty()) return aspect;
  const bool is_one = arguments.size() == 1 && aspect.ends_with('s') && aspect != "sizes" && aspect != "elements";
  return fmt::format("the {} of {}", is_one ? aspect.substr(0, aspect.size() - 1) : aspect, listed(arguments));
}

std::string listed(std::span<const std::string> names) {
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  return fmt::format("{} and {}", fmt::join(names.first(names.size() - 1), ", "), names.back());
}

RuleSubject subject_of(const Operator& op, std::string_view rule_id) {
  const auto rule = std::ranges::find(op.rules, rule_id, &Rule::id);
  if (rule == op.rules.end()) {
    if (rule_id.ends_with(".out")) return {"dtypes", {"an out"}};
    if (rule_id.ends_with(".dtype")) return {"dtypes", {"the operands"}};
    if (rule_id.ends_with(".shape")) return {"sizes", {"the result"}};
    return {"other arguments", {}};
  }
  const auto has = [&](std::string_view part) { return rule->word.find(part) != std::string_view::npos; };
  std::vector<std::string> tensors;
  for (std::string_view name : rule->arguments) {
    if (name.ends_with('?')) name.remove_suffix(1);
    const auto a = std::ranges::find(op.arguments, name, &SchemaArgument::name);
    if (a == op.arguments.end()) continue;
    // A rule on another argument, such as `stride`, is about this argument, whatever tensors it is compared with.
    if (!a->type.starts_with("Tensor")) {
      if (tensors.empty()) return {"values", {std::string(name)}};
      continue;
    }
    if (tensors.size() < 2) tensors.emplace_back(name);
  }
  if (has("dtype") || has("computes_in") || has("promote_to") || has("stays_complex"))
    return {"dtypes", tensors.empty() ? std::vector<std::string>{"the operands"} : tensors};
  if (tensors.empty()) return {"other arguments", {}};
  tensors.resize(has("order") || rule->outcome == Outcome::fault ? 1 : tensors.size());
  if (rule->outcome == Outcome::fault) return {"elements", tensors};
  if (has("order") || has("contiguous") || has("channels_last") || has("memory_format") || has("has_pairs"))
    return {"dim orders", tensors};
  return {"sizes", tensors};
}

bool says_broken(std::string_view flag) { return flag.starts_with(breaks); }

bool Features::has(Phrase flag) const {
  return std::ranges::binary_search(flags, flag.place(), std::less<>(), place_of);
}

const Measure* Features::measure(Phrase name) const {
  const auto at = std::ranges::find(measures, name, &Measure::name);
  return at != measures.end() ? &*at : nullptr;
}

Features features_of(const Operator& op, const cases::HostCall& call) { return Describing(op, call).features(); }

std::span<const Phrase> call_flags() {
  static const std::vector<Phrase> all = [] {
    std::vector<Phrase> flags(plain_call_flags.begin(), plain_call_flags.end());
    for (Int number = 0; number < most_dtypes; ++number)
      if (const auto dtype = dtype_numbered(number))
        for (const char* who : {"a tensor", "an input"}) flags.push_back(phrase(who, phrase("is", info(*dtype).name)));
    for (const TensorFlag& flag : tensor_flags)
      for (const char* who : {"a tensor", "an input"}) flags.push_back(phrase(who, flag.says));
    for (const TensorFlag& flag : element_flags)
      for (const char* who : {"an input", "a result"}) flags.push_back(phrase(who, flag.says));
    for (const NumberFlag& flag : number_flags) flags.push_back(phrase("an argument", flag.says));
    for (const PairFlag& flag : pair_flags) flags.emplace_back(flag.says);
    return flags;
  }();
  return all;
}

std::string negation(std::string_view flag) {
  if (flag.ends_with(" somewhere")) return replaced(flag, "somewhere", "nowhere");
  if (flag.starts_with("a tensor ")) return replaced(flag, "a tensor", "no tensor");
  if (flag.starts_with("an input ")) return replaced(flag, "an input", "no input");
  if (flag.starts_with("an argument ")) return replaced(flag, "an argument", "no argument");
  if (flag.starts_with("an out ")) return replaced(flag, "an out", "no out");
  if (flag.starts_with("a list ")) return replaced(flag, "a list", "no list");
  if (flag.starts_with("a result ")) return replaced(flag, "a result", "no result");
  if (flag.starts_with("every ")) return concat("not ", flag);
  if (flag.find(" have different ") != std::string_view::npos) return replaced(flag, "different", "the same");
  if (says_broken(flag)) return replaced(flag, "forbids", "allows");
  if (flag.find(" is no ") != std::string_view::npos) return replaced(flag, " is no ", " is a ");
  if (flag.find(" has no dimensions") != std::string_view::npos) return replaced(flag, "has no", "has");
  if (flag.find(" has a ") != std::string_view::npos) return replaced(flag, "has a ", "has no ");
  if (flag.find(" has ") != std::string_view::npos) return replaced(flag, " has ", " has no ");
  if (flag.find(" are ") != std::string_view::npos) return replaced(flag, " are ", " are not ");
  return replaced(flag, " is ", " is not ");
}

}  // namespace assay::features

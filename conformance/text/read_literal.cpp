#include <nlohmann/json.hpp>

#include "conformance/text/element.h"
#include "conformance/text/layout.h"
#include "conformance/text/literal.h"
#include "conformance/text/malformed.h"
#include "conformance/text/printable.h"
#include "reference/call.h"

namespace assay::text {
namespace {

constexpr std::string_view spaces = " \t\r\n", marks = " \t\r\n,:[](){}";

// Reads a literal from left to right. A text that does not fit breaks `rule`.
class Reader {
 public:
  Reader(std::string_view text, std::string_view rule) : rest_(text), rule_(rule) {}

  bool take(char c) {
    skip_spaces();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse(concat("'", c, "' is missing"));
  }
  std::string_view word() {
    skip_spaces();
    const std::string_view found = rest_.substr(0, rest_.find_first_of(marks));
    if (found.empty()) refuse("a number or a name is missing");
    rest_.remove_prefix(found.size());
    return found;
  }
  bool take_none() {
    Reader ahead = *this;
    ahead.skip_spaces();
    if (ahead.rest_.find_first_of(marks) == 0 || ahead.rest_.empty()) return false;
    const std::string_view first = ahead.word();
    if (first != "none" && first != "None") return false;
    *this = ahead;
    return true;
  }
  std::string_view all() { return std::exchange(rest_, {}); }
  void expect_end() {
    skip_spaces();
    if (!rest_.empty()) refuse("nothing more should come");
  }
  [[noreturn]] void refuse(const std::string& what) const {
    constexpr std::size_t shown = 24;
    const auto place = rest_.empty() ? "at the end" : concat("before ", Quoted{rest_.substr(0, shown)});
    throw Fault(Outcome::malformed, std::string(rule_), concat(what, ' ', place));
  }

 private:
  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(spaces), rest_.size())); }

  std::string_view rest_, rule_;
};

// Reads `item, item` up to the closing mark. The opening mark is already read.
template <class Item>
Int read_list(Reader& in, char close, Item item) {
  Int length = 0;
  if (in.take(close)) return length;
  do {
    item();
    ++length;
  } while (in.take(','));
  in.expect(close);
  return length;
}

// -- numbers ------------------------------------------------------------------------------------------------------

template <class T>
const char* wanted = nullptr;
template <>
constexpr const char* wanted<bool> = "true or false";
template <>
constexpr const char* wanted<Int> = "an integer of 64 bits";
template <>
constexpr const char* wanted<double> = "a number";

template <class T>
T read_number(Reader& in) {
  const std::string_view word = in.word();
  const auto number = number_of(word);
  const T* value = number ? std::get_if<T>(&*number) : nullptr;
  const Int* whole = number ? std::get_if<Int>(&*number) : nullptr;
  if constexpr (std::is_same_v<T, double>)
    if (whole) return static_cast<double>(*whole);
  well_formed(value, "call.argument", Quoted{word}, " is not ", wanted<T>);
  return *value;
}

template <class T>
std::vector<T> read_numbers(Reader& in, Int length) {
  std::vector<T> list;
  if (length > 0 && !in.take('[')) return std::vector<T>(static_cast<std::size_t>(length), read_number<T>(in));
  if (length == 0) in.expect('[');
  read_list(in, ']', [&] { list.push_back(read_number<T>(in)); });
  return list;
}

Value read_scalar(Reader& in, Int) {
  const std::string_view word = in.word();
  const auto number = number_of(word);
  well_formed(number && !std::holds_alternative<Bits>(*number), "call.argument", Quoted{word},
              " is no number such as 1, 1.5, true or nan");
  if (const bool* b = std::get_if<bool>(&*number)) return *b;
  if (const Int* n = std::get_if<Int>(&*number)) return *n;
  return std::get<double>(*number);
}

// An integer for a float argument stays an integer, as in a schema's `float p=2`.
Value read_float(Reader& in, Int length) {
  Value value = read_scalar(in, length);
  well_formed(!std::holds_alternative<bool>(value), "call.argument", "a bool is no float");
  return value;
}

Value read_dtype_number(Reader& in, Int) {
  const std::string_view word = in.word();
  if (const auto dtype = dtype_named(word)) return static_cast<Int>(*dtype);
  const auto number = number_of(word);
  const Int* n = number ? std::get_if<Int>(&*number) : nullptr;
  well_formed(n, "call.argument", Quoted{word}, " is no dtype");
  return *n;
}

Value read_string(Reader& in, Int) {
  const std::string_view all = in.all();
  if (all.size() >= 2 && all.starts_with('\'') && all.ends_with('\''))
    return std::string(all.substr(1, all.size() - 2));
  if (!all.starts_with('"')) return std::string(all);
  const auto quoted = nlohmann::json::parse(all, nullptr, false);
  well_formed(quoted.is_string(), "call.argument", Quoted{all}, " is no quoted string");
  return quoted.get<std::string>();
}

// -- tensors ------------------------------------------------------------------------------------------------------

// A pattern such as `zeros(2,3)` gives the element at each row-major position.
constexpr struct Pattern {
  std::string_view name;
  Int (*element)(Int);
} patterns[] = {
    {"zeros", [](Int) { return Int{0}; }},
    {"ones", [](Int) { return Int{1}; }},
    {"arange", [](Int i) { return i; }},
};

// The part of a tensor literal before its dtype: a pattern, or a word for each element.
struct Elements {
  Ints sizes;
  const Pattern* pattern = nullptr;
  std::vector<std::string_view> words;
};

Ints read_parenthesized(Reader& in) {
  Ints list;
  read_list(in, ')', [&] { list.push_back(read_number<Int>(in)); });
  return list;
}

void read_nested(Reader& in, int depth, Nesting& nesting, Elements& elements) {
  if (!in.take('[')) {
    nesting.element(depth);
    elements.words.push_back(in.word());
    return;
  }
  if (depth == max_rank)
    throw Fault(Outcome::exhausted, "limits.rank", concat("a tensor has at most ", max_rank, " dimensions"));
  nesting.list(depth, read_list(in, ']', [&] { read_nested(in, depth + 1, nesting, elements); }));
}

Elements read_elements(Reader& in) {
  Elements elements;
  Nesting nesting;
  read_nested(in, 0, nesting, elements);
  elements.sizes = nesting.sizes();
  if (!elements.sizes.empty() || !in.take('(')) return elements;
  const std::string_view name = elements.words.front();
  for (const Pattern& p : patterns)
    if (p.name == name) elements.pattern = &p;
  well_formed(elements.pattern, "call.tensor", Quoted{name}, " is none of zeros, ones, arange");
  elements.sizes = read_parenthesized(in);
  return elements;
}

DType read_dtype(Reader& in) {
  const std::string_view word = in.word();
  const auto dtype = dtype_named(word);
  well_formed(dtype.has_value(), "call.tensor", Quoted{word}, " is no dtype");
  return *dtype;
}

std::optional<Ints> read_dim_order(Reader& in) {
  if (!in.take(':')) return std::nullopt;
  in.expect('(');
  return read_parenthesized(in);
}

Tensor read_tensor(Reader& in) {
  const Elements elements = read_elements(in);
  in.expect(':');
  const DType dtype = read_dtype(in);
  Tensor tensor = layout(dtype, elements.sizes, read_dim_order(in));
  Array<Element> stored(tensor.sizes);
  for (std::size_t i = 0; i < stored.data.size(); ++i)
    stored.data[i] = elements.pattern ? element_of(Number(elements.pattern->element(static_cast<Int>(i))), dtype)
                                      : element_of(elements.words[i], dtype);
  fill(tensor, stored);
  return tensor;
}

Tensors read_tensors(Reader& in) {
  Tensors list;
  in.expect('{');
  read_list(in, '}', [&] { list.push_back(in.take_none() ? std::nullopt : std::optional(read_tensor(in))); });
  return list;
}

// -- schema types -------------------------------------------------------------------------------------------------

constexpr struct Type {
  std::string_view name;
  Value (*read)(Reader&, Int length);
} types[] = {
    {"Tensor", [](Reader& in, Int) -> Value { return read_tensor(in); }},
    {"Tensor[]", [](Reader& in, Int) -> Value { return read_tensors(in); }},
    {"Tensor?[]", [](Reader& in, Int) -> Value { return read_tensors(in); }},
    {"Scalar", read_scalar},
    {"float", read_float},
    {"bool", [](Reader& in, Int) -> Value { return read_number<bool>(in); }},
    {"str", read_string},
    {"ScalarType", read_dtype_number},
    {"int[]", [](Reader& in, Int length) -> Value { return read_numbers<Int>(in, length); }},
    {"float[]", [](Reader& in, Int length) -> Value { return read_numbers<double>(in, length); }},
    {"bool[]", [](Reader& in, Int length) -> Value { return read_numbers<bool>(in, length); }},
};

Value read_typed(Reader& in, std::string_view type, Int length) {
  for (const Type& t : types)
    if (t.name == type) return t.read(in, length);
  return read_number<Int>(in);  // int, and types whose values PyTorch numbers: MemoryFormat, Layout
}

}  // namespace

Value read_literal(std::string_view text, std::string_view type, Int length) {
  Reader in(text, type.starts_with("Tensor") ? "call.tensor" : "call.argument");
  const bool optional = type.ends_with('?');
  if (optional) type.remove_suffix(1);
  Value value;
  if (!optional || !in.take_none()) value = read_typed(in, type, length);
  in.expect_end();
  return value;
}

Tensor read_out_literal(std::string_view text) {
  Reader in(text, "call.out");
  const DType dtype = read_dtype(in);
  const std::optional<Ints> dim_order = read_dim_order(in);
  in.expect_end();
  return layout(dtype, Ints(dim_order ? dim_order->size() : 0), dim_order);
}

}  // namespace assay::text

#include "conformance/text/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "conformance/text/base64.h"
#include "conformance/text/element.h"
#include "conformance/text/layout.h"
#include "conformance/text/malformed.h"
#include "conformance/text/printable.h"

namespace assay {
namespace {

constexpr std::string_view json_rule = "call.json", tensor_rule = "call.tensor", argument_rule = "call.argument";

// Refuses what the parser accepts: unlimited nesting, objects with many keys or with a key twice, and more values than
// the budget has memory for. (The parser's own callbacks are not used, because at the
// end of each object they look at all its siblings.)
class StrictParser : public nlohmann::detail::json_sax_dom_parser<Json> {
  using Parser = nlohmann::detail::json_sax_dom_parser<Json>;

 public:
  StrictParser(Json& result, Budget budget) : Parser(result), budget_(std::move(budget)) {}

  bool null() { return charge(), Parser::null(); }
  bool boolean(bool b) { return charge(), Parser::boolean(b); }
  bool number_integer(Int n) { return charge(), Parser::number_integer(n); }
  bool number_unsigned(Bits n) { return charge(), Parser::number_unsigned(n); }
  bool number_float(double x, const std::string& text) { return charge(), Parser::number_float(x, text); }
  bool string(std::string& text) { return charge(text.size()), Parser::string(text); }
  bool start_array(std::size_t size) { return open(), Parser::start_array(size); }
  bool end_array() { return keys_.pop_back(), Parser::end_array(); }
  bool start_object(std::size_t size) { return open(), Parser::start_object(size); }
  bool end_object() { return keys_.pop_back(), Parser::end_object(); }
  bool key(std::string& name) {
    // More than any object here has. There is a limit because the parser compares each key with all earlier keys.
    constexpr std::size_t most = 64;
    auto& seen = keys_.back();
    charge(2 * name.size() + sizeof(Json::object_t::value_type));
    well_formed(std::ranges::find(seen, name) == seen.end(), json_rule, "key ", Quoted{name}, " comes twice");
    well_formed(seen.size() < most, json_rule, "an object has more than ", most, " keys");
    seen.push_back(name);
    return Parser::key(name);
  }

 private:
  void open() {
    constexpr std::size_t deepest = 64;
    well_formed(keys_.size() < deepest, json_rule, "lists and objects nest deeper than ", deepest);
    charge();
    keys_.emplace_back();
  }
  void charge(std::size_t bytes = 0) {
    // A list may have twice the capacity that it uses.
    budget_.take(static_cast<Int>(3 * sizeof(Json) + bytes), "JSON");
  }

  Budget budget_;
  std::vector<std::vector<std::string>> keys_;  // the keys of each open object
};

// The parser's sentence without its "[json.exception.parse_error.101] ".
std::string sentence(const std::exception& error) {
  const std::string_view what = error.what();
  const std::size_t end = what.find("] ");
  return printable(end == std::string_view::npos ? what : what.substr(end + 2), most_shown);
}

// How a message shows a piece of JSON. It is made only when the message is printed.
struct Excerpt {
  const Json& json;
};
std::ostream& operator<<(std::ostream& out, Excerpt excerpt) {
  if (excerpt.json.is_array()) return out << "a list";
  if (excerpt.json.is_object()) return out << "an object";
  if (excerpt.json.is_string()) return out << Quoted{excerpt.json.get_ref<const std::string&>()};
  return out << line_of(excerpt.json);
}

const Json& get(const Json& object, std::string_view key, std::string_view rule) {
  const auto found = object.find(key);
  well_formed(found != object.end(), rule, "key ", Quoted{key}, " is missing");
  return *found;
}

// -- numbers ------------------------------------------------------------------------------------------------------

// A JSON integer. The parser turns integers beyond uint64 into doubles.
std::optional<Number> whole_number_in(const Json& json) {
  if (!json.is_number_integer()) return std::nullopt;
  if (!json.is_number_unsigned() || std::in_range<Int>(json.get<Bits>())) return json.get<Int>();
  return json.get<Bits>();
}

// A JSON number, "inf", "-inf" or "nan".
std::optional<double> double_in(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const auto named = json.is_string() ? number_of(json.get_ref<const std::string&>()) : std::nullopt;
  const double* x = named ? std::get_if<double>(&*named) : nullptr;
  return x && !std::isfinite(*x) ? std::optional(*x) : std::nullopt;
}

// An element of `values`.
std::optional<Number> number_in(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (const auto whole = whole_number_in(json)) return whole;
  const bool wrapped = json.is_object() && json.size() == 1 && json.begin().key() == "double";
  return double_in(wrapped ? *json.begin() : json);
}

Int integer_in(const Json& json, std::string_view rule) {
  const auto number = whole_number_in(json);
  const Int* n = number ? std::get_if<Int>(&*number) : nullptr;
  well_formed(n, rule, Excerpt{json}, " is not an integer of 64 bits");
  return *n;
}

double double_argument(const Json& json) {
  const auto number = double_in(json);
  well_formed(number.has_value(), argument_rule, Excerpt{json}, " is no number, \"inf\", \"-inf\" or \"nan\"");
  return *number;
}

bool bool_in(const Json& json) {
  well_formed(json.is_boolean(), argument_rule, Excerpt{json}, " is neither true nor false");
  return json.get<bool>();
}

Json json_of(double x) {
  if (std::isfinite(x)) return x;
  return {{"double", double_text(x)}};
}

// -- tensors ------------------------------------------------------------------------------------------------------

Ints integers_in(const Json& object, std::string_view key) {
  const Json& list = get(object, key, tensor_rule);
  well_formed(list.is_array(), tensor_rule, key, " must be a list of integers");
  return within(
      [&] {
        Ints integers;
        for (const Json& n : list) integers.push_back(integer_in(n, tensor_rule));
        return integers;
      },
      key);
}

DType dtype_in(const Json& object) {
  const Json& name = get(object, "dtype", tensor_rule);
  const auto dtype = name.is_string() ? dtype_named(name.get_ref<const std::string&>()) : std::nullopt;
  well_formed(dtype.has_value(), tensor_rule, "dtype ", Excerpt{name}, " is not the name of one, such as \"float32\"");
  return *dtype;
}

std::optional<Ints> dim_order_in(const Json& object) {
  return object.contains("dim_order") ? std::optional(integers_in(object, "dim_order")) : std::nullopt;
}

void set_data(Tensor& tensor, const Json& data) {
  auto bytes = data.is_string() ? bytes_of_base64(data.get_ref<const std::string&>()) : std::nullopt;
  well_formed(bytes.has_value(), tensor_rule, "data is not base64");
  well_formed(bytes->size() == byte_count(tensor), tensor_rule, "data has ", bytes->size(), " bytes, but ",
              tensor.dtype, " ", tensor.sizes, " takes ", byte_count(tensor));
  tensor.bytes = std::move(*bytes);
}

Number element_number(const Json& json) {
  const auto number = number_in(json);
  well_formed(number.has_value(), tensor_rule, Excerpt{json}, " is no number");
  return *number;
}

// A complex element is the list of its two parts.
bool is_pair(const Json& json) { return json.size() == 2 && !json[0].is_array() && !json[1].is_array(); }

void read_nested(const Json& json, int depth, DType dtype, Nesting& nesting, Buffer<Element>& elements) {
  if (json.is_array() && is_complex(dtype) && is_pair(json)) {
    nesting.element(depth);
    elements.push_back(element_of(element_number(json[0]), element_number(json[1]), dtype));
    return;
  }
  if (json.is_array()) {
    if (depth == max_rank)
      throw Fault(Outcome::exhausted, "limits.rank", text("a tensor has at most ", max_rank, " dimensions"));
    for (const Json& item : json) read_nested(item, depth + 1, dtype, nesting, elements);
    nesting.list(depth, static_cast<Int>(json.size()));
    return;
  }
  well_formed(!is_complex(dtype), tensor_rule, Excerpt{json}, " is no list of a real and an imaginary part");
  nesting.element(depth);
  elements.push_back(element_of(element_number(json), dtype));
}

// A tensor from `values`, which are flat or nested. Nested values imply the sizes, so `sizes` may be missing.
Tensor tensor_of_values(const Json& object, DType dtype) {
  Nesting nesting;
  Array<Element> elements;
  elements.data.clear();
  read_nested(object["values"], 0, dtype, nesting, elements.data);
  const Ints nested = nesting.sizes();
  Tensor tensor = layout(dtype, object.contains("sizes") ? integers_in(object, "sizes") : nested, dim_order_in(object));
  const bool same = Ints(tensor.sizes.begin(), tensor.sizes.end()) == nested;
  const bool flat = nested.size() == 1 && tensor.count() == nested[0];
  well_formed(same || flat, tensor_rule, "values have sizes ", nested, ", but sizes are ", tensor.sizes);
  fill(tensor, std::move(elements));
  return tensor;
}

Tensor tensor_in(const Json& object) {
  check_keys(object, {"dtype", "sizes", "dim_order", "data", "values"}, tensor_rule);
  const DType dtype = dtype_in(object);
  if (object.contains("values")) {
    well_formed(!object.contains("data"), tensor_rule, "data and values exclude each other");
    return tensor_of_values(object, dtype);
  }
  Tensor tensor = layout(dtype, integers_in(object, "sizes"), dim_order_in(object));
  set_data(tensor, get(object, "data", tensor_rule));
  return tensor;
}

Tensor out_tensor_in(const Json& object) {
  check_keys(object, {"dtype", "sizes", "dim_order"}, tensor_rule);
  const std::optional<Ints> dim_order = dim_order_in(object);
  const Ints unsaid(dim_order ? dim_order->size() : 0);
  return layout(dtype_in(object), object.contains("sizes") ? integers_in(object, "sizes") : unsaid, dim_order);
}

template <class Read>
Tensors tensors_in(const Json& list, Read read_tensor) {
  Tensors tensors;
  for (std::size_t i = 0; i < list.size(); ++i)
    tensors.push_back(list[i].is_null() ? std::nullopt
                                        : std::optional(within([&] { return read_tensor(list[i]); }, "tensor ", i)));
  return tensors;
}

// -- values -------------------------------------------------------------------------------------------------------

template <class List, class Read>
List list_in(const Json& json, Read item) {
  List list;
  for (const Json& i : json) list.push_back(item(i));
  return list;
}

Value list_of_type(const Json& list, std::string_view element_type) {
  if (element_type == "int") return list_in<Ints>(list, [](const Json& n) { return integer_in(n, argument_rule); });
  if (element_type == "float") return list_in<Doubles>(list, double_argument);
  if (element_type == "bool") return list_in<Bools>(list, bool_in);
  return tensors_in(list, tensor_in);
}

Value string_of_type(const std::string& string, std::string_view type) {
  if (!type.starts_with("ScalarType")) return string;
  const auto dtype = dtype_named(string);
  well_formed(dtype.has_value(), argument_rule, Quoted{string}, " is no dtype");
  return static_cast<Int>(*dtype);
}

constexpr struct {
  std::string_view key, element_type;
} lists[] = {{"ints", "int"}, {"doubles", "float"}, {"bools", "bool"}, {"tensors", "Tensor"}};

// The keys of `lists`, "double" and "string" decide the kind of the value, not the schema. Other objects are tensors.
Value value_of_object(const Json& object, std::string_view type) {
  if (object.size() != 1) return tensor_in(object);
  const auto only = object.begin();
  for (const auto& list : lists) {
    if (only.key() != list.key) continue;
    well_formed(only->is_array(), argument_rule, list.key, " must be a list");
    return list_of_type(*only, list.element_type);
  }
  if (only.key() == "double") return double_argument(*only);
  if (only.key() != "string") return tensor_in(object);
  well_formed(only->is_string(), argument_rule, "string must be one");
  return string_of_type(only->get_ref<const std::string&>(), type);
}

// "int" for "int[]" and "int[]?", "Tensor" for "Tensor?[]"; empty for a type that is not a list.
std::string_view element_type_of(std::string_view type) {
  if (!type.ends_with("[]") && !type.ends_with("[]?")) return {};
  return type.substr(0, type.find_first_of("[?"));
}

struct ToJson {
  bool is_dtype;  // an integer is the number of a dtype

  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const Tensor& t) const { return to_json(t); }
  Json operator()(Int n) const {
    const auto dtype = is_dtype ? dtype_numbered(n) : std::nullopt;
    return dtype ? Json(info(*dtype).name) : Json(n);
  }
  Json operator()(double x) const { return json_of(x); }
  Json operator()(bool b) const { return b; }
  Json operator()(const std::string& s) const { return {{"string", s}}; }
  Json operator()(const Ints& list) const { return {{"ints", list}}; }
  Json operator()(const Bools& list) const { return {{"bools", list}}; }
  Json operator()(const Doubles& list) const {
    Json numbers = Json::array();
    for (const double x : list) numbers.push_back(std::isfinite(x) ? Json(x) : Json(double_text(x)));
    return {{"doubles", std::move(numbers)}};
  }
  Json operator()(const Tensors& list) const {
    Json tensors = Json::array();
    for (const auto& t : list) tensors.push_back(t ? to_json(*t) : Json(nullptr));
    return {{"tensors", std::move(tensors)}};
  }
};

}  // namespace

Json parse_json(std::string_view text, const Budget& budget) {
  Json json;
  try {
    StrictParser parser(json, budget);
    Json::sax_parse(text, &parser);
    return json;
  } catch (const Json::exception& error) {
    throw Fault(Outcome::malformed, std::string(json_rule), sentence(error));
  }
}

std::string line_of(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

void check_keys(const Json& json, std::initializer_list<std::string_view> keys, std::string_view rule) {
  const auto refuse = [&](const std::string& what) {
    well_formed(false, rule, what, " ", fmt::to_string(fmt::join(keys, ", ")));
  };
  if (!json.is_object()) refuse(text(Excerpt{json}, " came where an object was wanted, with the keys"));
  for (const auto& item : json.items())
    if (std::ranges::find(keys, item.key()) == keys.end()) refuse(text("key ", Quoted{item.key()}, " is none of"));
}

Value value_of(const Json& json, std::string_view type) {
  switch (json.type()) {
    case Json::value_t::null:
      return std::monostate();
    case Json::value_t::boolean:
      return json.get<bool>();
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return integer_in(json, argument_rule);
    case Json::value_t::number_float:
      return json.get<double>();
    case Json::value_t::string:
      return string_of_type(json.get_ref<const std::string&>(), type);
    case Json::value_t::object:
      return value_of_object(json, type);
    default:
      break;
  }
  const std::string_view element_type = element_type_of(type);
  well_formed(!element_type.empty(), argument_rule, "a list came where a ", type, " was wanted");
  return list_of_type(json, element_type);
}

Value out_of(const Json& json) {
  if (json.is_null()) return std::monostate();
  if (!json.is_object() || !json.contains("tensors")) return out_tensor_in(json);
  check_keys(json, {"tensors"}, tensor_rule);
  const Json& list = json["tensors"];
  well_formed(list.is_array(), tensor_rule, "tensors must be a list");
  return tensors_in(list, out_tensor_in);
}

Json to_json(const Tensor& tensor) {
  return {{"dtype", info(tensor.dtype).name},
          {"sizes", Ints(tensor.sizes.begin(), tensor.sizes.end())},
          {"dim_order", Ints(tensor.dim_order.begin(), tensor.dim_order.end())},
          {"data", base64(tensor.bytes)}};
}

Json to_json(const Value& value, std::string_view type) {
  return std::visit(ToJson{type.starts_with("ScalarType")}, value);
}

}  // namespace assay

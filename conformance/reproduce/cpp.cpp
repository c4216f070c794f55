#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "call.cpp.in.h"
#include "conformance/reproduce/kinds.h"
#include "conformance/sandbox/stack.h"
#include "conformance/text/element.h"
#include "conformance/text/literal.h"
#include "reference/fault.h"

namespace assay::reproduce {
namespace {

// The C++ name of a dtype, and the C++ type of its elements. Elements of an opaque dtype are bits.
struct CppType {
  std::string scalar_type, element;
};

CppType cpp_type(DType dtype) {
  const DTypeInfo& d = info(dtype);
  const std::string scalar_type = fmt::format("static_cast<ScalarType>({})", static_cast<int>(dtype));
  if (dtype == DType::float16) return {"ScalarType::Half", "Half"};
  if (dtype == DType::bfloat16) return {"ScalarType::BFloat16", "BFloat16"};
  if (dtype == DType::float32) return {"ScalarType::Float", "float"};
  if (dtype == DType::float64) return {"ScalarType::Double", "double"};
  const bool is_signed = d.kind == Kind::integer && !d.name.starts_with('u');
  return {scalar_type, fmt::format("std::{}int{}_t", is_signed ? "" : "u", 8 * d.bytes)};
}

// A list in braces, wrapped into lines.
template <class Items, class Text>
std::string braces(const Items& items, Text text) {
  std::string all;
  std::size_t line = 0;
  for (const auto& item : items) {
    const std::string next = text(item);
    const std::string_view between = all.empty() ? "" : line + next.size() > 100 ? ",\n      " : ", ";
    line = between.size() > 2 ? next.size() : line + between.size() + next.size();
    all.append(between).append(next);
  }
  return '{' + all + '}';
}

std::string cpp_integer(Int n) {
  return n == std::numeric_limits<Int>::min() ? "std::numeric_limits<std::int64_t>::min()" : std::to_string(n);
}

std::string cpp_real(double x) {
  if (std::isnan(x)) return "std::nan(\"\")";
  if (std::isinf(x)) return x > 0 ? "HUGE_VAL" : "-HUGE_VAL";
  return text::double_text(x);
}

std::string cpp_bool(bool b) { return b ? "true" : "false"; }

// The bit patterns in memory order.
std::string elements(const Tensor& t) {
  const Tensor row{t.dtype, {t.count()}, {0}, t.bytes};
  const int digits = 2 * info(t.dtype).bytes;
  return braces(read_parts(row).data, [&](Bits b) { return fmt::format("0x{:0{}x}", b, digits); });
}

std::string cpp_tensor(const Tensor& t, const std::string& elements) {
  return fmt::format("tensor({}, {}, {}, {})", cpp_type(t.dtype).scalar_type, braces(t.sizes, cpp_integer),
                     braces(t.dim_order, cpp_integer), elements);
}

std::string cpp_input(const Tensor& t) { return cpp_tensor(t, elements(t)); }
std::string cpp_out(const Tensor& t) { return cpp_tensor(t, fmt::format("Elements({}, unwritten)", t.count())); }

template <class Text>
std::string cpp_tensors(const Tensors& list, std::string_view type, Text text) {
  return (type.starts_with("Tensor?") ? "optional_tensors(" : "tensors(") +
         braces(list, [&](const auto& t) { return t ? text(*t) : std::string("EValue()"); }) + ")";
}

std::string cpp_value(const Value& value, std::string_view type) {
  return std::visit(
      [&]<class T>(const T& v) -> std::string {
        if constexpr (std::is_same_v<T, std::monostate>) return "EValue()";
        if constexpr (std::is_same_v<T, Tensor>) return cpp_input(v);
        if constexpr (std::is_same_v<T, Int>)
          return type.starts_with("float") ? fmt::format("EValue({})", cpp_real(static_cast<double>(v)))
                                           : fmt::format("EValue(std::int64_t{{{}}})", cpp_integer(v));
        if constexpr (std::is_same_v<T, double>) return fmt::format("EValue({})", cpp_real(v));
        if constexpr (std::is_same_v<T, bool>) return fmt::format("EValue({})", cpp_bool(v));
        if constexpr (std::is_same_v<T, std::string>) return fmt::format("string({})", string_literal(v));
        if constexpr (std::is_same_v<T, Ints>) return fmt::format("integers({})", braces(v, cpp_integer));
        if constexpr (std::is_same_v<T, Doubles>) return fmt::format("plain<double>({})", braces(v, cpp_real));
        if constexpr (std::is_same_v<T, Bools>) return fmt::format("plain<bool>({})", braces(v, cpp_bool));
        if constexpr (std::is_same_v<T, Tensors>) return cpp_tensors(v, type, cpp_input);
      },
      value);
}

std::string cpp_out_value(const Value& value, std::string_view type) {
  if (const Tensors* list = std::get_if<Tensors>(&value)) return cpp_tensors(*list, type, cpp_out);
  return cpp_out(std::get<Tensor>(value));
}

std::string cpp_arguments(const Reproduced& call) {
  std::string all;
  for (std::size_t i = 0; i < sandbox::stacked(call.op()); ++i) {
    const SchemaArgument& a = call.op().arguments[i];
    const Value& value = call.host.arguments[i];
    all += a.out ? fmt::format("  // {}\n  values.push_back({});\n", a.name, cpp_out_value(value, a.type))
                 : fmt::format("  // {}: {}\n  values.push_back({});\n", a.name,
                               text::literal(value, a.type, shown_elements), cpp_value(value, a.type));
  }
  return all;
}

// A result and the expression by which a host finds it. Each tensor of a list is a result.
struct Place {
  std::string name, expression;
};

std::vector<Place> places_of_results(const Reproduced& call) {
  const Operator& op = call.op();
  std::vector<Place> places;
  for (std::size_t i = op.arguments.size() - op.outs(); i < op.arguments.size(); ++i) {
    const SchemaArgument& a = op.arguments[i];
    std::size_t at = i;
    for (std::size_t k = 0; k < i; ++k)
      if (op.arguments[k].mutated && op.new_value_of(k) == i) at = k;
    if (const Tensors* list = std::get_if<Tensors>(&call.host.arguments[i]))
      for (std::size_t k = 0; k < list->size(); ++k)
        places.push_back({concat(a.name, '[', k, ']'), concat("values[", at, "].toTensorList()[", k, ']')});
    else
      places.push_back(
          {std::string(a.name), a.is_out_number() ? "number(values.back())" : concat("values[", at, "].toTensor()")});
  }
  return places;
}

std::string judge_text(const Reproduced& call) {
  if (!call.host.valid())
    return "  std::puts(refused ? \"right: the kernel refuses it\" : \"WRONG: the kernel answers it\");\n"
           "  return refused ? 0 : 1;";
  std::string all = "  if (refused) return std::puts(\"WRONG: the kernel refuses it\"), 1;\n  bool right = true;\n";
  const std::vector<Place> places = places_of_results(call);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const Tensor& want = call.host.expected.outs[k];
    const auto right = call.right(k);
    const CppType type = cpp_type(want.dtype);
    all += fmt::format("  right &= is_right<{}>(\"{}\", {}, {}, {}, {}", type.element, places[k].name,
                       places[k].expression, type.scalar_type, braces(want.sizes, cpp_integer),
                       right && right->zeros_have_signs);
    for (const Tensor* t : bounds(right)) all += ",\n      " + elements(*t);
    all += ");\n";
  }
  return all + "  if (right) std::puts(\"right\");\n  return right ? 0 : 1;";
}

constexpr const char* official_libraries =
    "-lexecutorch_kernels_optimized -lexecutorch_kernels_quantized -lexecutorch_threadpool";

}  // namespace

std::string cpp_reproduction(const Reproduced& call) {
  return filled(embedded::call_cpp_in, {{"file", "reproduction.cpp"},
                                        {"libraries", call.library.empty() ? official_libraries : call.library},
                                        {"case", cases::to_text(call.c.id)},
                                        {"schema", std::string(call.op().schema)},
                                        {"arguments", cpp_arguments(call)},
                                        {"expected", string_literal("expected: " + expected_in_words(call))},
                                        {"operator", std::string(call.op().name)},
                                        {"judge", judge_text(call)}});
}

}  // namespace assay::reproduce

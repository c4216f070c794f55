#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "call.py.in.h"
#include "conformance/cases/tensors.h"
#include "conformance/reproduce/call_program.h"
#include "conformance/reproduce/kinds.h"
#include "conformance/text/base64.h"
#include "conformance/text/element.h"
#include "conformance/text/literal.h"

namespace assay::reproduce {
namespace {

constexpr std::string_view namespace_of_aten = "aten::";

constexpr std::string_view eager_function = R"(def eager():
    results = [torch.empty(sizes, dtype=dtype) for _, dtype, sizes, *_ in RESULTS]
    torch.ops.aten.{}(**ARGUMENTS, {})
    return results


)";

// Lines of base64, which Python concatenates.
std::string python_bytes(std::span<const std::byte> bytes) {
  constexpr std::size_t width = 100;
  const std::string all = text::base64(bytes);
  std::string lines;
  for (std::size_t at = 0; at == 0 || at < all.size(); at += width)
    lines += fmt::format("{}\"{}\"", at == 0 ? "" : "\n        ", all.substr(at, width));
  return lines;
}

template <class Items>
std::string tuple(const Items& items) {
  return fmt::format("({}{})", fmt::join(items, ", "), items.size() == 1 ? "," : "");
}

std::string python_layout(const Tensor& t) {
  return fmt::format("torch.{}, {}, {}", info(t.dtype).name, tuple(t.sizes), tuple(strides_of(t)));
}

std::string python_tensor(const Tensor& t) {
  return fmt::format("tensor({}, {})", python_layout(t), python_bytes(t.bytes));
}

std::string python_real(double x) {
  return std::isfinite(x) ? text::double_text(x) : fmt::format("float(\"{}\")", text::double_text(x));
}

std::string python_bool(bool b) { return b ? "True" : "False"; }

// A dtype or memory format by its PyTorch name.
std::string python_integer(Int n, std::string_view type) {
  constexpr std::string_view formats[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
  if (type.starts_with("ScalarType") && dtype_numbered(n))
    return fmt::format("torch.{}", info(*dtype_numbered(n)).name);
  if (type.starts_with("MemoryFormat") && n >= 0 && n < std::ssize(formats))
    return fmt::format("torch.{}", formats[static_cast<std::size_t>(n)]);
  return std::to_string(n);
}

template <class Items, class Text>
std::string python_list(const Items& items, Text text) {
  std::vector<std::string> all;
  for (const auto& item : items) all.push_back(text(item));
  return fmt::format("[{}]", fmt::join(all, ", "));
}

std::string python_value(const Value& value, std::string_view type) {
  return std::visit(
      [&]<class T>(const T& v) -> std::string {
        if constexpr (std::is_same_v<T, std::monostate>) return "None";
        if constexpr (std::is_same_v<T, Tensor>) return python_tensor(v);
        if constexpr (std::is_same_v<T, Int>) return python_integer(v, type);
        if constexpr (std::is_same_v<T, double>) return python_real(v);
        if constexpr (std::is_same_v<T, bool>) return python_bool(v);
        if constexpr (std::is_same_v<T, std::string>) return string_literal(v);
        if constexpr (std::is_same_v<T, Ints>) return python_list(v, [](Int n) { return std::to_string(n); });
        if constexpr (std::is_same_v<T, Doubles>) return python_list(v, python_real);
        if constexpr (std::is_same_v<T, Bools>) return python_list(v, python_bool);
        if constexpr (std::is_same_v<T, Tensors>)
          return python_list(v, [](const auto& t) { return t ? python_tensor(*t) : std::string("None"); });
      },
      value);
}

std::string python_arguments(const Reproduced& call) {
  std::string all;
  for (std::size_t i = 0; i < call.host.arguments.size(); ++i) {
    const SchemaArgument& a = call.op().arguments[i];
    if (a.out) continue;
    const Value& value = call.host.arguments[i];
    if (std::holds_alternative<Tensor>(value) || std::holds_alternative<Tensors>(value))
      all += fmt::format("    # {}\n", text::literal(value, a.type, shown_elements));
    all += fmt::format("    \"{}\": {},\n", a.name, python_value(value, a.type));
  }
  return all;
}

// An out and its name. Each tensor of a list is an out with the list's name.
struct NamedOut {
  std::string_view name;
  Tensor tensor;
};

std::vector<NamedOut> outs_of(const Reproduced& call) {
  std::vector<NamedOut> outs;
  for (std::size_t i = 0; i < call.host.arguments.size(); ++i) {
    const SchemaArgument& a = call.op().arguments[i];
    const Value& value = call.host.arguments[i];
    if (!a.out) continue;
    cases::each_tensor(value, [&](const Tensor& t) { outs.push_back({a.name, t}); });
    if (const auto n = number_in(value)) outs.push_back({a.name, tensor_of(*n)});
  }
  return outs;
}

std::string right_text(const std::optional<judge::RightAnswers>& right) {
  std::string all = python_bool(right && right->zeros_have_signs);
  for (const Tensor* t : bounds(right)) all += ",\n        " + python_bytes(t->bytes);
  return all;
}

std::string results_text(const Reproduced& call) {
  std::string all;
  const std::vector<NamedOut> outs = outs_of(call);
  for (std::size_t k = 0; k < outs.size(); ++k)
    all +=
        fmt::format("    (\"{}\", {}, {}),\n", outs[k].name, python_layout(outs[k].tensor), right_text(call.right(k)));
  return all;
}

// Whether eager PyTorch has the operator with outs. It has the operators of ATen with the same schema, except operators
// that change an argument and operators that may omit a result.
bool has_eager(const Operator& op) {
  return op.name.starts_with(namespace_of_aten) && std::ranges::none_of(op.arguments, [](const SchemaArgument& a) {
           return a.mutated || a.is_out_number() || a.name == "output_mask";
         });
}

std::string eager_text(const Operator& op) {
  std::vector<std::string> outs;
  for (const SchemaArgument& a : op.arguments.last(op.outs()))
    outs.push_back(a.type.ends_with("[]") ? fmt::format("{}=results", a.name)
                                          : fmt::format("{}=results[{}]", a.name, outs.size()));
  return fmt::format(eager_function, op.name.substr(namespace_of_aten.size()), fmt::join(outs, ", "));
}

std::string lines_of(std::string_view text, std::size_t width) {
  std::string lines;
  for (; !text.empty(); text.remove_prefix(std::min(width, text.size())))
    lines += fmt::format("{}{}", lines.empty() ? "" : "\n", text.substr(0, width));
  return lines;
}

}  // namespace

std::string python_reproduction(const Reproduced& call) {
  const Operator& op = call.op();
  const bool eager = has_eager(op);
  return filled(
      embedded::call_py_in,
      {{"case", cases::to_text(call.c.id)},
       {"schema", std::string(op.schema)},
       {"arguments", python_arguments(call)},
       {"results", results_text(call)},
       {"expected", string_literal(expected_in_words(call))},
       {"is_valid", python_bool(call.host.valid())},
       {"program", lines_of(text::base64(encode(program_of_call(op, call.host.arguments).program)), 116)},
       {"libraries", op.name.starts_with(namespace_of_aten) ? "[]" : "[\"libexecutorch_kernels_quantized.so\"]"},
       {"eager", eager ? eager_text(op) : ""},
       {"ask_eager", eager ? "report(\"eager PyTorch\", in_child(eager))\n" : ""}});
}

}  // namespace assay::reproduce

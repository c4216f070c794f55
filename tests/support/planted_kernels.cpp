// A kernel library behind the C interface. It has the reference's kernels, with a planted fault in one: a fault of
// planted.h, or one that goes wrong in some calls (planted_faults.h). Every kind of value passes through the interface
// in both directions.

#include "conformance/adapters/reference_library.h"
#include "conformance/api/kernel_library.h"
#include "reference/fault.h"
#include "tests/support/planted.h"
#include "tests/support/planted_faults.h"

namespace assay {
namespace {

template <class T>
auto items(const T& list) {
  return std::span(list.items, list.count);
}

testee::TensorView view_of(const assay_kernel_tensor& t) {
  Dims sizes, dim_order;
  for (std::uint32_t d = 0; d < t.rank; ++d) sizes.push_back(t.sizes[d]), dim_order.push_back(t.dim_order[d]);
  return {dtype_numbered(t.dtype).value(), sizes, dim_order, static_cast<std::byte*>(t.data), t.capacity};
}

testee::HostValue value_of(const assay_kernel_value& value) {
  const auto list = [](const auto& l) { return std::pair(l.items, l.items + l.count); };
  switch (value.kind) {
    case ASSAY_KERNEL_TENSOR:
      return view_of(value.as.tensor);
    case ASSAY_KERNEL_INT:
      return value.as.integer;
    case ASSAY_KERNEL_DOUBLE:
      return value.as.real;
    case ASSAY_KERNEL_BOOL:
      return value.as.boolean != 0;
    case ASSAY_KERNEL_STRING:
      return std::string(value.as.string.text, value.as.string.length);
    case ASSAY_KERNEL_INTS:
      return std::make_from_tuple<Ints>(list(value.as.integers));
    case ASSAY_KERNEL_DOUBLES:
      return std::make_from_tuple<Doubles>(list(value.as.reals));
    case ASSAY_KERNEL_BOOLS:
      return std::make_from_tuple<Bools>(list(value.as.booleans));
    case ASSAY_KERNEL_TENSORS: {
      testee::TensorViews views;
      for (const assay_kernel_value& item : items(value.as.tensors))
        views.push_back(item.kind == ASSAY_KERNEL_NONE ? std::nullopt : std::optional(view_of(item.as.tensor)));
      return views;
    }
    default:
      return {};
  }
}

void hand_back(const assay_kernel_host& host, const testee::TensorView& result, assay_kernel_tensor& out) {
  out.dtype = static_cast<std::int32_t>(result.dtype);
  const std::vector<std::int64_t> sizes(result.sizes.begin(), result.sizes.end());
  if (!host.resize(host.context, &out, static_cast<std::uint32_t>(sizes.size()), sizes.data()))
    throw Fault(Outcome::exhausted, "limits.out",
                concat("a result of sizes ", result.sizes, " does not fit in its out"));
}

void hand_back(const assay_kernel_host& host, const testee::HostValue& result, assay_kernel_value& out) {
  if (const auto* one = std::get_if<testee::TensorView>(&result)) return hand_back(host, *one, out.as.tensor);
  const auto& list = std::get<testee::TensorViews>(result);
  for (std::size_t k = 0; k < list.size(); ++k) hand_back(host, *list[k], out.as.tensors.items[k].as.tensor);
}

testee::Reply answer(const Operator& op, const assay_kernel_host& host, std::span<assay_kernel_value> values) {
  do_planted(op);
  if (is_planted(op, "refuse")) return {Outcome::invalid, "not today"};
  std::vector<testee::HostValue> arguments;
  for (const assay_kernel_value& value : values) arguments.push_back(value_of(value));
  const testee::Reply reply = planted::faulty_answer(op, arguments);
  testee::TensorView* out = std::get_if<testee::TensorView>(&arguments.back());
  if (is_planted(op, "wrong") && out) out->data[out->bytes() - 1] ^= std::byte{0x40};
  if (is_planted(op, "damage") && out) out->data[out->capacity] ^= std::byte{1};
  for (std::size_t i = 0; reply.outcome == Outcome::ok && i < values.size(); ++i)
    if (op.arguments[i].out) hand_back(host, arguments[i], values[i]);
  return reply;
}

int has(void*, const char* name) {
  const Operator* op = find_operator(name);
  return op && !is_planted(*op, "lack");
}

assay_kernel_reply call(void*, const char* name, const assay_kernel_host* host, assay_kernel_value* values,
                        std::size_t count) {
  static std::string message;
  testee::Reply reply;
  try {
    reply = answer(*find_operator(name), *host, {values, count});
  } catch (const Fault& fault) {
    reply = {fault.outcome, fault.message};
  }
  message = reply.message;
  return {static_cast<std::int32_t>(reply.outcome), message.c_str()};
}

constexpr assay_kernel_library table{
    ASSAY_KERNEL_LIBRARY_VERSION, "planted", nullptr, nullptr, 0, nullptr, has, call, nullptr, nullptr};

}  // namespace
}  // namespace assay

const assay_kernel_library* assay_kernel_library_v1() { return &assay::table; }

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels.gen.h"
#include "optimized/operators/elements.h"
#include "optimized/operators/layout.h"

// One number out for each number in, or for two or three that are broadcast.
namespace assay::optimized {
namespace {

using kernels::Pointwise;

constexpr int most_operands_in = 3;
constexpr std::size_t tile = 256;  // elements that are gathered at once
using Slot = std::int64_t;         // for one element of any type

struct State {
  bool fixed = false, fits = false;
  DType common = DType::float32;
  std::uint8_t operands = 0, operand_bytes[most_operands_in] = {}, result_bytes = 0;
  std::uint8_t gathered_bytes[most_operands_in] = {};
  kernels::PointwiseRow row = nullptr;
  Gather gather[most_operands_in] = {};
  bool converts[most_operands_in] = {};  // its elements are not those that the row reads
  Store store = nullptr;
  Slot numbers[most_operands_in] = {}, parameters[2] = {};
  Nest nest;
};

// Where a call's parameters stand: behind the operands, before the out.
std::span<Value* const> parameters_of(const Call& call, int operands) {
  const std::size_t n = call.arguments.size() - 1, first = static_cast<std::size_t>(operands);
  return call.arguments.subspan(first, std::min<std::size_t>(n - first, 2));
}

// An integer without an opposite, with which sub computes.
bool is_least(DType common, const Value& v) {
  Value opposite = v;
  Slot unused;
  if (v.kind != ValueKind::integer || v.integer >= 0) return false;
  return __builtin_sub_overflow(std::int64_t{0}, v.integer, &opposite.integer) || !number_as(common, opposite, &unused);
}

bool read_parameters(const Call& call, State& s) {
  const auto all = parameters_of(call, s.operands);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Value& v = *all[i];
    if (v.kind == ValueKind::none && !v.changes) {  // no limit
      const float none = i == 0 ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
      s.parameters[i] = i == 0 ? std::numeric_limits<Slot>::min() : std::numeric_limits<Slot>::max();
      if (s.common == DType::float32) std::memcpy(&s.parameters[i], &none, sizeof none);
    } else if (v.kind == ValueKind::integer || v.kind == ValueKind::real) {
      if (!number_as(s.common, v, &s.parameters[i])) return false;
      if (v.kind == ValueKind::real && std::isnan(v.real)) return false;
      if (is_least(s.common, v)) return false;
    } else if (v.kind != ValueKind::string) {
      return false;
    }
  }
  return true;
}

bool read_numbers(const Call& call, State& s) {
  for (int k = 0; k < s.operands; ++k) {
    const Value& v = call[static_cast<std::size_t>(k)];
    if (v.kind == ValueKind::tensor) continue;
    if (!number_as(s.common, v, &s.numbers[k])) return false;
  }
  return read_parameters(call, s);
}

Tensor& out_of(const Call& call) { return *call.arguments.back()->tensor; }

bool result_shape(const Call& call, int operands, Shape& shape) {
  for (int k = 0; k < operands; ++k)
    if (call[static_cast<std::size_t>(k)].kind == ValueKind::tensor &&
        !broadcast(shape, call.tensor(static_cast<std::size_t>(k))))
      return false;
  return true;
}

Nest make_nest(const Call& call, int operands, const Shape& shape) {
  const Tensor& out = out_of(call);
  Strides strides[most_operands] = {strides_of(out)};
  for (int k = 0; k < operands; ++k)
    if (call[static_cast<std::size_t>(k)].kind == ValueKind::tensor)
      strides[k + 1] = strides_in(shape, call.tensor(static_cast<std::size_t>(k)));
  return nest_of(shape, out.dim_order, std::span(strides).first(static_cast<std::size_t>(operands) + 1));
}

// The dtype that an operation is computed in. Of one that only floats have, integers become floats.
template <Pointwise operation, bool casts>
std::optional<DType> common_of(const Call& call) {
  if (casts) return out_of(call).dtype;
  Promotion promotion;
  for (int k = operation == Pointwise::where; k < kernels::operands_of(operation); ++k)
    promotion.add(call[static_cast<std::size_t>(k)]);
  auto common = promotion.result();
  if (common && !kernels::has_row<operation, Element::i64>()) common = DType::float32;
  return common;
}

Element element_of_operand(Pointwise operation, int k, Element element) {
  return operation == Pointwise::where && k == 0 ? Element::boolean : element;
}

template <Pointwise operation, bool casts>
bool plan(const Call& call, Element element, kernels::FindRow find_row, State& s) {
  constexpr int operands = kernels::operands_of(operation);
  if (!call.set || call.arguments.size() <= operands || call.arguments.back()->kind != ValueKind::tensor) return false;
  for (int k = 0; k < operands; ++k)
    if (call[static_cast<std::size_t>(k)].kind > ValueKind::tensor) return false;
  const Tensor& out = out_of(call);
  const auto common = common_of<operation, casts>(call);
  if (!common || element_of(*common) != element) return false;
  s.common = *common, s.operands = operands;
  s.row = find_row(*call.set);
  const DType result = kernels::gives_truth(operation) ? DType::boolean : *common;
  if (!s.row || out.dtype != result) return false;
  s.result_bytes = static_cast<std::uint8_t>(out.element_bytes());
  if (result != DType::boolean && result != dtype_of(element) && !(s.store = find_store(element, result))) return false;
  for (int k = 0; k < operands; ++k) {
    const Element wanted = element_of_operand(operation, k, element);
    const Value& v = call[static_cast<std::size_t>(k)];
    const DType from = v.kind == ValueKind::tensor ? v.tensor->dtype : dtype_of(wanted);
    const bool is_condition = wanted != element;
    if (is_condition ? from != DType::boolean && from != DType::uint8
                     : !casts && v.kind == ValueKind::tensor && !holds(*common, from))
      return false;
    s.gather[k] = find_gather(from, wanted);
    if (!s.gather[k]) return false;
    s.operand_bytes[k] = static_cast<std::uint8_t>(find_dtype(static_cast<int>(from))->bytes);
    s.gathered_bytes[k] = static_cast<std::uint8_t>(kernels::bytes_of(wanted));
    s.converts[k] = from != dtype_of(wanted);
  }
  return read_numbers(call, s);
}

bool always(const Call&) { return true; }

template <Pointwise operation, Element element, bool (*applies)(const Call&), bool casts>
bool accepts(const Call& call) {
  State s;
  return plan<operation, casts>(call, element, kernels::find_row<operation, element>, s) && applies(call);
}

template <Pointwise operation, Element element, bool casts>
const void* prepare(const Call& call, Stores& stores) {
  const auto made = stores.tables.take<State>(1);
  if (made.empty()) return nullptr;
  State& s = made[0];
  plan<operation, casts>(call, element, kernels::find_row<operation, element>, s);
  s.fixed = is_fixed(call);
  Shape shape;
  if (s.fixed && result_shape(call, s.operands, shape)) {
    s.fits = std::ranges::equal(shape.span(), out_of(call).shape());
    if (s.fits) s.nest = make_nest(call, s.operands, shape);
  }
  return &s;
}

// Of the outermost loop those in the range.
void run_rows(const State& s, const Nest& whole, kernels::Range range, const Call& call) {
  alignas(64) std::byte gathered[most_operands_in][tile * sizeof(Slot)];
  alignas(64) std::byte results[tile * sizeof(Slot)];
  const std::byte* base[most_operands_in];
  const void* filled[most_operands_in] = {};  // the one element that is repeated in `gathered`
  Nest nest = whole;
  nest.count[0] = static_cast<std::ptrdiff_t>(range.size());
  const auto first = [&](int k) { return static_cast<std::ptrdiff_t>(range.begin) * nest.stride[k][0]; };
  for (int k = 0; k < s.operands; ++k) {
    const Value& v = call[static_cast<std::size_t>(k)];
    base[k] = v.kind == ValueKind::tensor ? v.tensor->data : reinterpret_cast<const std::byte*>(&s.numbers[k]);
    base[k] += first(k + 1) * s.operand_bytes[k];
  }
  std::byte* out = out_of(call).data + first(0) * s.result_bytes;
  const int inner = nest.loops - 1;
  bool direct[most_operands_in], all_direct = !s.store;
  for (int k = 0; k < s.operands; ++k) {
    direct[k] = nest.loops > 0 && !s.converts[k] && nest.stride[k + 1][inner] == 1;
    all_direct = all_direct && direct[k];
  }
  each_row(nest, s.operands + 1, [&](const std::ptrdiff_t* at, std::ptrdiff_t count) {
    const std::size_t n = static_cast<std::size_t>(count), step = all_direct ? n : tile;
    for (std::size_t done = 0; done < n; done += step) {
      const std::size_t now = std::min(step, n - done);
      const void* operands[most_operands_in];
      for (int k = 0; k < s.operands; ++k) {
        const std::ptrdiff_t stride = nest.stride[k + 1][inner];
        const std::byte* from = base[k] + (at[k + 1] + stride * static_cast<std::ptrdiff_t>(done)) * s.operand_bytes[k];
        operands[k] = direct[k] ? static_cast<const void*>(from) : gathered[k];
        if (direct[k] || (stride == 0 && filled[k] == from)) continue;
        s.gather[k](from, stride, gathered[k], stride == 0 ? std::min(tile, n) : now);
        filled[k] = from;
      }
      std::byte* to = out + (at[0] + static_cast<std::ptrdiff_t>(done)) * s.result_bytes;
      s.row(operands, s.store ? results : to, now, s.parameters);
      if (s.store) s.store(results, to, now);
    }
  });
}

void share_rows(const State& s, const Nest& nest, const Call& call, const kernels::Threads& threads) {
  if (nest.loops == 0) return;
  std::size_t row = 1;
  for (int d = 1; d < nest.loops; ++d) row *= static_cast<std::size_t>(nest.count[d]);
  kernels::share(threads, static_cast<std::size_t>(nest.count[0]), row,
                 [&](kernels::Range range) { run_rows(s, nest, range, call); });
}

bool run(const Step& step, Run& run) {
  const State& s = *static_cast<const State*>(step.state);
  if (s.fixed) {
    if (!s.fits) return false;
    share_rows(s, s.nest, step.call, run.threads);
    return true;
  }
  State now = s;
  if (!read_numbers(step.call, now)) return false;
  Shape shape;
  if (!result_shape(step.call, s.operands, shape) || !resize(out_of(step.call), shape.span())) return false;
  share_rows(now, make_nest(step.call, s.operands, shape), step.call, run.threads);
  return true;
}

template <Pointwise operation, Element element, bool (*applies)(const Call&) = always, bool casts = false>
constexpr Kernel pointwise(const char* name) {
  return {name, accepts<operation, element, applies, casts>, prepare<operation, element, casts>, run};
}
// A copy to another dtype; the format is one of those that there are.
bool is_formatted(const Call& call) {
  return is_memory_format(call[call.arguments.size() - 2], call.tensor(0).rank) && is_fixed(call[2]);
}
bool is_ordered(const Call& call) { return is_format_order(call[2], call.tensor(0).rank) && is_fixed(call[2]); }

bool is_limited(const Call& call) { return call[1].kind != ValueKind::none || call[2].kind != ValueKind::none; }

bool is_f32(const Call& call) { return call.tensor(0).dtype == DType::float32; }

// pow.Tensor_Scalar: exponents have formulas of their own.
template <int halves>
bool has_exponent(const Call& call) {
  const Value& exponent = call[1];
  return is_f32(call) && !exponent.changes &&
         (exponent.kind == ValueKind::real ? 2 * exponent.real == halves : 2 * exponent.integer == halves);
}
bool is_power(const Call& call) { return is_f32(call) && !call[1].changes; }

// What is subtracted is no bool.
bool has_no_bool(const Call& call) {
  const auto is_bool = [](const Value& v) {
    return v.kind == ValueKind::boolean || (v.kind == ValueKind::tensor && v.tensor->dtype == DType::boolean);
  };
  return !is_bool(call[0]) && !is_bool(call[1]);
}

bool is_exact(const Call& call) { return is_f32(call) && call[1].string() == "none"; }
bool is_by_tanh(const Call& call) { return is_f32(call) && call[1].string() == "tanh"; }

using enum Element;

}  // namespace

constexpr Kernel add_f32 = pointwise<Pointwise::add, f32>("add_f32");
constexpr Kernel add_i64 = pointwise<Pointwise::add, i64>("add_i64");
constexpr Kernel sub_f32 = pointwise<Pointwise::sub, f32, has_no_bool>("sub_f32");
constexpr Kernel sub_i64 = pointwise<Pointwise::sub, i64, has_no_bool>("sub_i64");
constexpr Kernel rsub_f32 = pointwise<Pointwise::rsub, f32, has_no_bool>("rsub_f32");
constexpr Kernel rsub_i64 = pointwise<Pointwise::rsub, i64, has_no_bool>("rsub_i64");
constexpr Kernel mul_f32 = pointwise<Pointwise::mul, f32>("mul_f32");
constexpr Kernel mul_i64 = pointwise<Pointwise::mul, i64>("mul_i64");
constexpr Kernel mul_bool = pointwise<Pointwise::mul, boolean>("mul_bool");
constexpr Kernel div_f32 = pointwise<Pointwise::div, f32>("div_f32");
constexpr Kernel minimum_f32 = pointwise<Pointwise::minimum, f32>("minimum_f32");
constexpr Kernel minimum_i64 = pointwise<Pointwise::minimum, i64>("minimum_i64");
constexpr Kernel maximum_f32 = pointwise<Pointwise::maximum, f32>("maximum_f32");
constexpr Kernel maximum_i64 = pointwise<Pointwise::maximum, i64>("maximum_i64");
constexpr Kernel eq_f32 = pointwise<Pointwise::eq, f32>("eq_f32");
constexpr Kernel eq_i64 = pointwise<Pointwise::eq, i64>("eq_i64");
constexpr Kernel eq_bool = pointwise<Pointwise::eq, boolean>("eq_bool");
constexpr Kernel ne_f32 = pointwise<Pointwise::ne, f32>("ne_f32");
constexpr Kernel ne_i64 = pointwise<Pointwise::ne, i64>("ne_i64");
constexpr Kernel ne_bool = pointwise<Pointwise::ne, boolean>("ne_bool");
constexpr Kernel lt_f32 = pointwise<Pointwise::lt, f32>("lt_f32");
constexpr Kernel lt_i64 = pointwise<Pointwise::lt, i64>("lt_i64");
constexpr Kernel le_f32 = pointwise<Pointwise::le, f32>("le_f32");
constexpr Kernel le_i64 = pointwise<Pointwise::le, i64>("le_i64");
constexpr Kernel gt_f32 = pointwise<Pointwise::gt, f32>("gt_f32");
constexpr Kernel gt_i64 = pointwise<Pointwise::gt, i64>("gt_i64");
constexpr Kernel ge_f32 = pointwise<Pointwise::ge, f32>("ge_f32");
constexpr Kernel ge_i64 = pointwise<Pointwise::ge, i64>("ge_i64");
constexpr Kernel logical_and_f32 = pointwise<Pointwise::logical_and, f32>("logical_and_f32");
constexpr Kernel logical_and_i64 = pointwise<Pointwise::logical_and, i64>("logical_and_i64");
constexpr Kernel logical_and_bool = pointwise<Pointwise::logical_and, boolean>("logical_and_bool");
constexpr Kernel logical_or_f32 = pointwise<Pointwise::logical_or, f32>("logical_or_f32");
constexpr Kernel logical_or_i64 = pointwise<Pointwise::logical_or, i64>("logical_or_i64");
constexpr Kernel logical_or_bool = pointwise<Pointwise::logical_or, boolean>("logical_or_bool");
constexpr Kernel logical_not_f32 = pointwise<Pointwise::logical_not, f32>("logical_not_f32");
constexpr Kernel logical_not_i64 = pointwise<Pointwise::logical_not, i64>("logical_not_i64");
constexpr Kernel logical_not_bool = pointwise<Pointwise::logical_not, boolean>("logical_not_bool");
constexpr Kernel abs_f32 = pointwise<Pointwise::abs, f32>("abs_f32");
constexpr Kernel abs_i64 = pointwise<Pointwise::abs, i64>("abs_i64");
constexpr Kernel neg_f32 = pointwise<Pointwise::neg, f32>("neg_f32");
constexpr Kernel neg_i64 = pointwise<Pointwise::neg, i64>("neg_i64");
constexpr Kernel relu_f32 = pointwise<Pointwise::relu, f32>("relu_f32");
constexpr Kernel relu_i64 = pointwise<Pointwise::relu, i64>("relu_i64");
constexpr Kernel clamp_f32 = pointwise<Pointwise::clamp, f32, is_limited>("clamp_f32");
constexpr Kernel clamp_i64 = pointwise<Pointwise::clamp, i64, is_limited>("clamp_i64");
constexpr Kernel sqrt_f32 = pointwise<Pointwise::sqrt, f32>("sqrt_f32");
constexpr Kernel rsqrt_f32 = pointwise<Pointwise::rsqrt, f32>("rsqrt_f32");
constexpr Kernel reciprocal_f32 = pointwise<Pointwise::reciprocal, f32>("reciprocal_f32");
constexpr Kernel exp_f32 = pointwise<Pointwise::exp, f32>("exp_f32");
constexpr Kernel log_f32 = pointwise<Pointwise::log, f32>("log_f32");
constexpr Kernel sin_f32 = pointwise<Pointwise::sin, f32>("sin_f32");
constexpr Kernel cos_f32 = pointwise<Pointwise::cos, f32>("cos_f32");
constexpr Kernel tanh_f32 = pointwise<Pointwise::tanh, f32>("tanh_f32");
constexpr Kernel erf_f32 = pointwise<Pointwise::erf, f32>("erf_f32");
constexpr Kernel sigmoid_f32 = pointwise<Pointwise::sigmoid, f32>("sigmoid_f32");
constexpr Kernel where_f32 = pointwise<Pointwise::where, f32>("where_f32");
constexpr Kernel where_i64 = pointwise<Pointwise::where, i64>("where_i64");
constexpr Kernel where_bool = pointwise<Pointwise::where, boolean>("where_bool");
constexpr Kernel gelu_f32 = pointwise<Pointwise::gelu, f32, is_exact>("gelu_f32");
constexpr Kernel gelu_tanh_f32 = pointwise<Pointwise::gelu_tanh, f32, is_by_tanh>("gelu_tanh_f32");
constexpr Kernel pow_square_f32 = pointwise<Pointwise::square, f32, has_exponent<4>>("pow_square_f32");
constexpr Kernel pow_root_f32 = pointwise<Pointwise::sqrt, f32, has_exponent<1>>("pow_root_f32");
constexpr Kernel pow_inverse_root_f32 = pointwise<Pointwise::rsqrt, f32, has_exponent<-1>>("pow_inverse_root_f32");
constexpr Kernel pow_inverse_f32 = pointwise<Pointwise::reciprocal, f32, has_exponent<-2>>("pow_inverse_f32");
constexpr Kernel pow_cube_f32 = pointwise<Pointwise::cube, f32, has_exponent<6>>("pow_cube_f32");
constexpr Kernel pow_inverse_square_f32 =
    pointwise<Pointwise::inverse_square, f32, has_exponent<-4>>("pow_inverse_square_f32");
constexpr Kernel pow_f32 = pointwise<Pointwise::power, f32, is_power>("pow_f32");

constexpr Kernel to_f32 = pointwise<Pointwise::same, f32, is_formatted, true>("to_f32");
constexpr Kernel to_i64 = pointwise<Pointwise::same, i64, is_formatted, true>("to_i64");
constexpr Kernel to_bool = pointwise<Pointwise::same, boolean, is_formatted, true>("to_bool");
constexpr Kernel to_ordered_f32 = pointwise<Pointwise::same, f32, is_ordered, true>("to_ordered_f32");
constexpr Kernel to_ordered_i64 = pointwise<Pointwise::same, i64, is_ordered, true>("to_ordered_i64");
constexpr Kernel to_ordered_bool = pointwise<Pointwise::same, boolean, is_ordered, true>("to_ordered_bool");

}  // namespace assay::optimized

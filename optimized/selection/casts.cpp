#include <algorithm>
#include <cstring>

#include "kernels.gen.h"
#include "optimized/selection/elements.h"
#include "optimized/selection/gather.h"
#include "optimized/selection/views.h"

// Converts elements to another dtype, in their order or in another one.
namespace assay::optimized {
namespace {

// The number without its fraction. What Wide does not hold becomes its least number.
template <class D, class Wide>
std::int64_t truncated(D x) {
  constexpr Wide least = std::numeric_limits<Wide>::min();
  constexpr float limit = -static_cast<float>(least);
  return x >= -limit && x < limit ? static_cast<Wide>(x) : least;
}

using Set = kernels::InstructionSet;
Gather to_floats(DType from, DType, Set set) { return find_gather(from, Element::f32, set); }
Gather to_doubles(DType from, DType, Set) {  // copy_elements copies doubles
  return from == DType::float64 ? nullptr : find_gather(from, Element::f64);
}
Gather to_truths(DType from, DType, Set) { return find_gather(from, Element::boolean); }

// The same for an unsigned type as wide as Wide: it holds larger numbers, and what is beyond becomes 0.
template <class D, class Wide>
std::int64_t truncated_unsigned(D x) {
  constexpr float half = -static_cast<float>(std::numeric_limits<Wide>::min());
  if (!(x >= half)) return truncated<D, Wide>(x);
  return x < 2 * half ? static_cast<std::int64_t>(static_cast<std::uint64_t>(x)) : 0;
}

template <class Wide, bool is_unsigned = false>
Gather to_integers_by(DType from) {
  return with_type_of(from, []<class D>() -> Gather {
    if constexpr (std::is_integral_v<D>)
      return gather_as<D, std::int64_t>;
    else
      return gather_as < D, std::int64_t, is_unsigned ? truncated_unsigned<D, Wide> : truncated < D, Wide >> ;
  });
}
Gather to_integers(DType from, DType to, Set) {
  if (to == DType::uint64) return to_integers_by<std::int64_t, true>(from);
  if (to == DType::uint32) return to_integers_by<std::int32_t, true>(from);
  const bool is_wide = to == DType::int64 || to == DType::uint8;
  return is_wide ? to_integers_by<std::int64_t>(from) : to_integers_by<std::int32_t>(from);
}

// The dtypes of the results of a kernel, and the type in which it computes these.
struct Target {
  bool (*has)(DType to);
  Gather (*find)(DType from, DType to, Set set);
  Element element;
};
bool is_float(DType to) { return element_of(to) == Element::f32; }
bool is_integer(DType to) { return carrier_of(to) == Element::i64; }
bool is_truth(DType to) { return to == DType::boolean; }
bool is_double(DType to) { return to == DType::float64; }
constexpr Target floats{is_float, to_floats, Element::f32}, wholes{is_integer, to_integers, Element::i64},
    truths{is_truth, to_truths, Element::boolean}, doubles{is_double, to_doubles, Element::f64};

struct State {
  bool fixed = false, fits = false;
  std::uint8_t from_bytes = 0, to_bytes = 0;
  Gather gather = nullptr;
  Store store = nullptr;  // null if results are stored as they are gathered
  Nest nest;
};

template <const Target& target>
bool plan(const Call& call, State& s) {
  if (call[0].kind != ValueKind::tensor || call.arguments.back()->kind != ValueKind::tensor) return false;
  const DType from = call.tensor(0).dtype, to = call.out().dtype;
  if (!call.set || !target.has(to)) return false;
  s.fixed = is_fixed(call);
  s.gather = target.find(from, to, *call.set);
  if (to != dtype_of(target.element)) s.store = find_store(target.element, to, *call.set);
  s.from_bytes = static_cast<std::uint8_t>(call.tensor(0).element_bytes());
  s.to_bytes = static_cast<std::uint8_t>(call.out().element_bytes());
  return s.gather;
}

bool view(const Call& call, View& v) {
  v = whole(call.tensor(0));
  return find_viewer(call.roles->name)(call, v) && v.first == 0;
}

// The innermost loop writes contiguous elements. If it is short, as for the channels of a picture, the loop that reads
// contiguous elements takes its place.
Nest nest_of_view(const View& v, const Tensor& out) {
  const Strides strides[] = {strides_of(v.shape, out.dim_order), v.strides};
  Nest nest = nest_of(v.shape, out.dim_order, strides);
  constexpr std::ptrdiff_t few = 16;
  const int last = nest.loops - 1;
  if (last < 1 || nest.count[last] >= few) return nest;
  for (int d = 0; d < last; ++d) {
    if (nest.stride[1][d] != 1 || nest.count[d] <= nest.count[last]) continue;
    for (std::ptrdiff_t* loops : {nest.count, nest.stride[0], nest.stride[1]})
      std::rotate(loops + d, loops + d + 1, loops + nest.loops);
    break;
  }
  return nest;
}

// Writes contiguous elements of some bytes with a stride in elements.
void scatter(const std::byte* from, std::byte* to, std::ptrdiff_t stride, std::size_t n, std::size_t bytes) {
  const auto each = [&]<class Bits>(Bits) {
    for (std::size_t i = 0; i < n; ++i, from += sizeof(Bits), to += stride * static_cast<std::ptrdiff_t>(sizeof(Bits)))
      std::memcpy(to, from, sizeof(Bits));
  };
  if (bytes == 1) return each(std::uint8_t());
  if (bytes == 2) return each(std::uint16_t());
  return bytes == 4 ? each(std::uint32_t()) : each(std::uint64_t());
}

template <const Target& target>
bool accepts(const Call& call) {
  State s;
  View v;
  return plan<target>(call, s) && (!s.fixed || view(call, v));
}

template <const Target& target>
const void* prepare(const Call& call, Stores& stores) {
  const auto made = stores.tables.take<State>(1);
  if (made.empty()) return nullptr;
  State& s = made[0];
  View v;
  if (!plan<target>(call, s) || !s.fixed || !view(call, v)) return &s;
  s.fits = std::ranges::equal(v.shape.span(), call.out().shape());
  if (s.fits) s.nest = nest_of_view(v, call.out());
  return &s;
}

// Does the rows of the outermost loop that are in the range.
void cast_rows(const State& s, Nest nest, kernels::Range range, const std::byte* from, std::byte* to) {
  constexpr std::size_t tile = 256;
  alignas(64) std::int64_t gathered[tile], stored[tile];
  const auto begin = static_cast<std::ptrdiff_t>(range.begin);
  nest.count[0] = static_cast<std::ptrdiff_t>(range.size());
  from += begin * nest.stride[1][0] * s.from_bytes, to += begin * nest.stride[0][0] * s.to_bytes;
  const std::ptrdiff_t stride = nest.stride[1][nest.loops - 1], to_stride = nest.stride[0][nest.loops - 1];
  each_row(nest, 2, [&](const std::ptrdiff_t* at, std::ptrdiff_t count) {
    const std::byte* x = from + at[1] * s.from_bytes;
    std::byte* y = to + at[0] * s.to_bytes;
    const auto n = static_cast<std::size_t>(count);
    if (!s.store && to_stride == 1) return s.gather(x, stride, y, n);
    for (std::size_t done = 0; done < n; done += tile) {
      const std::size_t now = std::min(tile, n - done);
      const auto place = static_cast<std::ptrdiff_t>(done);
      std::byte* const out = y + place * to_stride * s.to_bytes;
      std::byte* const results = to_stride == 1 ? out : reinterpret_cast<std::byte*>(stored);
      s.gather(x + place * stride * s.from_bytes, stride, s.store ? reinterpret_cast<std::byte*>(gathered) : results,
               now);
      if (s.store) s.store(gathered, results, now);
      if (to_stride != 1) scatter(results, out, to_stride, now, s.to_bytes);
    }
  });
}

bool run(const Step& step, Execution& execution) {
  const State& s = *static_cast<const State*>(step.state);
  const Tensor &self = step.call.tensor(0), &out = step.call.out();
  Nest nest = s.nest;
  if (!s.fixed) {
    View v;
    if (!view(step.call, v) || !resize(step.call.out(), v.shape.span())) return false;
    nest = nest_of_view(v, out);
  } else if (!s.fits) {
    return false;
  }
  if (nest.loops == 0) return true;
  std::size_t row = 1;
  for (int d = 1; d < nest.loops; ++d) row *= static_cast<std::size_t>(nest.count[d]);
  kernels::share(execution.threads, static_cast<std::size_t>(nest.count[0]), row,
                 [&](kernels::Range range) { cast_rows(s, nest, range, self.data, out.data); });
  return true;
}

template <const Target& target>
constexpr Kernel cast(const char* name) {
  return {name, accepts<target>, prepare<target>, run};
}

}  // namespace

constexpr Kernel to_f32 = cast<floats>("to_f32");
constexpr Kernel to_f64 = cast<doubles>("to_f64");
constexpr Kernel to_i64 = cast<wholes>("to_i64");
constexpr Kernel to_bool = cast<truths>("to_bool");

}  // namespace assay::optimized

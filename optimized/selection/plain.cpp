#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels.gen.h"
#include "optimized/selection/elements.h"
#include "optimized/selection/layout.h"
#include "optimized/selection/numbers.h"

// Makes a kernel for half types and for any layout from a kernel of floats. Tensors of half floats, and tensors of
// floats that are not in row-major order, are replaced by plain copies: row-major floats. The kernel of floats computes
// with these; its results are rounded once, and stored in the layout of the outs. A constant is copied once, before the
// first execution; the other copies lie in scratch memory.
namespace assay::optimized {
namespace {

constexpr std::size_t most_arguments = 16;

bool is_plain(const Tensor& t) { return t.dtype == DType::float32 && is_row_major(t); }
bool is_replaced(const Value& v) {
  return v.kind == ValueKind::tensor && element_of(v.tensor->dtype) == Element::f32 && !is_plain(*v.tensor);
}

// Whether all floating operands have one dtype. Which mixtures are valid depends on the operator.
bool has_one_dtype(const Call& call) {
  std::optional<DType> dtype;
  for (const Value* v : call.arguments) {
    if (v->kind != ValueKind::tensor || !is_floating(v->tensor->dtype)) continue;
    if (dtype && *dtype != v->tensor->dtype) return false;
    dtype = v->tensor->dtype;
  }
  return true;
}

// Whether a constant has elements that can be copied before the first execution.
bool is_kept(const Tensor& t) { return t.constant && !t.moves; }

// Whether no element has an exponent of ones only. Constants may be unaligned while memory is only counted.
template <class Bits>
bool is_finite(const Tensor& t, Bits exponent) {
  const std::byte* const end = t.data + t.bytes();
  bool finite = true;
  for (const std::byte* at = t.data; at != end; at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, at, sizeof bits);
    finite &= (bits & exponent) != exponent;
  }
  return finite;
}
bool is_finite(const Tensor& t) {
  if (t.dtype == DType::float32) return is_finite<std::uint32_t>(t, 0x7f800000);
  return is_finite<std::uint16_t>(t, t.dtype == DType::float16 ? 0x7c00 : 0x7f80);
}

bool is_changed(const Call& call, std::size_t i) {
  const format::Use use = call.roles->arguments()[i].use;
  return format::writes(use) && use != format::Use::written;
}

// The operands of the kernel of floats.
struct Operands {
  Value values[most_arguments];
  Tensor tensors[most_arguments];
  Value* arguments[most_arguments];
  bool replaces = false;
  std::uint64_t offset[most_arguments] = {};  // of the plain copies in scratch memory
  std::uint64_t bytes = 0;
  const void* state = nullptr;

  Call of(const Call& call) const {
    Call inner = call;
    inner.arguments = {arguments, call.arguments.size()};
    return inner;
  }
};

// The sizes of a plain tensor are those of the tensor that it replaces.
Tensor plain_of(const Tensor& t) {
  Tensor plain = t;
  plain.data = plain.home = nullptr, plain.dtype = DType::float32, plain.dim_order = row_major;
  plain.capacity = t.capacity / t.element_bytes() * sizeof(float);
  plain.constant = plain.lasts = plain.read_beyond = false, plain.finite = Tensor::Finite::unknown;
  return plain;
}
// A kernel that packs constants may pack the copy, too.
Tensor constant_of(Tensor& t) {
  if (t.finite == Tensor::Finite::unknown) t.finite = is_finite(t) ? Tensor::Finite::yes : Tensor::Finite::no;
  Tensor plain = plain_of(t);
  plain.constant = true, plain.finite = t.finite;
  return plain;
}

std::uint64_t room_of(const Tensor& t) {
  std::uint64_t count = 1;
  for (int d = 0; d < t.rank; ++d) count *= static_cast<std::uint64_t>(t.declared[d]);
  return (count * sizeof(float) + most_beyond + 63) / 64 * 64;
}

// The group norm is not defined for inputs in every layout.
bool has_layout(const Call& call) {
  return call.roles->name != "aten::native_group_norm.out" || is_row_major(call.tensor(0));
}

// Returns false if the call has nothing to replace, or sizes without bounds. `packs` tells whether the kernel of floats
// packs constants.
bool replace(const Call& call, bool packs, Operands& o) {
  if (call.arguments.size() > most_arguments || call.fusion || !has_one_dtype(call)) return false;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    o.values[i] = call[i], o.arguments[i] = call.arguments[i];
    if (!is_replaced(call[i])) continue;
    if (call.tensor(i).unbounded || is_changed(call, i)) return false;
    o.tensors[i] = packs && is_kept(call.tensor(i)) ? constant_of(call.tensor(i)) : plain_of(call.tensor(i));
    o.values[i].tensor = &o.tensors[i], o.arguments[i] = &o.values[i];
    o.replaces = true;
    if (is_kept(call.tensor(i))) continue;
    o.offset[i] = o.bytes, o.bytes += room_of(call.tensor(i));
  }
  return o.replaces;
}

template <const Kernel& kernel>
bool accepts(const Call& call) {
  Operands o;
  return call.set && replace(call, kernel.packs, o) && has_layout(call) && kernel.accepts(o.of(call));
}

void make_plain(const Tensor& from, const Tensor& plain) {
  const Strides strides[] = {strides_of(plain), strides_of(from)};
  const Nest nest = nest_of(shape_of(from), plain.dim_order, strides);
  const Gather gather = find_gather(from.dtype, Element::f32);
  each_row(nest, 2, [&](const std::ptrdiff_t* i, std::ptrdiff_t n) {
    gather(from.at(i[1]), nest.stride[1][nest.loops - 1], plain.at(i[0]), static_cast<std::size_t>(n));
  });
}

// Copies a constant. Its floats last until the kernel is prepared if the kernel packs them, else as long as the step.
void keep(const Tensor& from, Tensor& plain, bool is_packed, Stores& stores) {
  if (is_packed) {
    if (from.rank == 2) plain.dim_order = from.dim_order;  // kernels pack a matrix in any order
    stores.scratch = std::max(stores.scratch, room_of(from));
    if (stores.lent.empty() || !stores.packed.makes()) return;
    plain.data = stores.lent.data();
    return make_plain(from, plain);
  }
  const Packed::Floats kept = stores.packed.take(room_of(from) / sizeof(float));
  plain.data = reinterpret_cast<std::byte*>(const_cast<float*>(kept.data));
  if (!kept.to_make.empty()) make_plain(from, plain);
}

template <const Kernel& kernel>
const void* prepare(const Call& call, Stores& stores) {
  const auto made = stores.tables.take<Operands>(1);
  if (made.empty()) return nullptr;
  Operands& o = made[0];
  replace(call, kernel.packs, o);
  const Call inner = o.of(call);
  const Tensor* packed = kernel.packs ? kernel.packs(inner) : nullptr;
  const std::uint64_t before = std::exchange(stores.scratch, 0);
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (o.arguments[i] == &o.values[i] && is_kept(call.tensor(i)))
      keep(call.tensor(i), o.tensors[i], &o.tensors[i] == packed, stores);
  const std::uint64_t lent = std::exchange(stores.scratch, 0);
  if (kernel.prepare) o.state = kernel.prepare(inner, stores);
  for (Tensor& t : o.tensors)
    if (&t == packed) t.data = nullptr;  // its memory was lent
  stores.scratch = std::max({before, lent, o.bytes + stores.scratch});
  return &o;
}

void store_plain(const Tensor& plain, const Tensor& to) {
  constexpr std::ptrdiff_t tile = 256;
  const Strides strides[] = {strides_of(to), strides_of(plain)};
  const Nest nest = nest_of(shape_of(to), to.dim_order, strides);
  const Gather gather = find_gather(DType::float32, Element::f32);
  const Store store = find_store(Element::f32, to.dtype);
  alignas(64) float gathered[tile];
  each_row(nest, 2, [&](const std::ptrdiff_t* i, std::ptrdiff_t n) {
    const std::ptrdiff_t stride = nest.stride[1][nest.loops - 1];
    for (std::ptrdiff_t done = 0; done < n; done += tile) {
      const auto now = static_cast<std::size_t>(std::min(tile, n - done));
      std::byte* out = to.at(i[0] + done);
      gather(plain.at(i[1] + done * stride), stride, store ? static_cast<void*>(gathered) : out, now);
      if (store) store(gathered, out, now);
    }
  });
}

template <const Kernel& kernel>
bool run(const Step& step, Execution& execution) {
  Operands& o = *static_cast<Operands*>(const_cast<void*>(step.state));
  if (execution.scratch.size() < o.bytes) return false;
  const Call& call = step.call;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const bool is_copied = o.arguments[i] == &o.values[i] && !is_kept(call.tensor(i));
    if (!is_copied) continue;
    o.tensors[i].data = execution.scratch.data() + o.offset[i];
    o.tensors[i].moves = call.tensor(i).moves, o.tensors[i].declared = call.tensor(i).declared;
    if (!format::writes(call.roles->arguments()[i].use)) make_plain(call.tensor(i), o.tensors[i]);
  }
  Step inner = step;
  inner.run = kernel.run, inner.state = o.state, inner.call = o.of(call);
  Execution within = execution;
  within.scratch = execution.scratch.subspan(o.bytes);
  if (!kernel.run(inner, within)) return false;
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (o.arguments[i] == &o.values[i] && format::writes(call.roles->arguments()[i].use))
      store_plain(o.tensors[i], call.tensor(i));
  return true;
}

template <const Kernel& kernel>
constexpr Kernel plain(const char* name) {
  return {name, accepts<kernel>, prepare<kernel>, run<kernel>};
}

}  // namespace
}  // namespace assay::optimized

#include "plain.gen.h"

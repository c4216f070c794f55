#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels.gen.h"
#include "optimized/kernels/lines.h"
#include "optimized/kernels/product.h"
#include "optimized/selection/elements.h"
#include "optimized/selection/images.h"
#include "optimized/selection/layout.h"
#include "optimized/selection/numbers.h"

// Makes a kernel for half types and for any layout from a kernel of floats. Tensors of half floats are replaced by
// plain copies: floats in the same layout if the kernel of floats takes it, else in row-major order. Then tensors of
// floats in another layout are replaced, too. The kernel of floats computes with these, and does the work of the
// fusion; its results are rounded once, and stored in the layout of the outs. A constant is copied once, before the
// first execution; the other copies lie in scratch memory.
namespace assay::optimized {
namespace {

// The arguments of a call, four operands of a batch norm that is fused, and a residual.
constexpr std::size_t most_arguments = 16, most_of_norm = 10, most_operands_in = most_arguments + 4 + 1;

// The layout of plain copies.
enum class Layout : std::uint8_t { kept, row_major };

bool is_replaced(const Value& v, Layout layout) {
  return v.kind == ValueKind::tensor && element_of(v.tensor->dtype) == Element::f32 &&
         (v.tensor->dtype != DType::float32 || (layout == Layout::row_major && !is_row_major(*v.tensor)));
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

bool is_changed(const format::ArgumentRole& role) {
  return format::writes(role.use) && role.use != format::Use::written;
}

// The sizes of a plain tensor are those of the tensor that it replaces.
Tensor plain_of(const Tensor& t, Layout layout) {
  Tensor plain = t;
  plain.data = plain.home = nullptr, plain.dtype = DType::float32;
  if (layout == Layout::row_major) plain.dim_order = row_major;
  plain.capacity = t.capacity / t.element_bytes() * sizeof(float);
  plain.constant = plain.lasts = plain.read_beyond = false, plain.finite = Tensor::Finite::unknown;
  return plain;
}
// A kernel that packs constants may pack the copy, too.
Tensor constant_of(Tensor& t, Layout layout) {
  if (t.finite == Tensor::Finite::unknown) t.finite = is_finite(t) ? Tensor::Finite::yes : Tensor::Finite::no;
  Tensor plain = plain_of(t, layout);
  plain.constant = true, plain.finite = t.finite;
  return plain;
}

std::uint64_t room_of(const Tensor& t) {
  std::uint64_t count = 1;
  for (int d = 0; d < t.rank; ++d) count *= static_cast<std::uint64_t>(t.declared[d]);
  return kernels::whole_lines(count * sizeof(float) + most_beyond);
}

bool has_order_of(const Tensor& a, const Tensor& b) {
  return std::equal(a.dim_order, a.dim_order + a.rank, b.dim_order, b.dim_order + b.rank);
}

// What follows the kernel of floats.
struct Ending {
  const Tensor* residual = nullptr;
  kernels::Epilogue epilogue;  // has the activation

  bool is_empty() const { return !residual && epilogue.activation == kernels::Activation::none; }
};

// An operand whose tensor is replaced.
struct Replaced {
  Tensor* from;
  Tensor plain;
  Value value;
  std::uint64_t offset = 0;  // of the plain copy in scratch memory
  bool is_kept = false, is_written = false;
};

// The operands of the kernel of floats.
class Operands {
 public:
  // Returns false if the call has nothing to replace, or an operand that cannot be replaced. `packs` tells whether the
  // kernel of floats packs constants.
  bool replace(const Call& call, Layout layout, bool packs) {
    if (call.arguments.size() > most_arguments || !takes(call.fusion)) return false;
    const auto roles = call.roles->arguments();
    for (std::size_t i = 0; i < call.arguments.size(); ++i)
      if (!add(call.arguments[i], &roles[i], layout, packs, arguments_[i])) return false;
    count_ = call.arguments.size();
    if (!call.fusion) return size_ > 0;
    fusion_ = *call.fusion, has_fusion_ = true;
    std::ranges::copy(fusion_.norm, norm_);
    for (std::size_t i = 1; i < 5 && i < fusion_.norm.size(); ++i)  // weight, bias, running_mean, running_var
      if (!add(norm_[i], nullptr, layout, packs, norm_[i])) return false;
    fusion_.norm = {norm_, fusion_.norm.size()};
    if (dtype_ != DType::float32 && !take_ending(call.out(), layout)) return false;
    return (!fusion_.residual || add(fusion_.residual, nullptr, layout, packs, fusion_.residual)) && size_ > 0;
  }

  Call of(const Call& call) {
    Call inner = call;
    inner.arguments = {arguments_, count_};
    if (has_fusion_) inner.fusion = &fusion_;
    return inner;
  }
  std::span<Replaced> all() { return {replaced_, size_}; }
  std::optional<DType> dtype() const { return dtype_; }
  const Ending& ending() const { return ending_; }
  std::uint64_t bytes() const { return bytes_; }  // of the copies in scratch memory

  const void* state = nullptr;

 private:
  static bool takes(const Fusion* fusion) {
    return !fusion ||
           (!fusion->attention && !fusion->codes && fusion->views.empty() && fusion->norm.size() <= most_of_norm);
  }

  // Takes the residual and the activation out of the fusion. Returns false for an activation that stands for several
  // calls, and for a residual whose elements are in another order than the result's.
  bool take_ending(const Tensor& result, Layout layout) {
    using enum kernels::Activation;
    constexpr kernels::Activation of_one_call[] = {none, clamp, sigmoid, gelu, gelu_tanh};
    if (std::ranges::find(of_one_call, fusion_.activation) == std::end(of_one_call)) return false;
    if (!fusion_.residual && fusion_.activation <= clamp) return true;
    if (layout != Layout::kept) return false;
    if (fusion_.residual) {
      const Tensor& t = *fusion_.residual->tensor;
      const bool has_places =
          t.count() == result.count() && (has_order_of(t, result) || (t.is_contiguous() && result.is_contiguous()));
      if (t.dtype != dtype_ || t.moves || result.moves || !has_places) return false;
      ending_.residual = &t;
    }
    ending_.epilogue = epilogue_of(fusion_);
    fusion_.residual = nullptr, fusion_.activation = none;
    return true;
  }

  // All floating operands must have one dtype: which mixtures are valid depends on the operator.
  bool add(Value* v, const format::ArgumentRole* role, Layout layout, bool packs, Value*& to) {
    to = v;
    if (v->kind != ValueKind::tensor || !is_floating(v->tensor->dtype)) return true;
    Tensor& t = *v->tensor;
    if (dtype_ && *dtype_ != t.dtype) return false;
    dtype_ = t.dtype;
    if (!is_replaced(*v, layout)) return true;
    if (t.unbounded || (role && is_changed(*role))) return false;
    Replaced& r = replaced_[size_++];
    r.from = &t, r.is_kept = is_kept(t), r.is_written = role && format::writes(role->use);
    r.plain = packs && r.is_kept ? constant_of(t, layout) : plain_of(t, layout);
    r.value = *v, r.value.tensor = &r.plain, to = &r.value;
    if (!r.is_kept) r.offset = bytes_, bytes_ += room_of(t);
    return true;
  }

  std::optional<DType> dtype_;
  Value *arguments_[most_arguments], *norm_[most_of_norm];
  std::size_t count_ = 0, size_ = 0;
  Replaced replaced_[most_operands_in];
  Fusion fusion_;
  bool has_fusion_ = false;
  Ending ending_;
  std::uint64_t bytes_ = 0;
};

// The group norm is not defined for inputs in every layout.
bool has_layout(const Call& call) {
  return call.roles->name != "aten::native_group_norm.out" || is_row_major(call.tensor(0));
}

// Replaces the operands so that the kernel of floats accepts the call, with their layout if possible.
bool replace(const Call& call, const Kernel& kernel, Operands& o) {
  if (!call.set || !has_layout(call)) return false;
  for (const Layout layout : {Layout::kept, Layout::row_major}) {
    o = {};
    if (o.replace(call, layout, kernel.packs) && kernel.accepts(o.of(call))) return true;
  }
  return false;
}

template <const Kernel& kernel>
bool accepts(const Call& call) {
  Operands o;
  return replace(call, kernel, o);
}

void make_plain(const Tensor& from, const Tensor& plain, kernels::InstructionSet set, const kernels::Threads& threads) {
  const Gather gather = find_gather(from.dtype, Element::f32, set);
  if (has_order_of(from, plain))
    return kernels::share(threads, static_cast<std::size_t>(from.count()), 1, [&](kernels::Range range) {
      const auto begin = static_cast<std::ptrdiff_t>(range.begin);
      gather(from.at(begin), 1, plain.at(begin), range.size());
    });
  const Strides strides[] = {strides_of(plain), strides_of(from)};
  const Nest nest = nest_of(shape_of(from), plain.dim_order, strides);
  each_row(nest, 2, [&](const std::ptrdiff_t* i, std::ptrdiff_t n) {
    gather(from.at(i[1]), nest.stride[1][nest.loops - 1], plain.at(i[0]), static_cast<std::size_t>(n));
  });
}

// Copies a constant. Its floats last until the kernel is prepared if the kernel packs them, else as long as the step.
void keep(Replaced& r, bool is_packed, kernels::InstructionSet set, Stores& stores) {
  if (is_packed) {
    if (r.from->rank == 2) r.plain.dim_order = r.from->dim_order;  // kernels pack a matrix in any order
    stores.scratch = std::max(stores.scratch, room_of(*r.from));
    if (stores.lent.empty() || !stores.packed.makes()) return;
    r.plain.data = stores.lent.data();
    return make_plain(*r.from, r.plain, set, {});
  }
  const Packed::Floats kept = stores.packed.take(room_of(*r.from) / sizeof(float));
  r.plain.data = reinterpret_cast<std::byte*>(const_cast<float*>(kept.data));
  if (!kept.to_make.empty()) make_plain(*r.from, r.plain, set, {});
}

const kernels::HalfWeights* halves_of(std::optional<DType> dtype) {
  return dtype == DType::float16    ? &kernels::float16_weights
         : dtype == DType::bfloat16 ? &kernels::bfloat16_weights
                                    : nullptr;
}

template <const Kernel& kernel>
const void* prepare(const Call& call, Stores& stores) {
  const auto made = stores.tables.take<Operands>(1);
  if (made.empty()) return nullptr;
  Operands& o = made[0];
  replace(call, kernel, o);
  const Call inner = o.of(call);
  const Tensor* packed = kernel.packs ? kernel.packs(inner) : nullptr;
  const std::uint64_t before = std::exchange(stores.scratch, 0);
  for (Replaced& r : o.all())
    if (r.is_kept) keep(r, &r.plain == packed, *call.set, stores);
  const std::uint64_t lent = std::exchange(stores.scratch, 0);
  stores.halves = halves_of(o.dtype());
  if (kernel.prepare) o.state = kernel.prepare(inner, stores);
  stores.halves = nullptr;
  for (Replaced& r : o.all())
    if (&r.plain == packed) r.plain.data = nullptr;  // its memory was lent
  stores.scratch = std::max({before, lent, o.bytes() + stores.scratch});
  return &o;
}

constexpr std::ptrdiff_t tile = 256;

// Results of a half type: rounds the results of the kernel of floats, and does what follows.
void end(const Ending& ending, const Tensor& plain, const Tensor& to, kernels::InstructionSet set,
         kernels::Range range) {
  const Gather widen = find_gather(to.dtype, Element::f32, set);
  const Store round = find_store(Element::f32, to.dtype, set);
  alignas(64) float x[tile], y[tile];
  auto at = static_cast<std::ptrdiff_t>(range.begin);
  for (const auto stop = static_cast<std::ptrdiff_t>(range.end); at < stop; at += tile) {
    const auto n = static_cast<std::size_t>(std::min(tile, stop - at));
    round(plain.at(at), to.at(at), n);
    if (ending.residual) {
      widen(to.at(at), 1, x, n), widen(ending.residual->at(at), 1, y, n);
      for (std::size_t i = 0; i < n; ++i) x[i] += y[i];
      round(x, to.at(at), n);
    }
    if (ending.epilogue.activation == kernels::Activation::none) continue;
    widen(to.at(at), 1, x, n);
    kernels::activate(set, ending.epilogue, x, x, n);
    round(x, to.at(at), n);
  }
}

void store_plain(const Tensor& plain, const Tensor& to, const Ending& ending, kernels::InstructionSet set,
                 const kernels::Threads& threads) {
  const Store store = find_store(Element::f32, to.dtype, set);
  if (store && has_order_of(plain, to))
    return kernels::share(threads, static_cast<std::size_t>(to.count()), 1, [&](kernels::Range range) {
      const auto begin = static_cast<std::ptrdiff_t>(range.begin);
      if (!ending.is_empty()) return end(ending, plain, to, set, range);
      store(plain.at(begin), to.at(begin), range.size());
    });
  const Strides strides[] = {strides_of(to), strides_of(plain)};
  const Nest nest = nest_of(shape_of(to), to.dim_order, strides);
  const Gather gather = find_gather(DType::float32, Element::f32);
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
  if (execution.scratch.size() < o.bytes()) return false;
  const Call& call = step.call;
  for (Replaced& r : o.all()) {
    if (r.is_kept) continue;
    r.plain.data = execution.scratch.data() + r.offset;
    r.plain.moves = r.from->moves, r.plain.declared = r.from->declared;
    if (!r.is_written) make_plain(*r.from, r.plain, *call.set, execution.threads);
  }
  Step inner = step;
  inner.run = kernel.run, inner.state = o.state, inner.call = o.of(call);
  Execution within = execution;
  within.scratch = execution.scratch.subspan(o.bytes());
  if (!kernel.run(inner, within)) return false;
  for (const Replaced& r : o.all())
    if (r.is_written) store_plain(r.plain, *r.from, o.ending(), *call.set, execution.threads);
  return true;
}

template <const Kernel& kernel>
constexpr Kernel plain(const char* name) {
  return {name, accepts<kernel>, prepare<kernel>, run<kernel>};
}

}  // namespace
}  // namespace assay::optimized

#include "plain.gen.h"

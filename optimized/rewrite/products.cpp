#include <utility>

#include "optimized/rewrite/codes.h"
#include "optimized/rewrite/fuser.h"
#include "optimized/runtime/table.h"
#include "optimized/selection/elements.h"
#include "optimized/selection/layout.h"
#include "rewrites.gen.h"

// Fuses a convolution or a matrix product with the calls that follow it. The kernel applies the same formulas to each
// element before it stores the element. The constants of a batch norm become one factor and one summand for each
// channel, so results change at most by rounding. No other call reads the intermediate results that are no longer
// stored, and no call changes an operand before the fused call reads it. Where sizes move, results and operands have
// equal symbolic sizes, or equally many elements in the same order, and equal upper bounds: an intermediate result
// refuses the same sizes as the result that is left.
namespace assay::optimized {
namespace {

// A convolution or a matrix product.
class Product : public Fuser {
 public:
  using Fuser::Fuser;

  // Merges what follows it: a batch norm of constants, the sum with a tensor of the same elements, an activation.
  bool fuse() {
    const Fusion* const before = call().fusion;
    if (!find_kernel(call())) return false;
    leave(Reason::other_followers);
    take_norm();
    take_residual();
    take_activation();
    take_codes();
    return call().fusion != before;
  }

 private:
  // The dtype of the sums: float32 or a half type. Merged calls have the same one.
  DType dtype() const { return result().tensor->dtype; }
  bool has_dtype(const Value& v) const { return v.is_tensor() && v.tensor->dtype == dtype(); }
  bool is_pointwise(const Call& call) const { return draft_.is_pointwise_in(dtype(), call); }

  // The calls that read the result. The result of a matrix product may also be read through one view: then the merged
  // call does not need it.
  std::size_t result_readers(std::uint32_t* found, std::size_t most) {
    std::uint32_t all[3];
    const std::size_t n = readers(result(), all, most + 1);
    const bool is_viewed = n > 1 && !call().fusion && !is_op(draft_.calls[at()], "aten::convolution.out") &&
                           draft_.calls[all[0]].call.roles->has(format::Use::viewed) &&
                           draft_.calls[all[0]].call.arguments[0] == &result() &&
                           draft_.calls[all[0]].call.out().moves;  // so that its symbolic sizes are those of the view
    view_ = is_viewed ? all[0] : Instruction::none;
    const std::size_t others = n - is_viewed;
    if (others > most) return 0;
    std::copy_n(all + is_viewed, others, found);
    return others;
  }

  // Where sizes move, the kernel must know those of the new result: of a convolution they are the sizes of its result;
  // of a matrix product with a residual, the residual's; else numbers and one size that is left.
  bool give_sizes(Fusion& fusion, const Tensor& out) {
    if (!out.moves) return true;
    if (fusion.residual && !draft_.same_sizes(*fusion.residual->tensor, out)) return false;
    if (draft_.same_sizes(*result().tensor, out)) return true;
    if (is_op(draft_.calls[at()], "aten::convolution.out")) return false;
    const auto sizes = draft_.sizes_of(out);
    if (!sizes || fusion.residual) return sizes.has_value();
    const auto kept = draft_.tables.take<std::int32_t>(out.rank);
    if (!draft_.has_room()) return false;
    std::ranges::transform(sizes->span(), kept.begin(), [](std::int32_t size) { return std::max(size, -1); });
    fusion.sizes = kept;
    return std::ranges::count(kept, -1) == 1;
  }

  bool take(Fusion fusion, Value* out, std::span<const std::uint32_t> done) {
    std::uint32_t all[8] = {view_};
    std::ranges::copy(done, all + 1);
    const std::span<const std::uint32_t> with_view(all, done.size() + 1);
    if (!give_sizes(fusion, *out->tensor)) return false;
    const bool is_viewed = std::exchange(view_, Instruction::none) != Instruction::none;
    return Fuser::take(fusion, out, is_viewed ? with_view : done);
  }

  void take_norm() {
    std::uint32_t at;
    const Instruction* p = reader(at);
    if (!p || !is_op(*p, "aten::_native_batch_norm_legit_no_training.out") || p->call.arguments[0] != &result()) return;
    const Tensor& images = *result().tensor;
    const auto sizes = draft_.sizes_of(images);
    if (!sizes || sizes->rank < 2) return;
    for (std::size_t i = 1; i < 5; ++i) {
      const Value& v = p->call[i];
      if (v.kind == ValueKind::none) continue;
      if (!has_dtype(v) || v.tensor->moves || !v.tensor->constant || v.tensor->rank != 1 ||
          v.tensor->count() != sizes->sizes[1])
        return;
    }
    for (const std::size_t i : {8u, 9u})  // the saved statistics, which are empty here
      if (!has_dtype(p->call[i]) || p->call.tensor(i).rank != 1 || p->call.tensor(i).count() != 0) return;
    if (p->call[6].kind != ValueKind::real || p->call[6].changes || !has_dtype(p->call[7]) ||
        !draft_.same_sizes(images, p->call.tensor(7)) || !draft_.same_elements(images, p->call.tensor(7)))
      return;
    Fusion fusion = fused();
    fusion.norm = p->call.arguments;
    take(fusion, p->call.arguments[7], {&at, 1});
  }

  void take_residual() {
    std::uint32_t at;
    const Instruction* p = result_readers(&at, 1) == 1 ? &draft_.calls[at] : nullptr;
    if (!p || !is_op(*p, "aten::add.out") || !is_number(p->call[2], 1) || !is_pointwise(p->call)) return;
    Value *a = p->call.arguments[0], *b = p->call.arguments[1];
    const std::uint32_t group = draft_.root(result());
    Value* other = draft_.root(*a) == group ? b : a;
    if (!has_dtype(*a) || !has_dtype(*b) || !draft_.same_elements(*a->tensor, *b->tensor) ||
        !draft_.same_elements(*a->tensor, p->call.tensor(3)))
      return;
    if (other->tensor->constant) return;
    Fusion fusion = fused();
    fusion.residual = other;
    take(fusion, p->call.arguments[3], {&at, 1});
  }

  bool take_clamp(float low, float high, Value* out, std::uint32_t at) {
    Fusion fusion = fused();
    const bool first = fusion.activation == kernels::Activation::none;
    if (!first && fusion.activation != kernels::Activation::clamp) return false;
    fusion.activation = kernels::Activation::clamp;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float before_low = first ? -infinity : fused().low, before_high = first ? infinity : fused().high;
    if (low > before_high || high < before_low) return false;
    fusion.low = std::max(low, before_low);
    fusion.high = std::min(high, before_high);
    return take(fusion, out, {&at, 1});
  }

  // An activation that is a single call.
  bool take_call(const Instruction& p, std::uint32_t at) {
    const Call& call = p.call;
    Value* out = call.arguments.back();
    if (call[0].kind != ValueKind::tensor || draft_.root(call[0]) != draft_.root(result())) return false;
    if (!is_pointwise(call) || !draft_.same_elements(call.tensor(0), *out->tensor)) return false;
    if (const auto limits = limits_of(draft_, p)) return take_clamp(limits->low, limits->high, out, at);
    if (fused().activation != kernels::Activation::none) return false;
    Fusion fusion = fused();
    if (is_op(p, "aten::sigmoid.out")) fusion.activation = kernels::Activation::sigmoid;
    if (is_op(p, "aten::gelu.out")) {
      if (call[1].string() == "none") fusion.activation = kernels::Activation::gelu;
      if (call[1].string() == "tanh") fusion.activation = kernels::Activation::gelu_tanh;
    }
    return fusion.activation != kernels::Activation::none && take(fusion, out, {&at, 1});
  }

  // Two calls that quantize a value and convert its codes back, if no other call reads the codes.
  struct Roundtrip {
    Codes codes;
    Value* out;
  };
  std::optional<Roundtrip> roundtrip_of(const Value& v, std::uint32_t* done) const {
    const Instruction* p = readers(v, &done[0], 1) == 1 ? &draft_.calls[done[0]] : nullptr;
    const auto codes = p ? quantized(draft_, *p) : std::nullopt;
    if (!codes) return {};
    const Value& stored = *p->call.arguments.back();
    const Instruction* back = readers(stored, &done[1], 1) == 1 ? &draft_.calls[done[1]] : nullptr;
    const auto numbers = back ? dequantized(draft_, *back) : std::nullopt;
    if (!numbers || !codes->have_scale_of(*numbers)) return {};
    Value* out = back->call.arguments.back();
    const Tensor& x = *result().tensor;
    if (!draft_.same_sizes(x, *stored.tensor) || !draft_.same_sizes(x, *out->tensor) ||
        !draft_.same_elements(x, *out->tensor))
      return {};
    return Roundtrip{*codes, out};
  }

  // The calls that quantize the result and convert its codes back. A clamp before them becomes limits of the codes,
  // because the code of a number rises with the number.
  bool take_codes() {
    using enum kernels::Activation;
    std::uint32_t done[2];
    if (fused().activation != none && fused().activation != clamp) return false;
    const auto trip = roundtrip_of(result(), done);
    if (!trip) return false;
    Fusion fusion = fused();
    fusion.activation = fake_quantize, fusion.fake_quantizer = trip->codes.numbers;
    if (fused().activation == clamp) {
      fusion.fake_quantizer.low = code_of(trip->codes, fused().low, *call().set);
      fusion.fake_quantizer.high = code_of(trip->codes, fused().high, *call().set);
    }
    if (!take(fusion, trip->out, done)) return false;
    while (take_clamped_codes(trip->codes.dtype)) continue;
    return true;
  }

  // The calls that clamp the result of the codes, quantize it with the same scale and convert it back.
  bool take_clamped_codes(DType dtype) {
    std::uint32_t done[3];
    const Instruction* p = reader(done[0]);
    const auto limits = p ? limits_of(draft_, *p) : std::nullopt;
    const auto trip = limits ? roundtrip_of(*p->call.arguments.back(), done + 1) : std::nullopt;
    Fusion fusion = fused();
    return trip && trip->codes.have_scale_of(dtype, fusion.fake_quantizer) &&
           draft_.same_elements(*result().tensor, *p->call.arguments.back()->tensor) &&
           clamp_codes(fusion.fake_quantizer, trip->codes, *limits, *call().set) && take(fusion, trip->out, done);
  }

  // The calls that make clamp(x + 3, 0, 6), from x + 3 on. Returns their result, or null.
  Value* clamped_by_six(std::uint32_t at, std::uint32_t* done, std::size_t& n) const {
    const Instruction& add = draft_.calls[at];
    const bool adds = (is_op(add, "aten::add.out") || is_op(add, "aten::add.Scalar_out")) &&
                      is_number(add.call[1], 3) && is_number(add.call[2], 1) && is_pointwise(add.call);
    if (!adds) return nullptr;
    done[n++] = at;
    Value* v = add.call.arguments.back();
    double low = -1, high = -1;
    for (int i = 0; i < 2 && (low < 0 || high < 0); ++i) {
      std::uint32_t next;
      if (readers(*v, &next, 1) != 1) return nullptr;
      const Instruction& clamp = draft_.calls[next];
      if (!(is_op(clamp, "aten::clamp.out") || is_op(clamp, "aten::hardtanh.out")) || !is_pointwise(clamp.call))
        return nullptr;
      if (clamp.call[1].kind != ValueKind::none) low = number_of(clamp.call[1]).value_or(-2);
      if (clamp.call[2].kind != ValueKind::none) high = number_of(clamp.call[2]).value_or(-2);
      done[n++] = next, v = clamp.call.arguments.back();
    }
    return low == 0 && high == 6 ? v : nullptr;
  }

  // x / 6 of a value that no other call reads. Returns null if there is none.
  Value* divided_by_six(const Value& v, std::uint32_t* done, std::size_t& n) const {
    std::uint32_t next;
    if (readers(v, &next, 1) != 1) return nullptr;
    const Instruction& p = draft_.calls[next];
    if (!(is_op(p, "aten::div.out") || is_op(p, "aten::div.Scalar_out")) || !is_number(p.call[1], 6) ||
        !is_pointwise(p.call))
      return nullptr;
    done[n++] = next;
    return p.call.arguments.back();
  }

  bool take_activation() {
    std::uint32_t found[2], done[6];
    std::size_t n = 0;
    const std::size_t count = result_readers(found, 2);
    if (count == 0 ||
        (fused().activation != kernels::Activation::none && fused().activation != kernels::Activation::clamp))
      return false;
    Fusion fusion = fused();
    if (count == 1) {
      if (take_call(draft_.calls[found[0]], found[0]))
        return fused().activation == kernels::Activation::clamp && take_activation();
      if (fused().activation != kernels::Activation::none) return false;
      Value* v = clamped_by_six(found[0], done, n);
      if (v) v = divided_by_six(*v, done, n);
      fusion.activation = kernels::Activation::hardsigmoid;
      return v && has_dtype(*v) && draft_.same_elements(*result().tensor, *v->tensor) && take(fusion, v, {done, n});
    }
    if (fused().activation != kernels::Activation::none) return false;
    const Instruction& product = draft_.calls[found[1]];
    if (!is_op(product, "aten::mul.out") || !is_pointwise(product.call)) return false;
    Value* gate = nullptr;
    if (const Instruction& p = draft_.calls[found[0]]; is_op(p, "aten::sigmoid.out") && is_pointwise(p.call)) {
      done[n++] = found[0], gate = draft_.calls[found[0]].call.arguments.back();
      fusion.activation = kernels::Activation::silu;
    } else {
      gate = clamped_by_six(found[0], done, n);
      fusion.activation = kernels::Activation::hardswish;
    }
    std::uint32_t reads_gate;
    if (!gate || readers(*gate, &reads_gate, 1) != 1 || reads_gate != found[1]) return false;
    done[n++] = found[1];
    Value* v = product.call.arguments.back();
    if (fusion.activation == kernels::Activation::hardswish) v = divided_by_six(*v, done, n);
    return v && has_dtype(*v) && draft_.same_elements(*result().tensor, *v->tensor) && take(fusion, v, {done, n});
  }

  std::uint32_t view_ = Instruction::none;  // the instruction that makes the view through which calls read the result
};

// Whether calls may be merged into a product that has merged others: a convolution of rows, whose result is floats.
bool is_convolution_of_rows(const Call& call) {
  return call.roles->name == "aten::convolution.out" && call.fusion->codes && call.fusion->codes->rows;
}

bool is_of_floats(const Value& v) { return v.is_tensor() && element_of(v.tensor->dtype) == Element::f32; }

bool fuse_products(Draft& draft) {
  if (!draft.find_sizes()) return false;
  bool changed = false;
  for (std::uint32_t i = 0; i < draft.calls.size(); ++i)
    for (const std::string_view op : {"aten::convolution.out", "aten::addmm.out", "aten::mm.out", "aten::linear.out"}) {
      const Instruction& p = draft.calls[i];
      if (!draft.is_op(p, op) || (p.call.fusion && !is_convolution_of_rows(p.call)) ||
          !is_of_floats(*p.call.arguments.back()))
        continue;
      changed |= Product(draft, i).fuse();
      break;
    }
  return changed;
}

}  // namespace

const Rewrite fuse_into_products{"fuse_into_products", fuse_products};

}  // namespace assay::optimized

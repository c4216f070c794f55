#include "optimized/rewrite/codes.h"
#include "optimized/rewrite/fuser.h"
#include "optimized/runtime/table.h"
#include "rewrites.gen.h"

// Computes with codes instead of numbers. A convolution or a matrix product reads the codes from which its input and
// its weight are converted, sums products of codes, and stores the codes to which its result would be converted. The
// sum is an exact integer, so the result is the code of a number within the bound of the convolution: spec/numerics.md,
// "Fused calls". A sum of two tensors converts their codes and its result in one pass; each step is rounded as before.
// Clamps before the result is quantized become limits of its codes, because the code of a number rises with the number.
namespace assay::optimized {
namespace {

class CodeCall : public Fuser {
 public:
  using Fuser::Fuser;

  // A convolution or a matrix product of operands `input` and `weight`.
  bool fuse_product(std::size_t input, std::size_t weight) {
    CodesOfCall codes;
    return find_weight(weight, codes) && find_source(input, codes.input) && take_codes(codes);
  }

  bool fuse_sum() {
    CodesOfCall codes;
    return is_number(call()[2], 1) && draft_.is_pointwise_f32(call()) && find_source(0, codes.input) &&
           find_source(1, codes.other) && take_codes(codes);
  }

 private:
  // Finds the constant codes from which operand i is converted: by itself, or by its transpose.
  bool find_weight(std::size_t i, CodesOfCall& codes) {
    const Value& v = call()[i];
    if (!is_f32(v) || v.tensor->maker == Tensor::no_maker) return false;
    codes.weight = &draft_.calls[v.tensor->maker].call;
    arguments_[i] = codes.weight->arguments[0];
    const Value* converted = codes.weight->arguments.back();
    const Tensor &t = *v.tensor, &whole = *converted->tensor;
    codes.has_transposed_weight = converted != &v;
    return converted == &v || (t.rank == 2 && whole.rank == 2 && whole.is_contiguous() && t.dim_order[0] == 1 &&
                               t.size(0) == whole.size(1) && t.size(1) == whole.size(0));
  }

  // Finds the codes from which operand i is converted, if they are unchanged when the call runs.
  bool find_source(std::size_t i, kernels::FakeQuantizer& numbers) {
    const Value& v = call()[i];
    if (!is_float32(v) || !draft_.is_seen_alike(draft_.index_of(v))) return false;
    const std::uint32_t source = draft_.flow.group(draft_.index_of(v)).writer;
    const auto codes = dequantized(draft_, draft_.calls[source]);
    if (!codes) return false;
    const Call& from = draft_.calls[source].call;
    const Tensor& out = *from.arguments.back()->tensor;
    numbers = codes->numbers, sources_[i] = source, arguments_[i] = from.arguments[0];
    return draft_.same_sizes(out, *v.tensor) && draft_.same_elements(out, *v.tensor) &&
           draft_.stays(from[0], source, at());
  }

  // Turns the call into one that computes with codes, up to the codes of its result.
  bool take_codes(CodesOfCall& codes) {
    const std::span<Value* const> before = call().arguments;
    if (!call().set || !find_result(codes)) return false;
    const auto kept = draft_.tables.take<CodesOfCall>(1);
    const auto arguments = draft_.tables.take<Value*>(before.size());
    if (!draft_.has_room()) return false;
    kept[0] = codes;
    std::ranges::copy(before, arguments.begin());
    for (std::size_t i = 0; i < std::size(arguments_); ++i)
      if (arguments_[i]) arguments[i] = arguments_[i];
    Fusion fusion;
    fusion.codes = kept.data();
    if (!take(fusion, arguments, result_, {done_, n_})) return false;
    for (std::size_t i = 0; i < std::size(sources_); ++i) {
      if (sources_[i] == Instruction::none) continue;
      draft_.flow.leave(draft_.index_of(*before[i])), draft_.flow.enter(draft_.index_of(*arguments[i]));
      draft_.leave_if_unread(sources_[i], Instruction::none);
    }
    return true;
  }

  // The call that quantizes a value, or that clamps it, if no other call reads the value.
  const Instruction* next(const Value& v) {
    return n_ < std::size(done_) && readers(v, &done_[n_], 1) == 1 ? &draft_.calls[done_[n_]] : nullptr;
  }

  // The calls that clamp and quantize the result; `result_` becomes the value that holds the codes.
  bool find_result(CodesOfCall& found) {
    const Value* v = &result();
    std::optional<Limits> limits;
    const Instruction* p = next(*v);
    if (p && (limits = limits_of(draft_, *p))) ++n_, v = p->call.arguments.back(), p = next(*v);
    const auto codes = p ? quantized(draft_, *p) : std::nullopt;
    if (!codes || !has_sizes(*p)) return false;
    ++n_, result_ = p->call.arguments.back(), found.result = codes->numbers;
    if (limits) {
      found.result.low = code_of(*codes, limits->low, *call().set);
      found.result.high = code_of(*codes, limits->high, *call().set);
    }
    while (clamp_again(found, *codes)) continue;
    return true;
  }

  bool has_sizes(const Instruction& p) const {
    return draft_.same_sizes(*result().tensor, *p.call.arguments.back()->tensor);
  }

  // The calls that convert the codes, clamp the numbers and quantize them again with the same scale.
  bool clamp_again(CodesOfCall& found, const Codes& before) {
    const std::size_t n = n_;
    const Instruction* back = next(*result_);
    const auto numbers = back ? dequantized(draft_, *back) : std::nullopt;
    const Instruction* clamp = numbers && ++n_ ? next(*back->call.arguments.back()) : nullptr;
    const auto limits = clamp ? limits_of(draft_, *clamp) : std::nullopt;
    const Instruction* p = limits && ++n_ ? next(*clamp->call.arguments.back()) : nullptr;
    const auto again = p ? quantized(draft_, *p) : std::nullopt;
    if (!again || !has_sizes(*p) || !numbers->have_scale_of(before) || !again->have_scale_of(before) ||
        !clamp_codes(found.result, *again, *limits, *call().set))
      return n_ = n, false;
    ++n_, result_ = p->call.arguments.back();
    return true;
  }

  std::uint32_t sources_[3] = {Instruction::none, Instruction::none,
                               Instruction::none};  // the calls that convert the operands
  Value* arguments_[3] = {};                        // the codes of the operands
  std::uint32_t done_[12];                          // the calls that are merged
  std::size_t n_ = 0;
  Value* result_ = nullptr;
};

bool compute(Draft& draft) {
  if (!draft.find_sizes()) return false;
  bool changed = false;
  for (std::uint32_t i = 0; i < draft.calls.size(); ++i) {
    if (draft.calls[i].call.fusion) continue;
    const auto is = [&](std::string_view op) { return draft.is_op(draft.calls[i], op); };
    if (is("aten::convolution.out") || is("aten::mm.out") || is("aten::linear.out"))
      changed |= CodeCall(draft, i).fuse_product(0, 1);
    else if (is("aten::addmm.out"))
      changed |= CodeCall(draft, i).fuse_product(1, 2);
    else if (is("aten::add.out"))
      changed |= CodeCall(draft, i).fuse_sum();
  }
  return changed;
}

}  // namespace

const Rewrite compute_with_codes{"compute_with_codes", compute};

}  // namespace assay::optimized

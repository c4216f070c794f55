#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "optimized/rewrite/fuser.h"
#include "optimized/runtime/table.h"
#include "optimized/selection/elements.h"
#include "optimized/selection/reduced.h"
#include "rewrites.gen.h"

// Multiplies rows that are quantized in each execution. In an undelegated XNNPACK payload, elementwise calls find the
// range of each row, a zero point and the steps of the elements; the steps and the weights are multiplied in float64,
// by a matrix product or by a convolution, whose rows are pixels or images. One step does all this with 8-bit codes.
// Steps and weights are integers, so that their sums are exact; with groups, sums of a group are multiplied by its
// scale and added up in float64, as before in another order. All other operations are rounded as before:
// kernels/row_product.h, kernels/integer_product.h.
namespace assay::optimized {
namespace {

// The calls that make the steps of rows, from the last one.
class RowQuantization {
 public:
  explicit RowQuantization(Draft& draft) : draft_(draft) {}

  const Value* rows() const { return x_; }
  std::uint32_t row_dims() const { return row_dims_; }  // bit d: dimension d is one of a row
  std::uint32_t first_call() const { return *std::min_element(found_.begin(), found_.begin() + n_); }
  // Drops the calls, unless other calls read their results. Later calls read the results of earlier ones.
  void leave_unread(std::uint32_t into) {
    std::sort(found_.begin(), found_.begin() + n_, std::greater<>());
    for (std::size_t i = 0; i < n_; ++i) draft_.leave_if_unread(found_[i], into);
  }

  // The call of the operator that writes v, if it is valid. All calls that read v see the elements that it writes.
  const Call* made(const Value& v, std::string_view op) {
    if (!v.is_tensor() || v.tensor->moves || n_ == found_.size() || !draft_.is_seen_alike(draft_.index_of(v)))
      return nullptr;
    const std::uint32_t at = draft_.flow.group(draft_.index_of(v)).writer;
    if (at == Instruction::none || !draft_.is_op(draft_.calls[at], op)) return nullptr;
    const Call& call = draft_.calls[at].call;
    if (call.fusion || !call.arguments.back()->is_tensor() || !draft_.same_elements(call.out(), *v.tensor) ||
        !find_kernel(call))
      return nullptr;
    found_[n_++] = at;
    return &call;
  }
  // The same for an elementwise call whose result has a dtype.
  const Call* elementwise(const Value& v, std::string_view op, DType dtype = DType::float32) {
    const Call* call = made(v, op);
    return call && draft_.has_sizes_of_operands(*call) && call->out().dtype == dtype ? call : nullptr;
  }
  // The operand that a call casts to float64. Its elements stay in their order.
  const Value* widened(const Value& v) {
    const Call* cast = made(v, "aten::_to_copy.out");
    if (!cast || !(*cast)[0].is_tensor()) return nullptr;
    const Tensor &from = cast->tensor(0), &to = cast->out();
    const bool keeps =
        draft_.same_sizes(from, to) && std::equal(from.dim_order, from.dim_order + from.rank, to.dim_order);
    return keeps && to.dtype == DType::float64 ? &(*cast)[0] : nullptr;
  }

  // Whether v has the steps of rows of float32.
  bool find(const Value& v) {
    const Call* round = elementwise(v, "aten::round.out");
    const Call* clip = round ? elementwise((*round)[0], "aten::clamp.Tensor_out") : nullptr;
    const Call* scaled = clip ? elementwise((*clip)[0], "aten::mul.out") : nullptr;
    if (!scaled || !is_f32((*scaled)[0])) return false;
    x_ = &(*scaled)[0], k_ = &(*scaled)[1];
    const Value *low = less((*clip)[1], least), *high = less((*clip)[2], most);
    return low && high && is_same(*low, *high) && find_zero_point(*low) && find_factor();
  }
  // Whether v has 1 / k of each row.
  bool is_inverse(const Value& v) {
    const Call* inverse = elementwise(v, "aten::reciprocal.out");
    return inverse && is_same((*inverse)[0], *k_);
  }

 private:
  static constexpr double least = -128, most = 127;

  bool is_same(const Value& a, const Value& b) const {
    return a.is_tensor() && b.is_tensor() && draft_.root(a) == draft_.root(b);
  }
  // The x of number - x, and of x + number.
  const Value* less(const Value& v, double number) { return with(v, "aten::rsub.Scalar_out", number); }
  const Value* with(const Value& v, std::string_view op, double number) {
    const Call* call = elementwise(v, op);
    return call && is_number((*call)[1], number) && is_number((*call)[2], 1) ? &(*call)[0] : nullptr;
  }

  bool find_zero_point(const Value& z) {
    const Call* round = elementwise(z, "aten::round.out");
    const Call* clamp = round ? elementwise((*round)[0], "aten::clamp.out") : nullptr;
    if (!clamp || !is_number((*clamp)[1], least) || !is_number((*clamp)[2], most)) return false;
    const Call* choice = elementwise((*clamp)[0], "aten::where.self_out");
    const Call* is_low = choice ? elementwise((*choice)[0], "aten::gt.Scalar_out", DType::boolean) : nullptr;
    if (!is_low || !is_number((*is_low)[1], 0)) return false;
    a_ = less((*choice)[1], least), b_ = less((*choice)[2], most);
    const Call* errors = elementwise((*is_low)[0], "aten::add.out");
    if (!a_ || !b_ || !errors || !is_number((*errors)[2], 1)) return false;
    const Value *a = with((*errors)[0], "aten::add.Scalar_out", least),
                *b = with((*errors)[1], "aten::add.Scalar_out", most);
    return a && b && is_same(*a, *a_) && is_same(*b, *b_);
  }

  bool find_factor() {
    const Call* choice = elementwise(*k_, "aten::where.self_out");
    const Call* is_empty = choice ? elementwise((*choice)[0], "aten::eq.Scalar_out", DType::boolean) : nullptr;
    const Call* quotient = choice ? elementwise((*choice)[2], "aten::div.out") : nullptr;
    if (!is_empty || !quotient || !is_number((*is_empty)[1], 0) || !is_number((*choice)[1], 1) ||
        !is_number((*quotient)[0], most - least) || !is_same((*is_empty)[0], (*quotient)[1]))
      return false;
    const Call* range = elementwise((*quotient)[1], "aten::sub.out");
    const Call *a = elementwise(*a_, "aten::mul.out"), *b = elementwise(*b_, "aten::mul.out");
    return range && a && b && is_number((*range)[2], 1) && is_same((*a)[1], *k_) && is_same((*b)[1], *k_) &&
           is_same((*a)[0], (*range)[1]) && is_same((*b)[0], (*range)[0]) && is_end((*range)[1], "aten::amin.out", 2) &&
           is_end((*range)[0], "aten::amax.out", 1);
  }

  // Whether v has the extreme of each row and 0; the clamp has 0 as operand `limit`.
  bool is_end(const Value& v, std::string_view op, std::size_t limit) {
    const Call* clamp = elementwise(v, "aten::clamp.out");
    if (!clamp || !is_number((*clamp)[limit], 0) || (*clamp)[3 - limit].kind != ValueKind::none) return false;
    const Call* extreme = made((*clamp)[0], op);
    if (!extreme || !is_same((*extreme)[0], *x_) || extreme->out().dtype != DType::float32) return false;
    Shape result;
    std::uint32_t reduced = 0;
    if (!plan(*extreme, Dims::named_or_all, result, reduced) || (row_dims_ != 0 && reduced != row_dims_)) return false;
    row_dims_ = reduced;
    return std::ranges::equal(result.span(), extreme->out().shape()) && result.rank == x_->tensor->rank;
  }

  Draft& draft_;
  std::uint32_t row_dims_ = 0;
  const Value *x_ = nullptr, *k_ = nullptr, *a_ = nullptr, *b_ = nullptr;
  std::array<std::uint32_t, 48> found_;  // a reader of a result is before its writer
  std::size_t n_ = 0;
};

class RowCall : public Fuser {
 public:
  RowCall(Draft& draft, std::uint32_t at) : Fuser(draft, at), quantization_(draft) {}

  bool fuse_product() {
    return is_float64(result()) && draft_.has_sizes_of_product(call()) && find_steps() && rows_are_last_dims(1) &&
           fuse();
  }
  // A convolution without bias; its kernel examines the sizes.
  bool fuse_convolution() {
    constexpr std::size_t bias = 2;
    if (!is_float64(result()) || call()[bias].kind != ValueKind::none || !find_steps()) return false;
    const int rank = quantization_.rows()->tensor->rank;
    is_convolution_ = true, rows_.are_pixels = quantization_.row_dims() == 0b10;
    return rank == result().tensor->rank && (rows_.are_pixels || rows_are_last_dims(rank - 1)) && fuse();
  }

 private:
  bool find_steps() {
    if (!call().set || !call()[0].is_tensor()) return false;
    const Value* steps = quantization_.widened(call()[0]);
    return steps && quantization_.find(*steps);
  }
  // Whether the last n dimensions are those of a row.
  bool rows_are_last_dims(int n) const {
    const int rank = quantization_.rows()->tensor->rank;
    return quantization_.row_dims() == ((std::uint32_t{1} << n) - 1) << (rank - n);
  }

  bool fuse() {
    constexpr std::size_t self = 0, other = 1;
    const Value* codes = find_weight(call()[other]);
    if (!codes || !find_result() || !draft_.stays(*quantization_.rows(), quantization_.first_call(), at()))
      return false;
    const auto rows = draft_.tables.take<RowsOfCall>(1);
    const auto kept = draft_.tables.take<CodesOfCall>(1);
    const auto arguments = draft_.tables.take<Value*>(call().arguments.size());
    if (!draft_.has_room()) return false;
    rows[0] = rows_, kept[0] = {}, kept[0].rows = rows.data();
    std::ranges::copy(call().arguments, arguments.begin());
    const auto mutable_value = [&](const Value& v) { return &draft_.values[draft_.index_of(v)]; };
    arguments[self] = mutable_value(*quantization_.rows()), arguments[other] = mutable_value(*codes);
    Fusion fusion;
    fusion.codes = kept.data();
    if (!take(fusion, arguments, mutable_value(*from_), {done_, n_})) return false;
    quantization_.leave_unread(at());
    return true;
  }

  static bool is_float64(const Value& v) {
    return v.is_tensor() && !v.tensor->moves && v.tensor->dtype == DType::float64;
  }
  static bool is_constant(const Value& v, DType dtype) {
    return v.is_tensor() && v.tensor->constant && v.tensor->data && v.tensor->dtype == dtype;
  }

  // The constant codes of the weight: int8 with a row for each input, or 4 bits with a row of groups for each output.
  const Value* find_weight(const Value& v) {
    if (const Call* turned = quantization_.made(v, "aten::permute_copy.out")) return find_groups(*turned);
    const Value* codes = quantization_.widened(v);
    return codes && is_constant(*codes, DType::int8) ? codes : nullptr;
  }
  const Value* find_groups(const Call& turned) {
    const Value& dims = turned[1];
    if (!turned[0].is_tensor() || turned.tensor(0).rank != 2 || dims.kind != ValueKind::integers || dims.count != 2 ||
        !is_number(*dims.items()[0], 1) || !is_number(*dims.items()[1], 0) ||
        turned.out().size(0) != turned.tensor(0).size(1) || turned.out().size(1) != turned.tensor(0).size(0))
      return nullptr;
    const Call* scaled = quantization_.elementwise(turned[0], "aten::mul.out", DType::float64);
    const Value* codes = scaled ? quantization_.widened((*scaled)[0]) : nullptr;
    const Value* scales = scaled ? quantization_.widened((*scaled)[1]) : nullptr;
    if (!codes || !scales || !is_constant(*codes, DType::int8) || !is_constant(*scales, DType::float32)) return nullptr;
    const Tensor &w = *codes->tensor, &s = *scales->tensor;
    if (w.rank != 3 || s.rank != 3 || s.size(0) != w.size(0) || s.size(1) != w.size(1) || s.size(2) != 1 ||
        !w.is_contiguous() || !s.is_contiguous() || w.count() % 8 != 0 || !has_four_bits(w))
      return nullptr;
    rows_.scales = scales, rows_.has_groups = true;
    return codes;
  }
  // Requires a multiple of eight codes, which kernels need. The upper five bits of a code are equal if it has 4 bits.
  static bool has_four_bits(const Tensor& w) {
    std::uint64_t codes, others = 0;
    const auto *first = w.elements<std::int8_t>(), *const end = first + w.count();
    for (; first != end; first += sizeof codes) {
      std::memcpy(&codes, first, sizeof codes);
      others |= (codes ^ codes << 1) & 0xf0f0f0f0f0f0f0f0;
    }
    return others == 0;
  }

  // The dimension of a tensor, to which the result broadcasts, that is the channels: dimension 1 of the result.
  int channel_dim(const Tensor& t) const { return t.rank - result().tensor->rank + 1; }
  // Whether a tensor has one number, or one for each channel of the result.
  bool is_of_channels(const Value& v) const {
    const Tensor& t = *v.tensor;
    const int d = channel_dim(t);
    return t.count() == 1 || (d >= 0 && t.size(d) == t.count() && t.count() == result().tensor->size(1));
  }

  // The next call, if it is a cast to the dtype, or combines the result with another operand in this dtype.
  bool cast(DType dtype) {
    const Instruction* p = next("aten::_to_copy.out");
    return p && p->call.arguments.back()->tensor->dtype == dtype && advance(*p);
  }
  const Value* combine(std::string_view op, DType dtype) {
    const Instruction* p = next(op);
    if (!p || !draft_.has_sizes_of_operands(p->call) || p->call.out().dtype != dtype) return nullptr;
    const bool first = p->call[0].is_tensor() && draft_.root(p->call[0]) == draft_.root(*from_);
    const Value& other = p->call[first ? 1 : 0];
    return advance(*p) ? &other : nullptr;
  }
  const Instruction* next(std::string_view op) {
    if (n_ == std::size(done_) || readers(*from_, &done_[n_], 1) != 1) return nullptr;
    const Instruction& p = draft_.calls[done_[n_]];
    return is_op(p, op) && p.call.arguments.back()->is_tensor() ? &p : nullptr;
  }
  bool advance(const Instruction& p) {
    const Tensor &out = *p.call.arguments.back()->tensor, &y = *result().tensor;
    const int d = channel_dim(out);
    if (out.moves || out.count() != y.count() || !out.is_contiguous() || d < 0 || out.size(d) != y.size(1) ||
        (is_convolution_ && !draft_.same_sizes(out, y)))
      return false;
    ++n_, from_ = p.call.arguments.back();
    return true;
  }

  // The calls that turn sums into results.
  bool find_result() {
    if (!cast(DType::float32)) return false;
    const Value* inverse = combine("aten::mul.out", DType::float32);
    if (!inverse || !quantization_.is_inverse(*inverse)) return false;
    if (rows_.has_groups) {
      find_bias(DType::float32);
      return true;
    }
    const Value* scales = cast(DType::float64) ? combine("aten::mul.out", DType::float64) : nullptr;
    rows_.scales = scales ? quantization_.widened(*scales) : nullptr;
    if (!rows_.scales || !is_constant(*rows_.scales, DType::float32) || !is_of_channels(*rows_.scales)) return false;
    find_bias(DType::float64);
    return cast(DType::float32);
  }
  void find_bias(DType dtype) {
    const std::size_t n = n_;
    const Value* const from = from_;
    const Instruction* p = next("aten::add.out");
    const Value* other = p && is_number(p->call[2], 1) ? combine("aten::add.out", dtype) : nullptr;
    if (other && dtype == DType::float64) other = quantization_.widened(*other);
    if (other && is_constant(*other, DType::float32) && is_of_channels(*other) &&
        other->tensor->count() == result().tensor->size(1))
      rows_.bias = other;
    else
      n_ = n, from_ = from;
  }

  RowQuantization quantization_;
  RowsOfCall rows_ = {};
  std::uint32_t done_[8];
  std::size_t n_ = 0;
  const Value* from_ = &result();
  bool is_convolution_ = false;
};

bool multiply(Draft& draft) {
  if (!draft.find_sizes()) return false;
  bool changed = false;
  for (std::uint32_t i = 0; i < draft.calls.size(); ++i) {
    if (draft.calls[i].call.fusion) continue;
    if (draft.is_op(draft.calls[i], "aten::mm.out"))
      changed |= RowCall(draft, i).fuse_product();
    else if (draft.is_op(draft.calls[i], "aten::convolution.out"))
      changed |= RowCall(draft, i).fuse_convolution();
  }
  return changed;
}

}  // namespace

const Rewrite multiply_quantized_rows{"multiply_quantized_rows", multiply};

}  // namespace assay::optimized

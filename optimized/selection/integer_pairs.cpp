#include <algorithm>

#include "optimized/kernels/quantize.h"
#include "optimized/selection/codes.h"
#include "optimized/selection/layout.h"

// aten::add and aten::mul of two tensors of 8-bit codes into codes, by floats or in fixed point. The operands
// broadcast. The rewrite compute_with_codes makes such calls.
namespace assay::optimized {
namespace {

using kernels::Combination;

enum Operand { self, other };
enum Place { of_out, of_self, of_other };  // in a nest

// The loops over out, self and other. Returns nothing if no row of the kernels serves the innermost loop.
std::optional<Nest> rows_of(const Call& call) {
  const Tensor &a = call.tensor(self), &b = call.tensor(other), &y = call.out();
  Shape shape;
  if (!broadcast(shape, a) || !broadcast(shape, b) || !std::ranges::equal(shape.span(), y.shape())) return {};
  const Strides strides[] = {strides_of(y), strides_in(shape, a), strides_in(shape, b)};
  const Nest nest = nest_of(shape, y.dim_order, strides);
  if (nest.loops == 0) return nest;
  const int inner = nest.loops - 1;
  const std::ptrdiff_t of_a = nest.stride[of_self][inner], of_b = nest.stride[of_other][inner];
  const bool is_row = nest.stride[of_out][inner] == 1 && of_a <= 1 && of_b <= 1 && of_a + of_b >= 1;
  return is_row && (!call.fusion->codes->fixed_point || of_a + of_b == 2) ? std::optional(nest) : std::nullopt;
}

bool accepts(const Call& call) {
  if (!call.set || !call[self].is_tensor() || !call[other].is_tensor() || !call.arguments.back()->is_tensor())
    return false;
  const Tensor &a = call.tensor(self), &b = call.tensor(other), &y = call.out();
  if (y.dtype != DType::int8 && y.dtype != DType::uint8) return false;
  return std::ranges::all_of(std::initializer_list<const Tensor*>{&a, &b, &y},
                             [&](const Tensor* t) { return !t->moves && t->dtype == y.dtype; }) &&
         rows_of(call);
}

// Calls row(a, b, y, n) for each row, for parts of the rows on several threads. a and b are operands of the call. An
// item of a row is `elements` codes.
template <class Code, class Row>
void each_row_of(const Call& call, const Nest& whole, std::size_t elements, const kernels::Threads& threads,
                 const Row& row) {
  if (whole.loops == 0) return;
  std::size_t work = elements;
  for (int d = 1; d < whole.loops; ++d) work *= static_cast<std::size_t>(whole.count[d]);
  kernels::share(threads, static_cast<std::size_t>(whole.count[0]), work, [&](kernels::Range range) {
    Nest nest = whole;
    nest.count[0] = static_cast<std::ptrdiff_t>(range.size());
    std::ptrdiff_t first[3];
    for (int k = 0; k < 3; ++k) first[k] = static_cast<std::ptrdiff_t>(range.begin) * nest.stride[k][0];
    each_row(nest, 3, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
      row(call.tensor(self).elements<Code>() + first[of_self] + at[of_self],
          call.tensor(other).elements<Code>() + first[of_other] + at[of_other],
          call.out().elements<Code>() + first[of_out] + at[of_out], static_cast<std::size_t>(n));
    });
  });
}

constexpr std::ptrdiff_t most_repeated = 1024;  // codes of a row and its copies

// The operand whose rows are short and are combined with each of many contiguous rows of the other one; of_out if there
// is none.
Place repeated_operand(const Nest& nest) {
  const int inner = nest.loops - 1, next = inner - 1;
  if (next < 0 || nest.count[inner] > most_repeated / 2) return of_out;
  const auto is_contiguous = [&](Place k) {
    return nest.stride[k][inner] == 1 && nest.stride[k][next] == nest.count[inner];
  };
  const auto is_repeated = [&](Place k) { return nest.stride[k][inner] == 1 && nest.stride[k][next] == 0; };
  if (!is_contiguous(of_out)) return of_out;
  if (is_contiguous(of_self) && is_repeated(of_other)) return of_other;
  return is_contiguous(of_other) && is_repeated(of_self) ? of_self : of_out;
}

template <Combination combination, class Code>
bool combine(const Step& step, const kernels::Threads& threads) {
  const Call& call = step.call;
  const CodesOfCall& codes = *call.fusion->codes;
  Nest nest = *rows_of(call);
  if (codes.fixed_point) {
    const auto add = kernels::find_add_fixed<Code>(*call.set);
    each_row_of<Code>(call, nest, 1, threads, [&](const Code* a, const Code* b, Code* y, std::size_t n) {
      add(*codes.fixed_point, a, b, y, n);
    });
    return true;
  }
  if (nest.loops == 0) return true;
  // Sums and products commute. The operand that has one code in a row, or that is repeated, comes second.
  const int inner = nest.loops - 1;
  const Place repeated = repeated_operand(nest);
  const bool exchanges = nest.stride[of_self][inner] == 0 || repeated == of_self;
  const bool has_one = nest.stride[of_self][inner] + nest.stride[of_other][inner] == 1;
  const kernels::FakeQuantizer &a = exchanges ? codes.other : codes.input, &b = exchanges ? codes.input : codes.other;
  const kernels::CombinedCodes numbers{a.zero_point, a.scale, b.zero_point, b.scale, codes.factor, codes.result};
  const auto row = kernels::find_combine<Code>(*call.set, combination);
  if (repeated == of_out) {
    each_row_of<Code>(call, nest, 1, threads, [&](const Code* x, const Code* z, Code* y, std::size_t n) {
      row(numbers, exchanges ? z : x, exchanges ? x : z, has_one, y, n);
    });
    return true;
  }
  const auto width = static_cast<std::size_t>(nest.count[inner]);
  --nest.loops;  // an item is a row
  each_row_of<Code>(call, nest, width, threads, [&](const Code* x, const Code* z, Code* y, std::size_t rows) {
    const Code *many = exchanges ? z : x, *one = exchanges ? x : z;
    const std::size_t together = std::min<std::size_t>(most_repeated / width, rows);
    Code copies[most_repeated];
    for (std::size_t i = 0; i < together; ++i) std::copy_n(one, width, copies + i * width);
    for (std::size_t i = 0, n; i < rows; i += n) {
      n = std::min(together, rows - i);
      row(numbers, many + i * width, copies, false, y + i * width, n * width);
    }
  });
  return true;
}

template <Combination combination>
bool run(const Step& step, Execution& execution) {
  return step.call.out().dtype == DType::int8 ? combine<combination, std::int8_t>(step, execution.threads)
                                              : combine<combination, std::uint8_t>(step, execution.threads);
}

}  // namespace

extern const Kernel add_i8, mul_i8;
const Kernel add_i8{"add_i8", accepts, nullptr, run<Combination::sum>, false, nullptr, true};
const Kernel mul_i8{"mul_i8", accepts, nullptr, run<Combination::product>, false, nullptr, true};

}  // namespace assay::optimized

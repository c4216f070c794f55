#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"

// Rows of tables that indices name: quantized tables, bags of rows, and the gradient of a table.
namespace assay::optimized {
namespace {

bool is_index(const Value& v) {
  return v.is_tensor() && (v.tensor->dtype == DType::int64 || v.tensor->dtype == DType::int32);
}

// Quantized tables. Operands: weight, scales, zero_points, quant_min, quant_max, indices, maybe dtype, out. A byte of
// the table has one code of 8 bits, two codes of 4 bits, the high one first, or four codes of 2 bits, the low one
// first. Packed codes are stored plus half of their range. PyTorch divides a byte by 16, and shifts a byte with its
// sign.
template <int codes>
std::int64_t code_of(std::int64_t byte, bool is_signed, std::int64_t k) {
  if (codes == 1) return byte;
  if (codes == 2) return (k == 0 ? byte / 16 : byte & 15) - 8;
  const std::int64_t code = byte >> (2 * k) & 3;
  return (k == 3 && is_signed ? (code ^ 2) - 2 : code) - 2;
}

template <int codes>
bool has_limits(const Call& call) {
  if (codes == 1) return true;
  constexpr std::int64_t half = codes == 2 ? 8 : 2;
  return call[3].kind == ValueKind::integer && call[3].integer == -half && call[4].kind == ValueKind::integer &&
         call[4].integer == half - 1;
}

template <int codes>
bool accepts_codes(const Call& call) {
  if (!call[0].is_tensor() || !call[1].is_tensor() || !is_index(call[5]) || !call.arguments.back()->is_tensor())
    return false;
  const DType weight = call.tensor(0).dtype, scales = call.tensor(1).dtype, out = call.arguments.back()->tensor->dtype;
  const bool is_named = call.arguments.size() == 8;
  if ((weight != DType::uint8 && weight != DType::int8) || !is_floating(scales) || scales == DType::float64)
    return false;
  if (call[2].is_tensor() ? call.tensor(2).dtype != scales : call[2].kind != ValueKind::none) return false;
  return is_named ? named(call[6]) == out && find_reader<Complex>(out) : out == scales;
}

// Scales, or zero points: one for each row, or for each row and group of columns.
struct RowNumbers {
  const Tensor* t;
  Strides strides;
  Reading<double> elements;

  explicit RowNumbers(const Tensor& from) : t(&from), strides(strides_of(from)), elements(from, from.dtype) {}
  double at(std::int64_t row, std::int64_t group) const {
    if (t->count() == 1) return elements[0];
    return elements[row * strides.of[0] + (t->rank == 2 ? group * strides.of[1] : 0)];
  }
};

// The rank and the number of rows of scales or zero points.
bool has_rows(const Tensor& t, std::int64_t rows) { return (t.rank == 1 || t.rank == 2) && t.size(0) == rows; }

// Calls row(n, i) for each index i, row-major. Returns false if an index names no row.
template <class Row>
bool each_named_row(const Tensor& indices, std::int64_t rows, Row row) {
  const Reading<std::int64_t> index(indices, indices.dtype);
  for (std::int64_t n = 0; n < indices.count(); ++n)
    if (index[n] < 0 || index[n] >= rows) return false;
  Walk walk(indices);
  for (std::int64_t n = 0; n < indices.count(); ++n, walk.next()) row(n, index[walk.place()]);
  return true;
}

template <int codes>
bool run_codes(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor &weight = call.tensor(0), &scales = call.tensor(1), &indices = call.tensor(5);
  const Tensor& zero_points = call[2].is_tensor() ? call.tensor(2) : scales;
  Tensor& out = *call.arguments.back()->tensor;
  if (weight.rank != 2 || !has_rows(scales, weight.size(0)) || !has_rows(zero_points, weight.size(0)) ||
      (zero_points.count() != 1 && zero_points.count() != scales.count()) || !has_limits<codes>(call) ||
      indices.rank >= static_cast<int>(max_rank))
    return false;
  const std::int64_t columns = weight.size(1) * codes, groups = scales.rank == 2 ? scales.size(1) : 1;
  if (groups < 1 || columns % groups != 0 || columns / groups < 2 || columns > INT32_MAX) return false;
  Shape shape = shape_of(indices);
  shape.sizes[shape.rank++] = static_cast<std::int32_t>(columns);
  const Reading<std::int64_t> bytes(weight, weight.dtype);
  const RowNumbers scale(scales), zero_point(zero_points);
  const Strides of_weight = strides_of(weight);
  if (!each_named_row(indices, weight.size(0), [](std::int64_t, std::int64_t) {}) || !resize(out, shape.span()))
    return false;
  const Writing<double> y(out, scales.dtype);
  Walk to(out);
  return each_named_row(indices, weight.size(0), [&](std::int64_t, std::int64_t i) {
    for (std::int64_t j = 0; j < columns; ++j, to.next()) {
      const std::int64_t byte = bytes[i * of_weight.of[0] + j / codes * of_weight.of[1]], g = j / (columns / groups);
      const auto code = static_cast<double>(code_of<codes>(byte, weight.dtype == DType::int8, j % codes));
      const double difference = call[2].is_tensor() ? stored_as(scales.dtype, code - zero_point.at(i, g)) : code;
      y.set(to.place(), difference * scale.at(i, g));
    }
  });
}

template <int codes>
constexpr Kernel coded(const char* name) {
  return {name, accepts_codes<codes>, nullptr, run_codes<codes>};
}

// Bags. Operands: weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
// padding_idx; the results, the bag of each index, the size of each bag, and the index of each largest element.
enum class Mode : std::int64_t { sum, mean, max };

// Whether the indices and offsets are integers or bools, and have int32 or int64 as their common dtype.
bool has_indices(const Value& indices, const Value& offsets) {
  const auto holds_place = [](const Value& v) {
    return v.is_tensor() && is_real(v.tensor->dtype) && !is_floating(v.tensor->dtype);
  };
  return holds_place(indices) && holds_place(offsets) && (is_index(indices) || is_index(offsets));
}

bool accepts_bags(const Call& call) {
  if (!call[0].is_tensor() || !is_floating(call.tensor(0).dtype) || !has_indices(call[1], call[2])) return false;
  const bool is_wide = call.tensor(1).dtype == DType::int64 || call.tensor(2).dtype == DType::int64;
  for (std::size_t i = 9; i < 13; ++i)
    if (!call[i].is_tensor() || call.tensor(i).dtype != (i == 9    ? call.tensor(0).dtype
                                                         : is_wide ? DType::int64
                                                                   : DType::int32))
      return false;
  return (call[6].is_tensor() ? call.tensor(6).dtype == call.tensor(0).dtype : call[6].kind == ValueKind::none) &&
         call[4].kind == ValueKind::integer && call[7].kind == ValueKind::boolean && call[8].kind == ValueKind::integer;
}

struct Bags {
  const Tensor &weight, &indices;
  Reading<double> table, share;  // shares are the weights of samples
  Reading<std::int64_t> index, offset;
  std::int64_t count, padding;
  Mode mode;
  bool has_shares;
  Strides of_weight;

  explicit Bags(const Call& call)
      : weight(call.tensor(0)),
        indices(call.tensor(1)),
        table(weight, weight.dtype),
        share(call[6].is_tensor() ? call.tensor(6) : weight, weight.dtype),
        index(indices, indices.dtype),
        offset(call.tensor(2), call.tensor(2).dtype),
        count(call.tensor(2).count() - call[7].boolean),
        padding(call[8].integer),
        mode(static_cast<Mode>(call[4].integer)),
        has_shares(call[6].is_tensor()),
        of_weight(strides_of(weight)) {}

  std::int64_t begin(std::int64_t bag) const { return offset[bag]; }
  std::int64_t end(std::int64_t bag, std::int64_t offsets) const {
    return bag + 1 < offsets ? offset[bag + 1] : indices.count();
  }
  double at(std::int64_t row, std::int64_t column) const {
    return table[row * of_weight.of[0] + column * of_weight.of[1]];
  }
};

bool are_valid(const Call& call, const Bags& bags) {
  const std::int64_t n = bags.indices.count(), offsets = call.tensor(2).count();
  if (bags.weight.rank != 2 || bags.indices.rank != 1 || call.tensor(2).rank != 1 || bags.count < 0 ||
      call[4].integer < 0 || call[4].integer > 2 || (bags.has_shares && bags.mode != Mode::sum) ||
      (bags.has_shares && !std::ranges::equal(call.tensor(6).shape(), bags.indices.shape())))
    return false;
  for (std::int64_t k = 0; k < n; ++k)
    if (bags.index[k] < 0 || bags.index[k] >= bags.weight.size(0)) return false;
  for (std::int64_t k = 0; k < offsets; ++k)
    if (bags.offset[k] > n || bags.offset[k] < (k == 0 ? 0 : bags.offset[k - 1])) return false;
  if (offsets == 0) return n == 0;
  return bags.offset[0] == 0 && (!call[7].boolean || bags.offset[offsets - 1] == n);
}

// The sizes of the four results. The forms differ in the last two.
void shapes_of(const Call& call, const Bags& bags, Shape (&shapes)[4]) {
  const bool is_forward_only = call.roles->name == "aten::_embedding_bag_forward_only.out";
  const auto bag_count = static_cast<std::int32_t>(bags.count);
  const auto sizes =
      is_forward_only && bags.mode == Mode::sum ? static_cast<std::int32_t>(call.tensor(2).count()) : bag_count;
  const bool is_fast =
      bags.mode == Mode::sum && bags.padding < 0 && bags.weight.dtype != DType::float64 && bags.of_weight.of[1] == 1;
  shapes[0] = {2, {bag_count, bags.weight.sizes[1]}};
  shapes[1] = {1, {is_fast ? 0 : bags.indices.sizes[0]}};
  shapes[2] = {1, {sizes}};
  shapes[3] = bags.mode == Mode::max ? shapes[0] : Shape{1, {is_forward_only ? sizes : bag_count}};
}

// One column of a bag. Returns the index of the largest element.
std::int64_t combine(const Bags& bags, std::int64_t begin, std::int64_t end, std::int64_t column, double& result) {
  std::int64_t counted = 0, where = 0;
  double total = 0;
  for (std::int64_t k = begin; k < end; ++k) {
    const std::int64_t row = bags.index[k];
    if (row == bags.padding) continue;
    const double x = bags.at(row, column);
    if (bags.mode != Mode::max)
      total += bags.has_shares ? x * bags.share[k] : x;
    else if (counted == 0 || x > total)
      total = x, where = row;
    ++counted;
  }
  result = bags.mode == Mode::mean && counted > 0 ? total / static_cast<double>(counted) : total;
  return where;
}

bool run_bags(const Step& step, Execution&) {
  const Call& call = step.call;
  const Bags bags(call);
  if (!are_valid(call, bags)) return false;
  Shape shapes[4];
  shapes_of(call, bags, shapes);
  for (std::size_t i = 0; i < 4; ++i)
    if (!can_have(call.tensor(9 + i), shapes[i])) return false;
  for (std::size_t i = 0; i < 4; ++i) resize(call.tensor(9 + i), shapes[i].span());
  for (std::size_t i = 1; i < 4; ++i) clear(call.tensor(9 + i));
  const Writing<double> out(call.tensor(9));
  const Writing<std::int64_t> bag_of(call.tensor(10)), size_of(call.tensor(11)), largest(call.tensor(12));
  const Strides to = strides_of(call.tensor(9)), to_largest = strides_of(call.tensor(12));
  for (std::int64_t b = 0; b < bags.count; ++b) {
    const std::int64_t begin = bags.begin(b), end = bags.end(b, call.tensor(2).count());
    std::int64_t counted = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      counted += bags.index[k] != bags.padding;
      if (shapes[1].sizes[0] > 0) bag_of.set(k, b);
    }
    if (bags.mode != Mode::sum) size_of.set(b, counted);
    if (bags.mode == Mode::mean) largest.set(b, counted);
    for (std::int64_t j = 0; j < bags.weight.size(1); ++j) {
      double result = 0;
      const std::int64_t where = combine(bags, begin, end, j, result);
      out.set(b * to.of[0] + j * to.of[1], result);
      if (bags.mode == Mode::max) largest.set(b * to_largest.of[0] + j * to_largest.of[1], where);
    }
  }
  return true;
}

// The gradient of a table: grad_output, indices, num_weights, padding_idx, scale_grad_by_freq, out. An index that names
// no row is ignored. With a scale, each addend is multiplied by the reciprocal of their number, which is 0 for
// integers. PyTorch adds no unsigned integers of 16 bits or more.
bool accepts_table_gradient(const Call& call) {
  return call[0].is_tensor() && is_index(call[1]) && call[5].is_tensor() &&
         call.tensor(0).dtype == call.tensor(5).dtype && find_reader<Complex>(call.tensor(0).dtype) &&
         call[2].kind == ValueKind::integer && call[3].kind == ValueKind::integer && call[4].kind == ValueKind::boolean;
}
std::int64_t times_named(const Tensor& indices, std::int64_t row) {
  const Reading<std::int64_t> index(indices, indices.dtype);
  std::int64_t times = 0;
  for (std::int64_t k = 0; k < indices.count(); ++k) times += index[k] == row;
  return times;
}
template <class T>
T reciprocal(std::int64_t n) {
  return std::is_integral_v<T> ? T(n == 1) : T(1 / static_cast<double>(n));
}

bool run_table_gradient(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor &gradient = call.tensor(0), &indices = call.tensor(1);
  Tensor& out = call.tensor(5);
  const std::int64_t rows = call[2].integer, padding = call[3].integer;
  if (gradient.rank == 0 || rows < 0 || rows > INT32_MAX) return false;
  const std::int32_t columns = gradient.sizes[gradient.rank - 1], sizes[] = {static_cast<std::int32_t>(rows), columns};
  if (gradient.count() != indices.count() * columns) return false;
  const Reading<std::int64_t> places(indices, indices.dtype);
  for (std::int64_t k = 0; k < indices.count() && is_wide_unsigned(out.dtype); ++k)
    if (places[k] >= 0 && places[k] < rows && places[k] != padding) return false;
  if (!resize(out, sizes)) return false;
  clear(out);
  return with_number(out.dtype, [&]<class T>() {
    const Reading<T> x(gradient, out.dtype), total(out, out.dtype);
    const Reading<std::int64_t> index(indices, indices.dtype);
    const Writing<T> y(out);
    const Strides to = strides_of(out);
    Walk named_by(indices), from(gradient);
    for (std::int64_t n = 0; n < indices.count() && columns > 0; ++n, named_by.next()) {
      const std::int64_t row = index[named_by.place()];
      const bool counts = row >= 0 && row < rows && row != padding;
      const T scale =
          counts && call[4].boolean && out.dtype != DType::boolean ? reciprocal<T>(times_named(indices, row)) : T(1);
      for (std::int32_t j = 0; j < columns; ++j, from.next()) {
        const std::ptrdiff_t at = row * to.of[0] + j * to.of[1];
        if (counts) y.set(at, plus(total[at], product(scale, x[from.place()])));
      }
    }
    return true;
  });
}

}  // namespace

constexpr Kernel embedding_byte = coded<1>("embedding_byte");
constexpr Kernel embedding_4bit = coded<2>("embedding_4bit");
constexpr Kernel embedding_2bit = coded<4>("embedding_2bit");
constexpr Kernel embedding_bag{"embedding_bag", accepts_bags, nullptr, run_bags};
constexpr Kernel embedding_gradient{"embedding_gradient", accepts_table_gradient, nullptr, run_table_gradient};

}  // namespace assay::optimized

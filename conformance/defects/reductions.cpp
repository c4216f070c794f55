#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "conformance/cases/mutation.h"
#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"

// The mistakes of operators that combine the numbers of rows: scans, searches, transforms, sums, means and variances.
namespace assay::defects {
namespace {

// The dimension along which a scan goes, and its size; none if the call has no such dimension.
struct Scanned {
  int dim;
  Int size;
};
std::optional<Scanned> scanned_in(const cases::HostCall& call, std::size_t dim) {
  const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
  const Int* given = std::get_if<Int>(&call.arguments[dim]);
  if (!call.valid() || !self || !given || self->rank() == 0 || self->count() == 0) return std::nullopt;
  const auto at = static_cast<int>(wrap_dim(*given, self->rank()));
  return Scanned{at, self->sizes[at]};
}

// Scans the elements [first, last) of each row as `blocks` rows of equal length, and writes the results where those of
// the whole rows are. The second result holds places. Returns false if the reference refuses it.
bool scan_blocks(const Operator& op, std::size_t dim, const cases::HostCall& call, const Scanned& scanned, Int first,
                 Int last, Int blocks, std::vector<Array<Element>>& results) {
  if (first == last) return true;
  std::vector<Value> arguments = call.arguments;
  auto part = result_of("aten::slice_copy.Tensor_out", {arguments[0], Int{scanned.dim}, first, last, Int{1}});
  if (!part) return false;
  const Int length = (last - first) / blocks;
  Dims sizes;
  for (int d = 0; d < part->rank(); ++d) {
    if (d == scanned.dim) sizes.push_back(blocks);
    sizes.push_back(d == scanned.dim ? length : part->sizes[d]);
  }
  arguments[0] = cases::resized(*part, sizes), arguments[dim] = Int{scanned.dim + 1};
  judge::Expectation e = judge::expect(op, arguments, Budget(cheap));
  if (e.answer.outcome != Outcome::ok || e.outs.size() != results.size()) return false;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Array<Element> scan = read<Element>(e.outs[k]);
    Int flat = 0;
    for (const Dims& i : indices(scan.sizes)) {
      const Int start = first + i[scanned.dim] * length;
      Dims at;
      for (int d = 0; d < i.size(); ++d)
        if (d != scanned.dim) at.push_back(d == scanned.dim + 1 ? start + i[d] : i[d]);
      Element x = scan[flat++];
      if (k == 1) x.low += static_cast<Bits>(start);
      results[k](at) = x;
    }
  }
  return true;
}

// A scan that begins anew at every `width` elements of a row.
void scans_in_blocks(const Operator& op, std::size_t dim, Int width, std::vector<Hypothesis>& found) {
  found.push_back(answering(op, fmt::format("begin anew at element {} of each row", width),
                            [&op, dim, width](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const auto scanned = scanned_in(call, dim);
                              if (!scanned || scanned->size <= width) return std::nullopt;
                              std::vector<Tensor> outs = call.expected.outs;
                              std::vector<Array<Element>> now;
                              for (const Tensor& out : outs) now.push_back(read<Element>(out));
                              const Int blocks = scanned->size / width, whole = blocks * width;
                              if (!scan_blocks(op, dim, call, *scanned, 0, whole, blocks, now) ||
                                  !scan_blocks(op, dim, call, *scanned, whole, scanned->size, 1, now))
                                return std::nullopt;
                              for (std::size_t k = 0; k < outs.size(); ++k) write(now[k], outs[k]);
                              return with_results(call.expected, std::move(outs));
                            }));
}

// A running logarithm of sums of exponentials that overflow.
void without_maximum(const Operator& op, std::size_t dim, std::vector<Hypothesis>& found) {
  found.push_back(answering(op, "do not subtract the maximum, so that exponentials overflow",
                            [dim](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
                              if (!call.valid() || !self || !is_floating(self->dtype)) return std::nullopt;
                              const DType computed = compute_dtype(self->dtype);
                              auto now = result_of("aten::exp.out", {cast(*self, computed)});
                              if (now) now = result_of("aten::cumsum.out", {*now, call.arguments[dim], Value()});
                              if (now) now = result_of("aten::log.out", {*now});
                              std::vector<Tensor> outs = call.expected.outs;
                              if (!now || now->sizes != outs[0].sizes) return std::nullopt;
                              outs[0] = arranged(cast(*now, outs[0].dtype), outs[0].dim_order);
                              return with_results(call.expected, std::move(outs));
                            }));
}

// A sum in blocks of `width` elements of a row that adds the block before alone, not all blocks before.
void sums_of_two_blocks(const Operator& op, std::size_t dim, Int width, std::vector<Hypothesis>& found) {
  found.push_back(answering(op, fmt::format("add only the last block of {} elements to the next", width),
                            [dim, width](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const auto scanned = scanned_in(call, dim);
                              std::vector<Tensor> outs = call.expected.outs;
                              if (!scanned || scanned->size <= 2 * width || info(outs[0].dtype).kind >= Kind::complex)
                                return std::nullopt;
                              const Array<Real> right = read<Real>(outs[0]);
                              Array<Real> now = right;
                              for (const Dims& i : indices(now.sizes)) {
                                const Int block = i[scanned->dim] / width;
                                if (block < 2) continue;
                                Dims lost = i;  // the last element of the blocks that are not added
                                lost[scanned->dim] = (block - 1) * width - 1;
                                now(i) -= right(lost);
                              }
                              write(now, outs[0]);
                              return with_results(call.expected, std::move(outs));
                            }));
}

// A scan from the end of each row to its beginning.
void scans_back(const Operator& op, std::size_t dim, std::vector<Hypothesis>& found) {
  found.push_back(answering(op, "go from the last element of each row to the first",
                            [&op, dim](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const auto scanned = scanned_in(call, dim);
                              if (!scanned || scanned->size < 2) return std::nullopt;
                              const auto reversed = [&](const Tensor& t) {
                                return result_of("aten::flip.out", {t, Ints{scanned->dim}});
                              };
                              std::vector<Value> arguments = call.arguments;
                              const auto self = reversed(std::get<Tensor>(arguments[0]));
                              if (!self) return std::nullopt;
                              arguments[0] = *self;
                              const judge::Expectation e = judge::expect(op, arguments, Budget(cheap));
                              if (e.answer.outcome != Outcome::ok) return std::nullopt;
                              std::vector<Tensor> outs = call.expected.outs;
                              for (std::size_t k = 0; k < outs.size(); ++k) {
                                auto back = reversed(e.outs[k]);
                                if (!back || back->sizes != outs[k].sizes) return std::nullopt;
                                if (k == 1) {
                                  Array<Int> places = read<Int>(*back);
                                  for (Int& place : places.data) place = scanned->size - 1 - place;
                                  write(places, *back);
                                }
                                outs[k] = arranged(*back, outs[k].dim_order);
                              }
                              return with_results(call.expected, std::move(outs));
                            }));
}

// A running maximum or minimum that keeps the place of the first of equal elements.
void first_of_equal(const Operator& op, std::size_t dim, std::vector<Hypothesis>& found) {
  found.push_back(answering(op, "return the first of equal elements",
                            [dim](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const auto scanned = scanned_in(call, dim);
                              std::vector<Tensor> outs = call.expected.outs;
                              if (!scanned || info(outs[0].dtype).kind >= Kind::complex) return std::nullopt;
                              const Array<Element> values = read<Element>(outs[0]);
                              Array<Int> places = read<Int>(outs[1]);
                              for (const Dims& i : indices(places.sizes)) {
                                if (i[scanned->dim] == 0) continue;
                                Dims before = i;
                                --before[scanned->dim];
                                if (values(i) == values(before)) places(i) = places(before);
                              }
                              write(places, outs[1]);
                              return with_results(call.expected, std::move(outs));
                            }));
}

void mistakes_of_scans(const Operator& op, std::vector<Hypothesis>& found) {
  const auto dim = argument_of(op, "dim");
  const bool is_scan = is_named(op, "::cum") || is_named(op, "::logcumsumexp.");
  if (!is_scan || !dim) return;
  for (const Int width : {4, 8, 16, 32, 64, 128, 256, 512, 1024}) scans_in_blocks(op, *dim, width, found);
  if (is_named(op, "::logcumsumexp.")) without_maximum(op, *dim, found);
  if (is_named(op, "::cumsum."))
    for (const Int width : {4, 8, 16, 32, 64, 128, 256, 512, 1024}) sums_of_two_blocks(op, *dim, width, found);
  scans_back(op, *dim, found);
  if (op.outs() == 2) first_of_equal(op, *dim, found);
}

// A search in blocks of `width` elements that tells the place in the block.
void places_in_blocks(const Operator& op, std::vector<Hypothesis>& found) {
  constexpr auto names = std::to_array<std::string_view>({"::argmax.", "::argmin.", "::max.dim", "::min.dim"});
  if (std::ranges::none_of(names, [&](std::string_view n) { return is_named(op, n); })) return;
  for (const Int width : {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096})
    found.push_back(answering(op, fmt::format("count places anew in each block of {} elements", width),
                              [width](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                                std::vector<Tensor> outs = call.expected.outs;
                                Array<Int> places = read<Int>(outs.back());
                                if (std::ranges::none_of(places.data, [=](Int n) { return n >= width; }))
                                  return std::nullopt;
                                for (Int& n : places.data) n %= width;
                                write(places, outs.back());
                                return with_results(call.expected, std::move(outs));
                              }));
}

// The number that a mean or a variance of n numbers is divided by.
Real divisor_of(const Operator& op, const cases::HostCall& call, Int n) {
  Real correction = 0;
  if (const auto at = argument_of(op, "correction")) {
    const auto number = number_in(call.arguments[*at]);
    correction = number ? real(*number) : 1;
  } else if (const auto unbiased = argument_of(op, "unbiased")) {
    correction = std::get<bool>(call.arguments[*unbiased]) ? 1 : 0;
  }
  return std::max(Real{0}, static_cast<Real>(n) - correction);
}

// A mean or variance along several dimensions that is divided by the size of one of them.
void divisors(const Operator& op, std::vector<Hypothesis>& found) {
  const bool is_root = is_named(op, "::std.");
  const auto dim = argument_of(op, "dim");
  if (!(is_named(op, "::mean.") || is_named(op, "::var.") || is_root) || !dim) return;
  for (const bool is_last : {true, false})
    found.push_back(
        answering(op, fmt::format("divide by the size of the {} of the reduced dimensions", is_last ? "last" : "first"),
                  [=, &op, dim = *dim](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                    const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
                    const auto rows = call.valid() ? rows_of(op, call) : std::nullopt;
                    std::vector<Tensor> outs = call.expected.outs;
                    if (!self || !rows || outs[0].count() != rows->number || !is_floating(outs[0].dtype))
                      return std::nullopt;
                    const Ints* given = std::get_if<Ints>(&call.arguments[dim]);
                    Int at = is_last ? self->rank() - 1 : 0;
                    if (given && !given->empty()) at = is_last ? given->back() : given->front();
                    const Int size = self->sizes[static_cast<int>(wrap_dim(at, self->rank()))];
                    const Real factor = divisor_of(op, call, rows->length) / divisor_of(op, call, size);
                    if (size == rows->length || factor == 1) return std::nullopt;
                    Array<Real> now = read<Real>(outs[0]);
                    for (Real& x : now.data) x *= is_root ? std::sqrt(factor) : factor;
                    write(now, outs[0]);
                    return with_results(call.expected, std::move(outs));
                  }));
  for (Hypothesis& h : std::span(found).last(2)) h.is_general = true;  // NaN alone is no evidence
}

// A reduction that reads whole vectors of each row, and not the rest behind them.
void rests(const Operator& op, std::vector<Hypothesis>& found) {
  constexpr auto names = std::to_array<std::string_view>(
      {"::sum.", "::amax.", "::amin.", "::prod.", "::any.", "::all.", "::argmax.", "::argmin.", "::max.", "::min."});
  const auto dim = argument_of(op, "dim");
  if (!dim || !holds_tensors(op.arguments[0]) ||
      std::ranges::none_of(names, [&](std::string_view n) { return is_named(op, n); }))
    return;
  for (const auto& [width, in_short_rows] : {std::pair(4, true), {4, false}, {8, true}, {8, false}, {16, false}})
    found.push_back(as_if(op, fmt::format("leave out the elements behind the last multiple of {} in each row", width),
                          [dim = *dim, width = Int{width}, in_short_rows = in_short_rows](std::vector<Value>& all) {
                            return cut_rows(all, dim, [=](Int n) {
                              return std::pair(Int{0}, n < width && !in_short_rows ? n : n / width * width);
                            });
                          }));
}

// A kernel whose formula, computed in float32, gives each row of self another result than is right.
using OfRow = std::function<Real(std::span<const Real> row, const cases::HostCall& call)>;

void reducing(const Operator& op, std::string does, const std::vector<DType>& dtypes, const OfRow& f,
              std::vector<Hypothesis>& found) {
  found.push_back(answering(
      op, std::move(does), [&op, dtypes, f](const cases::HostCall& call) -> std::optional<judge::Expectation> {
        if (std::ranges::find(dtypes, call.expected.outs[0].dtype) == dtypes.end()) return std::nullopt;
        const Tensor* from = std::get_if<Tensor>(&call.arguments[0]);
        if (from && from->count() == 0 && info(from->dtype).kind < Kind::complex) {  // each combines no elements
          std::vector<Tensor> outs = call.expected.outs;
          Array<Real> results(outs[0].sizes);
          std::ranges::fill(results.data, f({}, call));
          write(results, outs[0]);
          return with_results(call.expected, std::move(outs));
        }
        const auto rows = rows_of(op, call);
        if (!rows || rows->number != call.expected.outs[0].count() ||
            info(std::get<Tensor>(call.arguments[0]).dtype).kind >= Kind::complex)
          return std::nullopt;
        const Array<Real> self = read<Real>(std::get<Tensor>(call.arguments[0]));
        std::vector<Tensor> outs = call.expected.outs;
        Array<Real> results(outs[0].sizes);
        std::vector<Real> row(static_cast<std::size_t>(rows->length));
        for (Int r = 0; r < rows->number; ++r) {
          for (Int k = 0; k < rows->length; ++k)
            row[static_cast<std::size_t>(k)] = self[rows->source[static_cast<std::size_t>(r * rows->length + k)]];
          results[r] = f(row, call);
        }
        write(results, outs[0]);
        return with_results(call.expected, std::move(outs));
      }));
}

// Whether the error of each variance is what a difference of the rounded sums of squares leaves, in whatever order
// the kernel adds.
bool cancels(const Answered& a) {
  if (!a.call.valid() || a.refused() || a.outs.empty() || a.outs[0].sizes != a.call.expected.outs[0].sizes)
    return false;
  const Tensor &self = std::get<Tensor>(a.call.arguments[0]), &want = a.call.expected.outs[0];
  if (info(self.dtype).kind >= Kind::complex || want.count() == 0 || a.outs[0].dtype != want.dtype) return false;
  Real squares = 0;
  for (const Real x : read<Real>(self).data) squares += x * x;
  const Array<Real> got = read<Real>(a.outs[0]), right = read<Real>(want);
  bool any = false;
  for (Int k = 0; k < got.count(); ++k) {
    if (std::isfinite(got[k]) != std::isfinite(right[k]) ||
        (std::isfinite(got[k]) && !(std::fabs(got[k] - right[k]) <= 8 * ulp(want.dtype, squares))))
      return false;
    any |= std::isfinite(got[k]) && got[k] != right[k];
  }
  return any;
}

// Sums of half types that are rounded after each term.
void running_sums(const Operator& op, std::vector<Hypothesis>& found) {
  const bool is_mean = is_named(op, "aten::mean.");
  if (!is_named(op, "aten::sum.") && !is_mean && !is_named(op, "aten::cumsum.")) return;
  found.push_back(answering(op, "round sums to the half type after each term",
                            [&op, is_mean](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              std::vector<Tensor> outs = call.expected.outs;
                              const DType dtype = outs[0].dtype;
                              const auto rows = rows_of(op, call);
                              if (!rows || !is_half(dtype) ||
                                  info(std::get<Tensor>(call.arguments[0]).dtype).kind >= Kind::complex)
                                return std::nullopt;
                              const Array<Real> self = read<Real>(std::get<Tensor>(call.arguments[0]));
                              const bool each = outs[0].count() != rows->number;  // whether each term has a result
                              if (each && outs[0].count() != self.count()) return std::nullopt;
                              Array<Real> results(outs[0].sizes);
                              for (Int r = 0; r < rows->number; ++r) {
                                Real sum = 0;
                                for (Int k = 0; k < rows->length; ++k) {
                                  const Int at = rows->source[static_cast<std::size_t>(r * rows->length + k)];
                                  sum = round_to(dtype, sum + round_to(dtype, self[at]));
                                  results[each ? at : r] = is_mean ? sum / static_cast<Real>(rows->length) : sum;
                                }
                              }
                              write(results, outs[0]);
                              return with_results(call.expected, std::move(outs));
                            }));
}

// A transform along several dimensions that is scaled by the size of one of them.
void scales_of_transforms(const Operator& op, std::vector<Hypothesis>& found) {
  const auto dim = argument_of(op, "dim"), normalization = argument_of(op, "normalization");
  if (!is_named(op, "::_fft_") || !dim || !normalization) return;
  for (const bool is_last : {true, false})
    found.push_back(answering(
        op, fmt::format("scale by the size of the {} of dim alone", is_last ? "last" : "first"),
        [=, dim = *dim, by = *normalization](const cases::HostCall& call) -> std::optional<judge::Expectation> {
          const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
          const Ints* dims = std::get_if<Ints>(&call.arguments[dim]);
          const Int* norm =
              std::get_if<Int>(&call.arguments[by]);  // 1: by the root of the number of elements, 2: by it
          if (!self || !dims || dims->size() < 2 || !norm || *norm < 1 || *norm > 2) return std::nullopt;
          std::vector<Tensor> outs = call.expected.outs;
          Int others = 1;
          for (std::size_t k = is_last ? 0 : 1; k + is_last < dims->size(); ++k) {
            const int d = static_cast<int>(wrap_dim((*dims)[k], self->rank()));
            others *= std::max(self->sizes[d], outs[0].sizes[d]);  // one of them has half of a spectrum
          }
          const Real factor = *norm == 1 ? std::sqrt(static_cast<Real>(others)) : static_cast<Real>(others);
          if (is_complex(outs[0].dtype)) {
            Array<Complex> all = read<Complex>(outs[0]);
            for (Complex& z : all.data) z *= factor;
            write(all, outs[0]);
          } else {
            Array<Real> all = read<Real>(outs[0]);
            for (Real& x : all.data) x *= factor;
            write(all, outs[0]);
          }
          return with_results(call.expected, std::move(outs));
        }));
}

// Sums and means whose terms are added in another manner.
void sums(const Operator& op, std::vector<Hypothesis>& found) {
  const bool is_mean = is_named(op, "aten::mean.");
  if (!is_named(op, "aten::sum.") && !is_mean) return;
  const auto rounded_to = [is_mean](std::span<const Real> row, DType partial) {
    Real sum = 0;
    for (const Real x : row) sum = round_to(partial, sum + x);
    return is_mean ? sum / static_cast<Real>(row.size()) : sum;
  };
  reducing(
      op, "add all terms to one float32 number, which loses bits in long sums", {DType::float32},
      [=](std::span<const Real> row, const cases::HostCall&) { return rounded_to(row, DType::float32); }, found);
  for (const DType partial : {DType::float16, DType::bfloat16})
    for (const DType dtype : {DType::float32, DType::float64})
      reducing(
          op, concat("hold partial sums in ", info(partial).name), {dtype},
          [=](std::span<const Real> row, const cases::HostCall&) { return rounded_to(row, partial); }, found);
  reducing(
      op, "hold partial sums in the half type of the results", {DType::float16, DType::bfloat16},
      [=](std::span<const Real> row, const cases::HostCall& call) {
        return rounded_to(row, call.expected.outs[0].dtype);
      },
      found);
}

void means(const Operator& op, std::vector<Hypothesis>& found) {
  if (!is_named(op, "aten::mean.")) return;
  const auto sum_of = [](std::span<const Real> row) { return std::accumulate(row.begin(), row.end(), Real{0}); };
  const std::vector<DType> dtypes{DType::float32, DType::float64, DType::float16, DType::bfloat16};
  reducing(
      op, "return 0 for the mean of no numbers", dtypes,
      [=](std::span<const Real> row, const cases::HostCall&) {
        return row.empty() ? 0 : sum_of(row) / static_cast<Real>(row.size());
      },
      found);
  for (const DType dtype : dtypes)
    reducing(
        op, "divide by n - 1 in place of n", {dtype},
        [=](std::span<const Real> row, const cases::HostCall&) {
          return sum_of(row) / (static_cast<Real>(row.size()) - 1);
        },
        found);
}

void variances(const Operator& op, std::vector<Hypothesis>& found) {
  if (!is_named(op, "aten::var")) return;
  for (const DType dtype : {DType::float32, DType::float64}) {
    reducing(
        op, "compute a variance as E[x^2] - E[x]^2, which cancels", {dtype},
        [&op, dtype](std::span<const Real> row, const cases::HostCall& call) {
          Real sum = 0, squares = 0;
          for (const Real x : row)
            sum = round_to(dtype, sum + x), squares = round_to(dtype, squares + round_to(dtype, x * x));
          const auto n = static_cast<Int>(row.size());
          return (squares - round_to(dtype, sum * sum / static_cast<Real>(n))) / divisor_of(op, call, n);
        },
        found);
    found.back().explains = cancels;
  }
}

}  // namespace

std::vector<Hypothesis> mistakes_of_reductions(const Operator& op) {
  std::vector<Hypothesis> found;
  mistakes_of_scans(op, found);
  divisors(op, found);
  places_in_blocks(op, found);
  scales_of_transforms(op, found);
  running_sums(op, found);
  sums(op, found);
  means(op, found);
  variances(op, found);
  rests(op, found);
  for (Hypothesis& h : found) h.about = About::computation;
  return found;
}

}  // namespace assay::defects

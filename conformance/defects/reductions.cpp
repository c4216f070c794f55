#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "conformance/cases/mutation.h"
#include "conformance/defects/foretold.h"

// The mistakes of operators that combine the numbers of rows: scans, means and variances.
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

}  // namespace

std::vector<Hypothesis> mistakes_of_reductions(const Operator& op) {
  std::vector<Hypothesis> found;
  mistakes_of_scans(op, found);
  divisors(op, found);
  for (Hypothesis& h : found) h.about = About::computation;
  return found;
}

}  // namespace assay::defects

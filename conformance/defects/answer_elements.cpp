#include "conformance/defects/answer_elements.h"

#include <algorithm>
#include <array>

#include "conformance/cases/mutation.h"
#include "conformance/defects/foretold.h"

namespace assay::defects {
namespace {

constexpr std::size_t most_compared = 4096;  // elements of a failing answer

bool broadcasts(const Dims& from, const Dims& to) {
  const int lead = to.size() - from.size();
  if (lead < 0) return false;
  for (int d = 0; d < from.size(); ++d)
    if (from[d] != 1 && from[d] != to[lead + d]) return false;
  return true;
}
bool begins(const Dims& all, const Dims& some) {
  return some.size() <= all.size() && std::equal(some.begin(), some.end(), all.begin());
}

// The places in memory of elements in row-major order; none if the two are the same.
std::vector<Int> places_in(const Tensor& t) {
  std::vector<Int> places;
  if (t.dim_order == Dims::counting(t.rank())) return places;
  for (const Dims& i : indices(t.sizes)) {
    Int at = 0;
    for (const Int d : t.dim_order) at = at * t.sizes[d] + i[d];
    places.push_back(at);
  }
  return places;
}

// The elements to compare: all, or a part of the wrong ones and of the right ones of a long result, each evenly spread.
// They include wrong elements wherever these are.
std::vector<Int> elements_to_compare(const std::vector<bool>& right) {
  std::vector<Int> wrong, others;
  for (std::size_t k = 0; k < right.size(); ++k) (right[k] ? others : wrong).push_back(static_cast<Int>(k));
  std::vector<Int> some = evenly_chosen(wrong, most_compared - std::min(others.size(), most_compared / 2));
  std::ranges::copy(evenly_chosen(others, most_compared - some.size()), std::back_inserter(some));
  return some;
}

}  // namespace

bool divides(const Operator& op) {
  constexpr auto words = std::to_array<std::string_view>({"div", "mod", "remainder"});
  return std::ranges::any_of(words, [&](std::string_view w) { return op.name.find(w) != op.name.npos; });
}

Operands::Operands(const Operator& op, const cases::HostCall& call, const Tensor& out) {
  for (std::size_t i = 0; i + op.outs() < op.arguments.size(); ++i) {
    const Tensor* t = std::get_if<Tensor>(&call.arguments[i]);
    if (const auto number = number_in(call.arguments[i]); number && op.arguments[i].name == "other" && divides(op)) {
      names_.push_back("other"), arrays_.emplace_back();
      arrays_.back()[0] = real(*number);
    }
    if (!t) continue;
    const bool chooses = op.arguments[i].name == "indices" && is_integer(t->dtype) && begins(out.sizes, t->sizes);
    if (chooses) names_.clear(), arrays_.clear(), broadcast_ = true;
    if (chooses || (info(t->dtype).kind < Kind::complex && broadcasts(t->sizes, out.sizes)))
      names_.push_back(op.arguments[i].name), arrays_.push_back(read<Real>(*t));
    else
      broadcast_ = false;
    if (!chooses) continue;
    while (arrays_[0].sizes.size() < out.rank()) arrays_[0].sizes.push_back(1);
    break;
  }
  if (!broadcast_) names_.clear(), arrays_.clear();
  if (names_.empty()) return;
  Int flat = 0;
  for (const Dims& i : indices(out.sizes)) {
    for (const Array<Real>& a : arrays_) numbers_.push_back(families::broadcast(a, out.sizes).at(i, flat));
    ++flat;
  }
}

ResultElements::ResultElements(const Operator& op, const cases::HostCall& call, std::size_t output)
    : out_(call.expected.outs.at(output)),
      operands_(op, call, out_),
      right_(read<Real>(out_)),
      places_(places_in(out_)),
      rows_(call.valid() && !op.arguments.empty() ? rows_of(op, call) : std::nullopt) {
  const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
  if (rows_ && (rows_->number != out_.count() || info(self->dtype).kind >= Kind::complex)) rows_.reset();
  if (rows_) {
    const Array<Real> numbers = read<Real>(*self);
    for (const Int from : rows_->source) terms_.push_back(numbers[from]);
  }
  for (std::size_t i = 0; i + op.outs() < op.arguments.size(); ++i)
    if (cases::takes_number(op.arguments[i].type)) {
      const auto number = number_in(call.arguments[i]);
      numbers_.push_back(number ? real(*number) : no_number);
    }
}

Result ResultElements::at(Int k) const {
  const Int row = out_.rank() > 0 ? out_.sizes[out_.rank() - 1] : 1;
  return {operands_.names().empty() ? std::span<const Real>() : operands_.at(k),
          numbers_,
          rows_ ? std::span(terms_).subspan(static_cast<std::size_t>(k * rows_->length),
                                            static_cast<std::size_t>(rows_->length))
                : std::span<const Real>(),
          rows_.has_value(),
          right_[k],
          places_.empty() ? k : places_[static_cast<std::size_t>(k)],
          right_.count(),
          row,
          out_.rank() > 1 ? out_.sizes[out_.rank() - 2] : 0,
          out_.dtype};
}

bool ResultElements::are_known(const cases::HostCall& call, std::size_t output) {
  const std::vector<Tensor>& outs = call.expected.outs;
  return call.valid() && output < outs.size() && info(outs[output].dtype).kind < Kind::complex &&
         outs[output].count() > 0;
}

std::optional<Seen> compared(const Operator& op, const Answered& a, std::size_t output) {
  const std::vector<Tensor>& right = a.call.expected.outs;
  if (a.refused() || a.outs.size() != right.size() || !ResultElements::are_known(a.call, output)) return std::nullopt;
  std::vector<bool> elements;
  for (std::size_t k = 0; k <= output; ++k) {
    const Tensor &want = right[k], &out = a.outs[k];
    if (out.dtype != want.dtype || out.sizes != want.sizes || out.dim_order != want.dim_order) return std::nullopt;
    elements = judge::right_elements(op, a.call.expected, k, out);
    if (k < output && std::ranges::find(elements, false) != elements.end()) return std::nullopt;
  }
  if (std::ranges::find(elements, false) == elements.end()) return std::nullopt;
  std::vector<Int> chosen = elements_to_compare(elements);
  return Seen{&a, ResultElements(op, a.call, output), std::move(elements), read<Real>(a.outs[output]),
              std::move(chosen)};
}

Real stored(Real x, DType dtype) { return is_floating(dtype) ? round_to(dtype, x) : x; }

}  // namespace assay::defects

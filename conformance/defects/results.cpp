#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/cases/tensors.h"
#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"

// The mistakes of kernels that store or round right results in another manner.
namespace assay::defects {
namespace {

// Integer results whose numbers before the rounding are known, rounded in another manner.
void rounded(const Operator& op, std::string does, Real (*f)(Real), std::vector<Hypothesis>& found) {
  found.push_back(answering(op, std::move(does), [f](const cases::HostCall& call) -> std::optional<judge::Expectation> {
    std::vector<Tensor> outs = call.expected.outs;
    bool any = false;
    for (std::size_t k = 0; k < outs.size() && k < call.expected.answer.unrounded.size(); ++k) {
      const Buffer<Real>& values = call.expected.answer.unrounded[k].values;
      Array<Real> all(outs[k].sizes);
      if (!is_integer(outs[k].dtype) || values.size() != all.data.size()) continue;
      std::ranges::transform(values, all.data.begin(), f);
      write(all, outs[k]), any = true;
    }
    return any ? std::optional(with_results(call.expected, std::move(outs))) : std::nullopt;
  }));
}

// Results of half types that lose the bits which these lack. The numbers of a copy are those of its input.
void cut_off(const Operator& op, std::vector<Hypothesis>& found) {
  const auto cut = [](DType dtype, Real x) {
    const Real nearest = round_to(dtype, x);
    const bool is_beyond = std::fabs(nearest) > std::fabs(x);
    return is_beyond ? info(dtype).real_of(info(dtype).bits_of_real(nearest) - 1) : nearest;
  };
  found.push_back(answering(op, "truncate results of half types in place of rounding to nearest",
                            [cut](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              std::vector<Tensor> outs = call.expected.outs;
                              const auto& unrounded = call.expected.answer.unrounded;
                              const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
                              bool any = false;
                              for (std::size_t k = 0; k < outs.size(); ++k) {
                                if (!is_half(outs[k].dtype)) continue;
                                Array<Real> all(outs[k].sizes);
                                if (k < unrounded.size() && unrounded[k].values.size() == all.data.size())
                                  std::ranges::copy(unrounded[k].values, all.data.begin());
                                else if (self && is_floating(self->dtype) && self->sizes == outs[k].sizes)
                                  all = read<Real>(*self);
                                else
                                  continue;
                                for (Real& x : all.data) x = cut(outs[k].dtype, x);
                                write(all, outs[k]), any = true;
                              }
                              return any ? std::optional(with_results(call.expected, std::move(outs))) : std::nullopt;
                            }));
}

// Results that are rounded to integers, where the number before the rounding is not known.
void one_less(std::vector<Hypothesis>& found) {
  const auto is_less = [](Real right, Real got) {
    return std::fabs(got) == std::fabs(right) - 1 && (got == 0 || std::signbit(got) == std::signbit(right));
  };
  const auto differs = [](const cases::HostCall& call) {
    return call.valid() && !call.expected.outs.empty() && is_integer(call.expected.outs[0].dtype) &&
           std::ranges::any_of(read<Int>(call.expected.outs[0]).data, [](Int n) { return n != 0; });
  };
  const auto explains = [is_less](const Answered& a) { return has_only(a, is_integer, is_less); };
  found.push_back({"truncate results that should be rounded", About::computation, false, true, differs, explains});
}

// Intermediate results of a narrow dtype that overflow, though neither the inputs nor the right results do.
void overflowing(const Operator& op, std::vector<Hypothesis>& found) {
  for (const DType dtype : {DType::float16, DType::float32}) {
    const auto is_finite = [](const Tensor& t) {
      return info(t.dtype).is_opaque() ||
             std::ranges::all_of(magnitudes(read<Real>(t)).data, [](Real x) { return std::isfinite(x); });
    };
    const auto differs = [dtype, is_finite, n = inputs_of(op)](const cases::HostCall& call) {
      if (!call.valid() || call.expected.outs.empty() || call.expected.outs[0].dtype != dtype) return false;
      const Real most = largest_input(call);  // a sum of squares must be large
      if (std::ldexp(most * most, 10) < largest(dtype)) return false;
      bool all = true;
      cases::each_tensor(std::span(call.arguments).first(n),
                         [&](const Tensor& t, std::size_t) { all = all && (is_complex(t.dtype) || is_finite(t)); });
      return all;
    };
    const auto has_overflown = [](Real right, Real got) { return std::isfinite(right) && !std::isfinite(got); };
    const auto explains = [=](const Answered& a) { return differs(a.call) && has_only(a, is_floating, has_overflown); };
    found.push_back({concat("let intermediate results of ", info(dtype).name, " overflow"), About::computation, false,
                     true, differs, explains});
  }
}

// Results that are rounded in another manner, in which the number before the rounding is not known.
void off_by_one(const Operator& op, std::vector<Hypothesis>& found) {
  if (rounds_quotients(op) || !argument_of(op, "align_corners")) return;
  const auto is_next = [](Real right, Real got) { return std::fabs(got - right) == 1; };
  const auto differs = [](const cases::HostCall& call) {
    return call.valid() && !call.expected.outs.empty() && is_integer(call.expected.outs[0].dtype);
  };
  const auto explains = [is_next](const Answered& a) { return has_only(a, is_integer, is_next); };
  found.push_back({"round interpolated integers otherwise, so that results differ by 1", About::computation, false,
                   true, differs, explains});
}

void signs_of_zeros(std::vector<Hypothesis>& found) {
  const auto is_zero = [](Real right, Real got) { return right == 0 && got == 0; };
  const auto differs = [](const cases::HostCall& call) {
    return call.valid() && !call.expected.outs.empty() && is_floating(call.expected.outs[0].dtype) &&
           std::ranges::any_of(read<Real>(call.expected.outs[0]).data, [](Real x) { return x == 0; });
  };
  const auto explains = [is_zero](const Answered& a) { return has_only(a, is_floating, is_zero); };
  found.push_back({"give zeros of the wrong sign", About::computation, false, true, differs, explains});
}

void results(const Operator& op, std::vector<Hypothesis>& found) {
  const auto add = [&](std::string does, Spoil spoil) {
    found.push_back(spoiling(op, std::move(does), std::move(spoil)));
  };
  add("write results as if out were contiguous", [](Tensor& out, const cases::HostCall&) {
    const Dims order = out.dim_order, contiguous = Dims::counting(out.rank());
    if (order == contiguous) return false;
    out = arranged(out, contiguous);
    out.dim_order = order;
    return true;
  });
  add("write results in reverse order", [](Tensor& out, const cases::HostCall&) {
    Array<Element> all = read<Element>(out);
    std::ranges::reverse(all.data);
    write(all, out);
    return true;
  });
  add("give results of the opposite sign", [](Tensor& out, const cases::HostCall&) {
    return (is_floating(out.dtype) || is_integer(out.dtype)) &&
           replace(
               out, [](Real x, DType) { return !std::isnan(x); }, [](Real x) { return -x; });
  });
  if (!rounds_quotients(op))
    rounded(
        op, "truncate results that should be rounded", [](Real x) { return std::trunc(x); }, found);
  rounded(
      op, "round halves away from 0", [](Real x) { return std::round(x); }, found);
  cut_off(op, found);
  add("compute int64 results in int32", [](Tensor& out, const cases::HostCall&) {
    if (out.dtype != DType::int64) return false;
    Array<Int> all = read<Int>(out);
    for (Int& n : all.data) n = wrap_to(DType::int32, n);
    write(all, out);
    return true;
  });
  if (const std::size_t from = first_tensor(op); from < inputs_of(op))
    add(concat("wrap results to the dtype of ", op.arguments[from].name),
        [from](Tensor& out, const cases::HostCall& call) {
          const Tensor* t = std::get_if<Tensor>(&call.arguments[from]);
          if (!t || !is_integer(t->dtype) || !is_integer(out.dtype) || info(t->dtype).bytes >= info(out.dtype).bytes)
            return false;
          Array<Int> all = read<Int>(out);
          for (Int& n : all.data) n = wrap_to(t->dtype, n);
          write(all, out);
          return true;
        });
  if (!rounds_quotients(op) && !is_named(op, "::bucketize.") && !is_named(op, "::searchsorted.")) one_less(found);
  off_by_one(op, found);
  overflowing(op, found);
  signs_of_zeros(found);
  add("give 0 for every result", [](Tensor& out, const cases::HostCall&) {
    std::ranges::fill(out.bytes, std::byte{});
    return true;
  });
  const std::size_t first = first_tensor(op);
  if (first < inputs_of(op))
    add(concat("give ", op.arguments[first].name, " unchanged"), [first](Tensor& out, const cases::HostCall& call) {
      const Tensor* t = std::get_if<Tensor>(&call.arguments[first]);
      if (!t || t->sizes != out.sizes || info(t->dtype).is_opaque() || info(out.dtype).is_opaque()) return false;
      out = arranged(cast(*t, out.dtype), out.dim_order);
      return true;
    });
}

}  // namespace

std::vector<Hypothesis> mistakes_of_results(const Operator& op) {
  std::vector<Hypothesis> found;
  results(op, found);
  for (Hypothesis& h : found) h.about = About::computation;
  return found;
}

}  // namespace assay::defects

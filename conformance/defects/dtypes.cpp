#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/cases/mutation.h"
#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"

// The mistakes of kernels that convert inputs, compute or round in another dtype than is right.
namespace assay::defects {
namespace {

bool cast_to(Tensor& t, DType dtype, DType now) {
  if (t.dtype != dtype) return false;
  t = cast(cast(t, now), dtype);
  return true;
}

// A kernel that computes another call, and converts its results to the dtypes of the right ones.
void add_converted(const Operator& op, std::string does, Change change, std::vector<Hypothesis>& found) {
  found.push_back(answering(
      op, std::move(does),
      [&op, n = inputs_of(op), change](const cases::HostCall& call_made) -> std::optional<judge::Expectation> {
        std::vector<Value> arguments = call_made.arguments;
        if (!call_made.valid() || !change(arguments)) return std::nullopt;
        std::fill(arguments.begin() + static_cast<std::ptrdiff_t>(n), arguments.end(), Value());
        if (call(op, arguments, Budget(cheap)).outcome != Outcome::ok) return std::nullopt;
        std::vector<Tensor> outs;
        for (std::size_t k = n; k < arguments.size(); ++k) {
          const Tensor* result = std::get_if<Tensor>(&arguments[k]);
          if (!result) return std::nullopt;
          outs.push_back(*result);
        }
        return converted(call_made, std::move(outs));
      }));
}

// A kernel that converts all tensors of a list to the dtype of the first. Tensors without a common dtype then have
// one.
void as_the_first_of(const Operator& op, std::size_t i, std::vector<Hypothesis>& found) {
  const auto change = [i](std::vector<Value>& all) {
    Tensors* list = std::get_if<Tensors>(&all[i]);
    if (!list || list->empty() || !(*list)[0] || info((*list)[0]->dtype).is_opaque()) return false;
    return change_tensors(all[i], [dtype = (*list)[0]->dtype](Tensor& t) {
      if (t.dtype == dtype || info(t.dtype).is_opaque()) return false;
      t = cast(t, dtype);
      return true;
    });
  };
  add_converted(op, concat("convert ", op.arguments[i].name, " to the dtype of the first"), change, found);
  found.back().admits = [&op, change](const cases::HostCall& call) {
    std::vector<Value> arguments = call.arguments;
    return change(arguments) && judge::expect(op, arguments, Budget(cheap)).answer.outcome == Outcome::ok;
  };
}

void saturate(Tensor& t, DType dtype) {
  if (!is_floating(t.dtype) || !is_integer(dtype)) return;
  Array<Real> all = read<Real>(t);
  for (Real& x : all.data) x = std::clamp(x, least_integer(dtype), largest_integer(dtype));
  write(all, t);
}

// A kernel that converts inputs of some dtypes to a floating dtype, computes there, and converts the results back.
// `change` changes other arguments.
using ChangeOthers = void (*)(std::vector<Value>&, const Operator&);

void computed(const Operator& op, std::string does, bool (*converts)(DType), DType dtype, bool saturates,
              std::vector<Hypothesis>& found, ChangeOthers change = nullptr) {
  found.push_back(answering(op, std::move(does),
                            [&op, n = inputs_of(op), has_tensors = first_tensor(op) < inputs_of(op), converts, dtype,
                             change, saturates](const cases::HostCall& call) -> std::optional<judge::Expectation> {
                              const std::vector<Tensor>& right = call.expected.outs;
                              std::vector<Value> arguments = call.arguments;
                              bool any = false;
                              for (std::size_t i = 0; i < n; ++i)
                                any |= change_tensors(arguments[i], [&](Tensor& t) {
                                  if (!converts(t.dtype)) return false;
                                  t = cast(t, dtype);
                                  return true;
                                });
                              if (change) change(arguments, op), any = true;
                              if (has_tensors && !any) return std::nullopt;
                              for (std::size_t i = n; i < arguments.size(); ++i)
                                if (Tensor* t = std::get_if<Tensor>(&arguments[i]);
                                    t && converts(t->dtype) && t->dtype != DType::boolean)
                                  *t = make(dtype, t->sizes, t->dim_order);
                              judge::Expectation e = judge::expect(op, arguments, Budget(cheap));
                              if (e.answer.outcome != Outcome::ok || e.outs.size() != right.size()) return std::nullopt;
                              for (std::size_t k = 0; saturates && k < right.size(); ++k)
                                saturate(e.outs[k], right[k].dtype);
                              return converted(call, std::move(e.outs));
                            }));
}

// A kernel that rounds to a half type once, where each step is to be rounded.
void rounded_once(const Operator& op, std::vector<Hypothesis>& found) {
  computed(op, "compute float16 and bfloat16 results in float32 and round once", is_half, DType::float32, false, found,
           [](std::vector<Value>& arguments, const Operator& of) {
             for (std::size_t i = 0; i < arguments.size(); ++i)
               if (Int* n = std::get_if<Int>(&arguments[i]); n && names_dtype(of.arguments[i]))
                 if (const auto dtype = dtype_numbered(*n); dtype && is_half(*dtype))
                   *n = static_cast<Int>(DType::float32);
           });
}

// A kernel that computes float64 results in float32, by whatever formula: its results are float32 numbers.
void results_of_float32(std::vector<Hypothesis>& found) {
  const auto is_float32 = [](Real x) { return !std::isfinite(x) || static_cast<Real>(static_cast<float>(x)) == x; };
  const auto lacks_some = [is_float32](const Tensor& right) {
    return right.dtype == DType::float64 && !std::ranges::all_of(read<Real>(right).data, is_float32);
  };
  const auto differs = [lacks_some](const cases::HostCall& call) {
    return call.valid() && std::ranges::any_of(call.expected.outs, lacks_some);
  };
  const auto explains = [is_float32, lacks_some](const Answered& a) {
    const std::vector<Tensor>& right = a.call.expected.outs;
    if (!a.call.valid() || a.refused() || a.outs.size() != right.size()) return false;
    bool any = false;
    for (std::size_t k = 0; k < right.size(); ++k) {
      if (right[k].dtype != a.outs[k].dtype || right[k].sizes != a.outs[k].sizes) return false;
      if (!lacks_some(right[k])) continue;
      any = true;
      if (!are_near(read<Real>(a.outs[k]), read<Real>(right[k]), largest_input(a.call)) ||
          !std::ranges::all_of(read<Real>(a.outs[k]).data, is_float32))
        return false;
    }
    return any;
  };
  found.push_back({"compute float64 results in float32", About::computation, false, false, differs, explains});
}

// Inputs that are held in another dtype.
void held_otherwise(const Operator& op, std::vector<Hypothesis>& found) {
  found.push_back(as_if_each(op, "hold float64 numbers as float32",
                             [](Tensor& t) { return cast_to(t, DType::float64, DType::float32); }));
  found.push_back(as_if_each(op, "hold integers as float32", [](Tensor& t) {
    return cast_to(t, DType::int64, DType::float32) || cast_to(t, DType::int32, DType::float32);
  }));
  found.push_back(as_if_each(op, "hold float64 numbers and integers as float32", [](Tensor& t) {
    return cast_to(t, DType::float64, DType::float32) || cast_to(t, DType::int64, DType::float32) ||
           cast_to(t, DType::int32, DType::float32);
  }));
  found.push_back(
      as_if_each(op, "hold integers as float64", [](Tensor& t) { return cast_to(t, DType::int64, DType::float64); }));
  found.push_back(as_if_each(op, "read uint8 numbers as int8", [](Tensor& t) {
    if (t.dtype != DType::uint8) return false;
    t = cast(cast(t, DType::int8), DType::int16);
    return true;
  }));
  found.push_back(
      as_if_each(op, "hold int64 numbers as int32", [](Tensor& t) { return cast_to(t, DType::int64, DType::int32); }));
}

// Numbers that a kernel takes for others.
void special_numbers(const Operator& op, std::vector<Hypothesis>& found) {
  found.push_back(as_if_each(op, "flush subnormal inputs to 0", [](Tensor& t) {
    return is_floating(info(t.dtype).part) &&
           replace(
               t, [](Real x, DType d) { return x != 0 && std::fabs(x) < std::ldexp(Real{1}, info(d).least_exponent); },
               [](Real x) { return std::copysign(Real{0}, x); });
  }));
  for (const Real end : {-std::numeric_limits<Real>::infinity(), std::numeric_limits<Real>::infinity()})
    if (is_named(op, end < 0 ? "max" : "min"))
      found.push_back(as_if_each(op, "ignore NaN", [end](Tensor& t) {
        if (!is_floating(t.dtype)) return false;
        Array<Real> all = read<Real>(t);
        if (std::ranges::none_of(all.data, [](Real x) { return std::isnan(x); })) return false;
        for (Real& x : all.data) x = std::isnan(x) ? end : x;
        write(all, t);
        return true;
      }));
  found.push_back(as_if_each(op, "treat NaN as 0", [](Tensor& t) {
    return is_floating(info(t.dtype).part) &&
           replace(
               t, [](Real x, DType) { return std::isnan(x); }, [](Real) { return Real{0}; });
  }));
}

// Tensors that are converted to the dtype of the first.
void dtypes_of_the_first(const Operator& op, std::vector<Hypothesis>& found) {
  const std::size_t first = first_tensor(op);
  for (std::size_t i = first + 1; i < inputs_of(op); ++i)
    if (holds_tensors(op.arguments[i]))
      found.push_back(as_if(op, concat("convert ", op.arguments[i].name, " to the dtype of ", op.arguments[first].name),
                            [i, first](std::vector<Value>& all) {
                              const Tensor* from = std::get_if<Tensor>(&all[first]);
                              return from && change_tensors(all[i], [&](Tensor& t) {
                                       if (t.dtype == from->dtype || info(t.dtype).is_opaque() ||
                                           info(from->dtype).is_opaque())
                                         return false;
                                       t = cast(t, from->dtype);
                                       return true;
                                     });
                            }));
  for (std::size_t i = 0; i < inputs_of(op); ++i)
    if (op.arguments[i].type == "Tensor[]") as_the_first_of(op, i, found);
}

// Number arguments that are held in another dtype.
void numbers_held_otherwise(const Operator& op, std::vector<Hypothesis>& found) {
  const std::size_t first = first_tensor(op);
  for (std::size_t i = 0; i < inputs_of(op); ++i)
    if (cases::takes_number(op.arguments[i].type))
      found.push_back(as_if(op, concat("hold ", op.arguments[i].name, " as float32"), [i](std::vector<Value>& all) {
        const double* x = std::get_if<double>(&all[i]);
        return x && changed_to(all[i], static_cast<double>(static_cast<float>(*x)));
      }));
  for (std::size_t i = 0; i < inputs_of(op); ++i)
    if (op.arguments[i].type.starts_with("Scalar") && !names_dtype(op.arguments[i])) {
      found.push_back(
          as_if(op, concat("truncate ", op.arguments[i].name, " to an integer"), [i](std::vector<Value>& all) {
            const double* x = std::get_if<double>(&all[i]);
            return x && changed_to(all[i], std::trunc(*x) + 0.0);
          }));
      add_converted(
          op, concat("truncate ", op.arguments[i].name, " to an integer"),
          [i, n = inputs_of(op)](std::vector<Value>& all) {
            const double* x = std::get_if<double>(&all[i]);
            if (!x || !std::isfinite(*x) || std::fabs(*x) >= 0x1p62) return false;
            all[i] = static_cast<Int>(*x);
            for (std::size_t k = 0; k < n; ++k)
              change_tensors(all[k], [](Tensor& t) {
                if (is_integer(t.dtype)) t = cast(t, DType::int64);
                return true;
              });
            return true;
          },
          found);
      found.back().is_open = [i](const cases::HostCall& call) {
        const double* x = std::get_if<double>(&call.arguments[i]);
        return call.valid() && x && !(std::fabs(*x) < 0x1p62);
      };
      found.push_back(as_if(op, concat("convert ", op.arguments[i].name, " to the dtype of ", op.arguments[first].name),
                            [i, first](std::vector<Value>& all) {
                              const Tensor* from = std::get_if<Tensor>(&all[first]);
                              const auto x = number_in(all[i]);
                              return from && x && !is_bool(*x) && is_floating(from->dtype) &&
                                     changed_to(all[i], round_to(from->dtype, real(*x)));
                            }));
      computed(op, concat("do not round ", op.arguments[i].name, " to the dtype of ", op.arguments[first].name),
               is_half, DType::float32, false, found);
    }
}

}  // namespace

std::vector<Hypothesis> mistakes_of_dtypes(const Operator& op) {
  std::vector<Hypothesis> found;
  held_otherwise(op, found);
  special_numbers(op, found);
  dtypes_of_the_first(op, found);
  numbers_held_otherwise(op, found);
  rounded_once(op, found);
  computed(op,
           argument_of(op, "align_corners") ? "truncate results that should be rounded" : "compute integers in float32",
           is_whole, DType::float32, false, found);
  computed(op, "compute integers in float64", is_whole, DType::float64, false, found);
  computed(op, "saturate integers that should wrap", is_whole, DType::float64, true, found);
  results_of_float32(found);
  for (Hypothesis& h : found) h.about = About::computation;
  return found;
}

}  // namespace assay::defects

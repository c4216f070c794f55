#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "conformance/judge/judge.h"
#include "format/flow_places.h"
#include "optimized/api/types.h"
#include "optimized/refusals/values.h"
#include "optimized/selection/views.h"
#include "tests/support/program_folders.h"
#include "tests/support/recorded.h"
#include "tests/support/whole_suite.h"

// Holds a step that does several instructions to their evaluation in doubles, without rounding in between. The operands
// are what the step reads. The bound is that of the instructions, propagated: spec/numerics.md, "Fused calls".
namespace assay {
namespace optimized_merged_test {

constexpr double infinity = std::numeric_limits<double>::infinity();

// y[i] = f(x[i]...) of tensors of the same sizes, as doubles.
template <class F, class... T>
Tensor each(const F& f, const Tensor& x, const T&... others) {
  const std::vector<Array<Real>> all{read<Real>(x), read<Real>(others)...};
  Array<Real> y = all[0];
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    if constexpr (sizeof...(T) == 0) y.data[i] = f(all[0].data[i]);
    if constexpr (sizeof...(T) == 1) y.data[i] = f(all[0].data[i], all[1].data[i]);
    if constexpr (sizeof...(T) == 2) y.data[i] = f(all[0].data[i], all[1].data[i], all[2].data[i]);
  }
  Tensor made = make(DType::float64, x.sizes);
  write(y, made);
  return made;
}

Tensor absolute(const Tensor& t) {
  return each([](double x) { return std::fabs(x); }, t);
}
Tensor sum(const Tensor& a, const Tensor& b) {
  return each([](double x, double y) { return x + y; }, a, b);
}
Tensor nothing(const Tensor& like) {
  return each([](double) { return 0.0; }, like);
}
double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

using Operands = std::vector<Value>;  // of a call, without its outs

judge::Expectation ask(const Operator& op, Operands operands) {
  operands.resize(op.arguments.size());
  judge::Expectation expected = judge::expect(op, operands);
  if (expected.answer.outcome != Outcome::ok)
    throw std::runtime_error(fmt::format("{}: {}", op.name, expected.answer.message));
  return expected;
}
Tensor row_major(const Tensor& t) { return arranged(t, Dims::counting(t.sizes.size())); }
Operands with_floats_as(DType dtype, Operands operands) {
  for (Value& v : operands)
    if (Tensor* t = std::get_if<Tensor>(&v); t && is_floating(t->dtype)) v = cast(*t, dtype);
  return operands;
}

constexpr std::string_view quantize = "quantized_decomposed::quantize_per_tensor.out";

// In doubles, if the operator takes them.
Tensor evaluate(const Operator& op, const Operands& operands) {
  return row_major(ask(op, op.name == quantize ? with_floats_as(DType::float32, operands) : operands).outs.at(0));
}

// The bound of a call's own error.
Tensor own_bound(const Operator& op, const Operands& operands) {
  const Operands singles = with_floats_as(DType::float32, operands);
  const Tensor exact = evaluate(op, with_floats_as(DType::float64, singles));
  const auto right = judge::right_answers(op, ask(op, singles), 0);
  if (!right) return each([](double) { return infinity; }, exact);
  return each(
      [](double x, double low, double high) {
        return std::isfinite(x) ? std::max({high - x, x - low, 0.0}) : 0.0;
      },
      exact, right->lowest, right->highest);
}

// A call whose operands are off by `errors`, one tensor for each operand.
struct Carried {
  const Operator& op;
  Operands operands;
  std::vector<std::optional<Tensor>> errors;

  const Tensor& value(std::size_t i) const { return std::get<Tensor>(operands[i]); }
  Tensor error(std::size_t i) const { return errors[i] ? *errors[i] : nothing(value(i)); }
  bool is_tensor(std::size_t i) const { return i < operands.size() && std::holds_alternative<Tensor>(operands[i]); }
  Tensor with(std::initializer_list<std::pair<std::size_t, Tensor>> others) const {
    Operands changed = operands;
    for (const auto& [i, t] : others)
      if (is_tensor(i)) changed[i] = t;
    return evaluate(op, changed);
  }
};

bool is_off(const std::optional<Tensor>& error) {
  return error && std::ranges::any_of(read<Real>(*error).data, [](double e) { return e != 0; });
}

// The error of an element moves with the element.
Tensor moved(const Carried& c) { return c.with({{0, c.error(0)}}); }
Tensor stored(const Carried& c) { return c.with({{0, nothing(c.value(0))}, {1, c.error(1)}}); }
Tensor chosen(const Carried& c) { return c.with({{1, c.error(1)}, {2, c.error(2)}}); }

Tensor nowhere(const Carried& c) { return nothing(evaluate(c.op, c.operands)); }
Tensor negated(const Carried& c) { return c.error(0); }

// Products a b with errors e and f, and an addend: |a| f + e |b| + e f.
template <std::size_t a, std::size_t b, std::size_t added>
Tensor multiplied(const Carried& c) {
  const Tensor e = c.error(a), f = c.error(b), all = sum(absolute(c.value(a)), e);
  const Tensor none = c.is_tensor(added) ? nothing(c.value(added)) : Tensor();
  const Tensor extra = c.is_tensor(added) ? c.error(added) : Tensor();
  return sum(c.with({{a, all}, {b, f}, {added, extra}}), c.with({{a, e}, {b, absolute(c.value(b))}, {added, none}}));
}

Tensor scaled(const Carried& c) {  // by a tensor or a number
  if (c.is_tensor(1)) return multiplied<0, 1, 9>(c);
  return absolute(moved(c));
}

Tensor divided(const Carried& c) {
  if (!c.is_tensor(1)) return absolute(moved(c));
  if (is_off(c.errors[1])) throw std::runtime_error("no bound of quotients whose divisor is off");
  return c.with({{0, c.error(0)}, {1, absolute(c.value(1))}});
}

Tensor added(const Carried& c) {
  Operands errors = c.operands;
  errors[0] = c.error(0);
  if (!c.is_tensor(1)) return c.error(0);
  errors[1] = c.error(1);
  const auto* alpha = std::get_if<Int>(&errors[2]);
  if (!alpha || *alpha != 1) throw std::runtime_error("no bound of sums with a factor");
  return evaluate(*find_operator("aten::add.out"), errors);
}

// For a monotonic function: the larger error at both ends of its argument's range.
Tensor risen(const Carried& c) {
  const Tensor e = c.error(0), y = evaluate(c.op, c.operands);
  const Tensor up = c.with({{0, sum(c.value(0), e)}});
  const Tensor down = c.with({{0, each([](double x, double off) { return x - off; }, c.value(0), e)}});
  return each([](double at, double high, double low) { return std::max(high - at, at - low); }, y, up, down);
}

Tensor gelu(const Carried& c) {
  return each([](double e) { return 1.13 * e; }, c.error(0));
}

// |weight| e / sqrt(running_var + eps)
Tensor normalised(const Carried& c) {
  const auto none = [&](std::size_t i) { return c.is_tensor(i) ? nothing(c.value(i)) : Tensor(); };
  const Tensor weight = c.is_tensor(1) ? absolute(c.value(1)) : Tensor();
  return c.with({{0, c.error(0)}, {1, weight}, {2, none(2)}, {3, none(3)}});
}

// p[j] (e[j] + sum_i p[i] e[i]), along the last dimension.
Tensor softmax(const Carried& c) {
  const Array<Real> p = read<Real>(evaluate(c.op, c.operands)), e = read<Real>(c.error(0));
  Array<Real> y = p;
  const auto n = static_cast<std::size_t>(p.sizes.size() > 0 ? p.sizes[p.sizes.size() - 1] : 1);
  for (std::size_t row = 0; row < p.data.size(); row += n) {
    double mean = 0;
    for (std::size_t j = row; j < row + n; ++j) mean += product(p.data[j], e.data[j]);
    for (std::size_t j = row; j < row + n; ++j) y.data[j] = product(p.data[j], e.data[j] + mean);
  }
  Tensor made = make(DType::float64, p.sizes);
  write(y, made);
  return made;
}

Tensor dequantized(const Carried& c) {
  const double scale = std::get<double>(c.operands[1]);
  return each([scale](double e) { return scale * e; }, c.error(0));
}

const std::map<std::string_view, Tensor (*)(const Carried&)> bounds{
    {quantize, risen},
    {"quantized_decomposed::dequantize_per_tensor.out", dequantized},
    {"aten::mm.out", multiplied<0, 1, 9>},
    {"aten::bmm.out", multiplied<0, 1, 9>},
    {"aten::addmm.out", multiplied<1, 2, 0>},
    {"aten::linear.out", multiplied<0, 1, 2>},
    {"aten::convolution.out", multiplied<0, 1, 2>},
    {"aten::copy.out", stored},
    {"aten::mean.out", moved},
    {"aten::avg_pool2d.out", moved},
    {"aten::_adaptive_avg_pool2d.out", moved},
    {"aten::mul.out", scaled},
    {"aten::mul.Scalar_out", scaled},
    {"aten::div.out", divided},
    {"aten::div.Scalar_out", divided},
    {"aten::add.out", added},
    {"aten::add.Scalar_out", added},
    {"aten::sub.out", added},
    {"aten::full_like.out", nowhere},
    {"aten::neg.out", negated},
    {"aten::relu.out", risen},
    {"aten::clamp.out", risen},
    {"aten::hardtanh.out", risen},
    {"aten::sigmoid.out", risen},
    {"aten::gelu.out", gelu},
    {"aten::where.self_out", chosen},
    {"aten::_softmax.out", softmax},
    {"aten::_native_batch_norm_legit_no_training.out", normalised},
};

// The value without rounding, and the bound of its error.
struct Evaluated {
  Tensor value;
  std::optional<Tensor> error;  // none: the value is exact
};

Tensor carried(const Carried& c) {
  if (std::ranges::none_of(c.errors, is_off)) return nothing(evaluate(c.op, c.operands));
  if (optimized::find_viewer(c.op.name)) return moved(c);
  const auto found = bounds.find(c.op.name);
  if (found == bounds.end()) throw std::runtime_error(fmt::format("{}: no bound is known", c.op.name));
  return found->second(c);
}

Evaluated evaluated(const Carried& c) {
  Evaluated result{evaluate(c.op, c.operands), {}};
  if (!is_floating(result.value.dtype) && c.op.name != quantize) return result;
  result.error = each(
      [](double x, double own, double before) {
        const double all = own + before;
        return !std::isfinite(x) ? 0 : std::isnan(all) ? infinity : all;
      },
      result.value, own_bound(c.op, c.operands), carried(c));
  return result;
}

struct Found {
  std::size_t steps = 0, attentions = 0, views = 0, halves = 0;
  double worst = 0;  // distance, in units of the bound
};
Found total;

// Checks each step of an execution as soon as it is done, while its operands are still in memory.
class Watcher {
 public:
  Watcher(const optimized::Method& method, const pte::ExecutionPlan& plan) : method_(method), plan_(plan) {}

  void check(std::size_t step) {
    step_ = step, instructions_.clear();
    const optimized::Step& s = method_.steps()[step];
    const auto* out = s.call.roles && !s.call.arguments.empty() ? s.call.arguments.back() : nullptr;
    if (!out || out->kind != optimized::ValueKind::tensor || !is_compared(out->tensor->dtype)) return;
    if (!calls_operator(s.instruction) || !is_merged(s.instruction)) return;
    const Evaluated want = of_instruction(s.instruction);
    compare(want, actual(index_of(*out)));
    ++total.steps;
    total.attentions += s.call.fusion && s.call.fusion->attention;
    total.views += s.call.fusion && !s.call.fusion->views.empty();
    total.halves += is_half(out->tensor->dtype);
  }

 private:
  static bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }
  // The error of rounding a number to a half type.
  static double rounding(DType dtype, double x) {
    if (!is_half(dtype)) return 0;
    return dtype == DType::float16 ? std::max(std::ldexp(x, -11), std::ldexp(1, -25)) : std::ldexp(x, -8);
  }
  static bool is_compared(DType dtype) {
    return dtype == DType::float32 || is_half(dtype) || dtype == DType::int8 || dtype == DType::uint8;
  }
  const pte::KernelCall& kernel_call(std::size_t i) const {
    return *plan_.chains()->Get(0)->instructions()->Get(static_cast<unsigned>(i))->instr_args_as_KernelCall();
  }
  // Whether the instruction calls an operator that computes elements, not one that makes an alias.
  bool calls_operator(std::size_t i) const {
    const auto* call =
        plan_.chains()->Get(0)->instructions()->Get(static_cast<unsigned>(i))->instr_args_as_KernelCall();
    if (!call) return false;
    const pte::Operator& op = *plan_.operators()->Get(static_cast<unsigned>(call->op_index()));
    return find_operator(op.name()->str() + (op.overload()->size() > 0 ? "." + op.overload()->str() : ""));
  }
  const Operator& op_of(std::size_t i) const {
    const pte::Operator& op = *plan_.operators()->Get(static_cast<unsigned>(kernel_call(i).op_index()));
    return *find_operator(op.name()->str() + (op.overload()->size() > 0 ? "." + op.overload()->str() : ""));
  }
  std::uint32_t argument(std::size_t i, std::size_t k) const {
    return static_cast<std::uint32_t>(kernel_call(i).args()->Get(static_cast<unsigned>(k)));
  }
  std::uint32_t index_of(const optimized::Value& v) const {
    return static_cast<std::uint32_t>(&v - method_.values().data());
  }
  std::vector<std::uint32_t> tensors_of(std::uint32_t v) const {
    const optimized::Value& value = method_.value(v);
    if (value.kind == optimized::ValueKind::tensor) return {v};
    std::vector<std::uint32_t> all;
    if (value.kind == optimized::ValueKind::tensors)
      for (const optimized::Value* item : value.items())
        if (item) all.push_back(index_of(*item));
    return all;
  }
  bool is_of_step(std::size_t i) const {
    return method_.step_of()[i] == step_ || method_.step_of()[i] == optimized::Method::no_step;
  }
  // Whether an operand was made by another instruction that the same step does, or by one that no step does.
  bool is_merged(std::size_t i) const {
    const Operator& op = op_of(i);
    for (std::size_t k = 0; k < op.arguments.size() && !op.arguments[k].out; ++k)
      for (const std::uint32_t v : tensors_of(argument(i, k)))
        if (const auto writer = writer_of(v, i); writer && is_of_step(writer->instruction)) return true;
    return false;
  }

  // Whether the plan places both in overlapping bytes.
  bool overlap(std::uint32_t a, std::uint32_t b) const {
    const auto range = [&](std::uint32_t v) {
      const pte::Tensor* t = plan_.values()->Get(v)->val_as_Tensor();
      return t ? std::pair(t, t->allocation_info()) : std::pair(t, static_cast<const pte::AllocationDetails*>(nullptr));
    };
    const auto [x, p] = range(a);
    const auto [y, q] = range(b);
    if (a == b || !p || !q || p->memory_id() != q->memory_id()) return a == b;
    const std::uint64_t x0 = format::planned_offset(*p), y0 = format::planned_offset(*q);
    return x0 < y0 + format::bytes_of(*y) && y0 < x0 + format::bytes_of(*x);
  }

  // A tensor as the step left it.
  Tensor actual(std::uint32_t v) const {
    return row_major(std::get<Tensor>(optimized::to_reference(method_.value(v))));
  }

  // The last instruction before that wrote to a tensor's bytes, and the value that it wrote.
  struct Writer {
    std::size_t instruction;
    std::uint32_t value;
  };
  std::optional<Writer> writer_of(std::uint32_t v, std::size_t before) const {
    for (std::size_t i = before; i-- > 0;) {
      if (!calls_operator(i)) continue;
      const Operator& op = op_of(i);
      for (std::size_t k = 0; k < op.arguments.size(); ++k)
        for (const std::uint32_t out : op.arguments[k].out ? tensors_of(argument(i, k)) : std::vector<std::uint32_t>())
          if (overlap(out, v)) return Writer{i, out};
    }
    return {};
  }

  // The sizes of a value when instruction `before` begins. A merged step does not set the sizes of a view, but the
  // operands of the view tell them.
  Dims sizes_of(std::uint32_t v, std::size_t before) const {
    const auto* made = find_view(v, before);
    Dims sizes;
    if (made)
      for (const optimized::Value* size : method_.value(static_cast<std::uint32_t>(made->args()->Get(1))).items())
        sizes.push_back(size->integer);
    else
      for (const std::int32_t n : method_.value(v).tensor->shape()) sizes.push_back(n);
    return sizes;
  }
  const pte::KernelCall* find_view(std::uint32_t v, std::size_t before) const {
    for (std::size_t i = before; i-- > 0;) {
      const auto* call =
          plan_.chains()->Get(0)->instructions()->Get(static_cast<unsigned>(i))->instr_args_as_KernelCall();
      if (call &&
          plan_.operators()->Get(static_cast<unsigned>(call->op_index()))->name()->str() ==
              "executorch_prim::et_view" &&
          argument(i, 2) == v)
        return call;
    }
    return nullptr;
  }

  // A merged step may round an intermediate result to its half type, as the separate calls do.
  static Evaluated rounded(Evaluated e, DType dtype) {
    if (!is_half(dtype) || !e.error) return e;
    const Array<Real> values = read<Real>(e.value);
    Array<Real> errors = read<Real>(*e.error);
    for (std::size_t i = 0; i < errors.data.size(); ++i)
      errors.data[i] += rounding(dtype, std::fabs(values.data[i]) + errors.data[i]);
    write(errors, *e.error);
    return e;
  }

  // The value of a tensor when instruction `before` begins.
  Evaluated of_value(std::uint32_t v, std::size_t before) {
    const auto writer = writer_of(v, before);
    Evaluated found;
    if (writer && is_of_step(writer->instruction))
      found = rounded(of_instruction(writer->instruction), method_.value(writer->value).tensor->dtype);
    else
      found.value = actual(writer ? writer->value : v);
    if (is_floating(found.value.dtype)) found.value = cast(found.value, DType::float64);
    if (!writer || writer->value == v)
      return found;  // a merged step does not set the sizes of its intermediate results
    found.value.sizes = sizes_of(v, before);
    found.value.dim_order = Dims::counting(found.value.sizes.size());
    if (found.error) found.error->sizes = found.value.sizes, found.error->dim_order = found.value.dim_order;
    return found;
  }

  Evaluated of_instruction(std::size_t i) {
    if (const auto known = instructions_.find(i); known != instructions_.end()) return known->second;
    const Operator& op = op_of(i);
    Carried call{op, {}, {}};
    for (std::size_t k = 0; k < op.arguments.size() && !op.arguments[k].out; ++k) {
      const std::uint32_t v = argument(i, k);
      std::optional<Tensor> error;
      if (method_.value(v).kind == optimized::ValueKind::tensor) {
        Evaluated operand = of_value(v, i);
        call.operands.push_back(std::move(operand.value)), error = std::move(operand.error);
      } else {
        call.operands.push_back(optimized::to_reference(method_.value(v)));
      }
      call.errors.push_back(std::move(error));
    }
    Evaluated result = evaluated(call);
    const optimized::Value& out = method_.value(argument(i, call.operands.size()));
    if (!result.error && out.kind == optimized::ValueKind::tensor &&
        is_floating(out.tensor->dtype)) {  // results of integer operands
      result.value = cast(result.value, DType::float64);
      result.error =
          each([](double x) { return std::fabs(static_cast<double>(static_cast<float>(x)) - x); }, result.value);
    }
    return instructions_[i] = result;
  }

  void compare(const Evaluated& want, const Tensor& got) const {
    const Array<Real> values = read<Real>(want.value), errors = read<Real>(*want.error), all = read<Real>(got);
    ASSERT_EQ(values.data.size(), all.data.size());
    for (std::size_t i = 0; i < all.data.size(); ++i) {
      const double x = values.data[i], y = all.data[i], off = std::fabs(x - y),
                   bound = errors.data[i] + rounding(got.dtype, std::fabs(x) + errors.data[i]);
      if (std::isnan(x) ? std::isnan(y) : x == y) continue;
      if (std::isfinite(x) && bound > 0) total.worst = std::max(total.worst, off / bound);
      ASSERT_TRUE(std::isfinite(x) && off <= bound)
          << "step " << step_ << ", instruction " << method_.steps()[step_].instruction << ", element " << i << ": is "
          << y << " instead of " << x << ", beyond " << bound;
    }
  }

  const optimized::Method& method_;
  const pte::ExecutionPlan& plan_;
  std::size_t step_ = 0;
  std::map<std::size_t, Evaluated> instructions_;
};

bool is_straight(const pte::ExecutionPlan& plan) {
  if (plan.chains()->size() != 1) return false;
  for (const pte::Instruction* i : *plan.chains()->Get(0)->instructions())
    if (!i->instr_args_as_KernelCall()) return false;
  return true;
}

class OptimizedMerged : public testing::TestWithParam<std::filesystem::path> {
 public:
  static void TearDownTestSuite() {
    fmt::print("{} merged steps, {} attentions, {} with views and {} of half types; at most {:.2f} of a bound\n",
               total.steps, total.attentions, total.views, total.halves, total.worst);
    if (!whole_suite_ran()) return;
    EXPECT_GT(total.steps, 100u);
    EXPECT_GE(total.attentions, 5u);
    EXPECT_GT(total.views, 10u);
    EXPECT_GE(total.halves, 3u);
  }
};

TEST_P(OptimizedMerged, StepsKeepTheirBounds) {
  const Recorded recorded(GetParam());
  adapters::OptimizedClient client = recorded.client();
  recorded.each({}, [&](const hosts::ProgramCall& call) {
    assay_method* made = client.method(call.method).method;
    const optimized::Method& method = optimized::method_of(made);
    const pte::ExecutionPlan& plan = *recorded.program.plan(call.method);
    Watcher watcher(method, plan);
    if (is_straight(plan) && !method.rewrites().empty())
      assay_listen(
          made,
          [](void* context, const assay_method*, std::size_t step) {
            static_cast<Watcher*>(context)->check(step);
            return true;
          },
          &watcher);
    client.call(call.method, hosts::adapted(plan, call.inputs));
    assay_listen(made, nullptr, nullptr);
  });
}

INSTANTIATE_TEST_SUITE_P(Golden, OptimizedMerged, testing::ValuesIn(program_folders()), name_of_folder);

}  // namespace optimized_merged_test
}  // namespace assay

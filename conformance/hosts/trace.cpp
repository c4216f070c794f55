#include "conformance/hosts/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "conformance/text/literal.h"
#include "conformance/text/printable.h"

namespace assay::hosts {
namespace {

std::string duration(std::chrono::nanoseconds time) {
  const auto ns = static_cast<double>(time.count());
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.1f} us", ns / 1e3);
  return ns < 1e9 ? fmt::format("{:.1f} ms", ns / 1e6) : fmt::format("{:.2f} s", ns / 1e9);
}

std::string short_literal(const Value& value) { return text::printable(text::literal(value, 4), text::most_shown); }

bool has_numbers(const Tensor& t) { return info(t.dtype).kind < Kind::complex; }  // numbers that have an order

std::string text_of(const Value& value) {
  const Tensor* t = std::get_if<Tensor>(&value);
  if (!t) return short_literal(value);
  if (!has_numbers(*t)) return describe(*t);
  const Statistics s = statistics(*t);
  std::string line = fmt::format("{:<24}", describe(*t));
  if (s.numbers == 1 && s.nans == 0)
    line += fmt::format("  {:.6g}", s.mean);
  else if (s.numbers > 0)
    line += fmt::format("  min {:<10.4g} max {:<10.4g} mean {:<10.4g}", s.least, s.largest, s.mean);
  if (s.nans > 0) line += fmt::format("  {} NaN", s.nans);
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

text::Json json_of(const Tensor& t) {
  text::Json json = {{"dtype", info(t.dtype).name}, {"sizes", Ints(t.sizes.begin(), t.sizes.end())}};
  if (!has_numbers(t)) return json;
  const Statistics s = statistics(t);
  const auto number = [&](double x) { return s.numbers > 0 ? text::to_json(Value(x), {}) : text::Json(nullptr); };
  json.update(
      text::Json{{"min", number(s.least)}, {"max", number(s.largest)}, {"mean", number(s.mean)}, {"nans", s.nans}});
  return json;
}

}  // namespace

Statistics statistics(const Tensor& tensor) {
  Statistics s{HUGE_VAL, -HUGE_VAL, 0, 0, 0};
  double sum = 0;
  Budget::Scope::work(tensor.count());
  for (const Real x : read<Real>(tensor).data) {
    if (std::isnan(x)) {
      ++s.nans;
      continue;
    }
    ++s.numbers, sum += x;
    s.least = std::min(s.least, x), s.largest = std::max(s.largest, x);
  }
  s.mean = sum / static_cast<double>(s.numbers);
  return s;
}

void Tracer::instruction_done(const Method& method, const Event& event) {
  const pte::ExecutionPlan& plan = method.plan();
  const auto& chain = *plan.chains()->Get(static_cast<std::uint32_t>(event.chain));
  TracedStep step{format::text_of(plan.name()), event, {}};
  const inspect::Listed instruction =
      inspect::listed(plan, *chain.instructions()->Get(static_cast<std::uint32_t>(event.instruction)));
  for (const inspect::Operand& operand : instruction.operands) {
    auto value = operand.value < 0 ? Result<Value>() : method.value(static_cast<std::size_t>(operand.value));
    step.seen.push_back({operand, value ? std::move(*value) : Value()});
  }
  tell_(step);
}

std::string to_text(const TracedStep& step) {
  std::string all = fmt::format("{:>5}  {:<48} {:>9}\n", step.event.instruction, text::shown(step.event.name),
                                duration(step.event.time));
  std::size_t width = 8;  // columns keep their places from step to step
  for (const Seen& s : step.seen) width = std::max(width, s.operand.name.size());
  for (const auto& [operand, value] : step.seen)
    all += fmt::format("     {} {:<{}}  %{:<5} {}\n", operand.role == inspect::Operand::Role::output ? "->" : "  ",
                       operand.name, width, operand.value, text_of(value));
  return all;
}

text::Json to_json(const TracedStep& step) {
  text::Json operands = text::Json::array();
  for (const auto& [operand, value] : step.seen) {
    text::Json json = {{"name", operand.name}, {"value", operand.value}, {"role", inspect::name(operand.role)}};
    const Tensor* tensor = std::get_if<Tensor>(&value);
    if (tensor)
      json.update(json_of(*tensor));
    else
      json["is"] = number_in(value) ? text::to_json(value, {}) : text::Json(short_literal(value));
    operands.push_back(std::move(json));
  }
  return {{"method", text::cut(step.method)},
          {"chain", step.event.chain},
          {"instruction", step.event.instruction},
          {"name", text::cut(step.event.name)},
          {"nanoseconds", step.event.time.count()},
          {"bytes", step.event.bytes},
          {"operands", operands}};
}

}  // namespace assay::hosts

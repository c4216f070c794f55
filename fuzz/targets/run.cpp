#include "conformance/files/same.h"
#include "conformance/files/some_inputs.h"
#include "conformance/hosts/trace.h"
#include "conformance/text/fault_text.h"
#include "fuzz/attached.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"
#include "reference/program/decoded.h"

// A program that passes the check runs, within its limits. The results depend only on the program and its inputs. A
// refused instruction changes nothing.
namespace assay::fuzz {
namespace {

// -- one execution ------------------------------------------------------------------------------------------------

void set_inputs(Method& method) {
  const auto inputs = some_inputs(method);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]) method.set_input(i, *inputs[i]);
}

struct Execution {
  std::string refused;  // empty if the execution reached its end
  std::size_t steps = 0;
  std::vector<std::optional<Value>> outputs;
};

std::string words(const Fault& fault) {
  const std::string all = sentence(fault);
  check_text(all, limits.output);
  return all;
}

Execution execute(Method& method) {
  Execution e;
  set_inputs(method);
  for (Refusal refused; !refused && (e.steps == 0 || method.running()); ++e.steps)
    if ((refused = method.step())) e.refused = words(*refused);
  method.reset();
  for (std::size_t i = 0; i < method.plan().outputs()->size(); ++i) {
    auto value = method.output(i);
    e.outputs.push_back(value ? std::optional(std::move(*value)) : std::nullopt);
  }
  return e;
}

// -- a program ----------------------------------------------------------------------------------------------------

struct Subject {
  Input file, data;

  std::optional<LoadedProgram> load(const Budget& budget, std::byte fill = {}) const {
    auto loaded = LoadedProgram::load(borrowed(file), files_of(data), options_for(budget, fill));
    if (!loaded) return std::nullopt;
    return std::move(*loaded);
  }
};

std::vector<std::string> method_names(const LoadedProgram& program) {
  std::vector<std::string> names;
  for (const auto* plan : *program.program()->tables().execution_plan()) names.push_back(plan->name()->str());
  return names;
}

// Runs each method twice, since state is kept between executions. Empty if the program is refused.
std::vector<Execution> run(const Subject& subject, std::byte fill = {}, Listener* listener = nullptr) {
  std::vector<Execution> all;
  const Budget budget(limits);
  const Budget::Scope scope(budget, "the attack");
  const auto program = subject.load(budget, fill);
  if (!program) return all;
  for (const std::string& name : method_names(*program)) {
    auto method = program->method(name);
    if (!method) {
      all.push_back({words(method.faults.front()), 0, {}});
      continue;
    }
    method->listen(listener);
    for (int twice = 0; twice < 2; ++twice) all.push_back(execute(*method));
  }
  return all;
}

// How two runs differ; empty if they are equal.
std::string difference(const std::vector<Execution>& a, const std::vector<Execution>& b) {
  if (a.size() != b.size()) return text("one run has ", a.size(), " executions, the other ", b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].refused != b[i].refused || a[i].steps != b[i].steps)
      return text("execution ", i, " ends with \"", a[i].refused, "\" in one run and with \"", b[i].refused,
                  "\" in the other");
    for (std::size_t k = 0; k < a[i].outputs.size(); ++k)
      if (a[i].outputs[k].has_value() != b[i].outputs[k].has_value() ||
          (a[i].outputs[k] && !same(*a[i].outputs[k], *b[i].outputs[k])))
        return text("output ", k, " of execution ", i, " differs");
  }
  return {};
}

void must_be_same(std::string_view oracle, const std::vector<Execution>& a, const std::vector<Execution>& b) {
  const std::string why = difference(a, b);
  must(why.empty(), oracle, "two runs differ: ", why);
}

// -- refused instructions -----------------------------------------------------------------------------------------

std::vector<std::optional<Value>> values_of(const Method& method) {
  std::vector<std::optional<Value>> all;
  for (std::size_t i = 0; i < method.plan().values()->size(); ++i) {
    auto value = method.value(i);
    all.push_back(value ? std::optional(std::move(*value)) : std::nullopt);
  }
  return all;
}

void check_refused_step(const Subject& subject, const std::string& name, std::size_t steps) {
  const auto program = subject.load(Budget(limits));
  auto method = program->method(name);
  set_inputs(*method);
  for (std::size_t i = 1; i < steps; ++i) method->step();
  const auto before = values_of(*method);
  const Refusal refused = method->step();
  const auto after = values_of(*method);
  for (std::size_t i = 0; refused && i < before.size(); ++i)
    must(before[i].has_value() == after[i].has_value() && (!before[i] || same(*before[i], *after[i])), "refusal",
         "value ", i, " changed when an instruction was refused: ", words(*refused));
}

void check_refused_steps(const Subject& subject, const std::vector<Execution>& executions) {
  const auto program = subject.load(Budget(limits));
  const auto names = method_names(*program);
  for (std::size_t i = 0; executions.size() == 2 * names.size() && i < names.size(); ++i)
    if (const Execution& first = executions[2 * i]; !first.refused.empty() && first.steps > 0)
      check_refused_step(subject, names[i], first.steps);
}

}  // namespace

void attack_run(Input input) {
  const auto [file, data] = split(input);
  const Subject subject{file, data};
  std::vector<Execution> first;
  {
    const Measured measured(heap_for(input.size()), most_seconds);
    first = run(subject);
  }
  if (first.empty()) return;
  const std::byte other_fill{0xA5};
  if (const auto second = run(subject, other_fill); !difference(first, second).empty()) {
    must_be_same("fresh", first, run(subject));
    must_be_same("fill", first, second);
  }
  if (const auto decoded = decode_program(file)) must_be_same("encoding", first, run({encode(*decoded), data}));
  check_refused_steps(subject, first);
  Tracer tracer([](const TracedStep& step) {
    check_text(to_text(step), limits.output);
    check_json(assay::line_of(to_json(step)));
  });
  run(subject, {}, &tracer);
}

}  // namespace assay::fuzz

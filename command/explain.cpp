#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>

#include "command/command.h"
#include "command/faults.h"
#include "command/limits.h"
#include "command/print.h"
#include "conformance/adapters/optimized/client.h"
#include "conformance/hosts/program_at_path.h"
#include "conformance/text/json.h"
#include "conformance/text/output.h"
#include "conformance/text/printable.h"
#include "optimized/api/types.h"
#include "optimized/kernels/instruction_set.h"
#include "reference/fault.h"

// assay explain: what the optimized runtime decided about a method.
namespace assay::command {
namespace {

struct ExplainCommand {
  std::string program, method, testee = "optimized";
  std::vector<std::filesystem::path> data;
  Budget::Limits limits;
  bool json = false;
};

constexpr std::string_view no_kernel = "reference";

// What a step does besides its own instruction: "batch norm, residual, relu6".
std::string merged(const assay_step_info& step) {
  std::string all;
  const auto add = [&](bool there, std::string_view what) {
    if (there) all += (all.empty() ? "" : ", ") + std::string(what);
  };
  add(step.norm, "batch norm"), add(step.residual, "sum"), add(step.safe, "zeros for rows of -infinity"),
      add(step.unread, "no indices"), add(step.activation[0] != 0, step.activation), add(step.attention, "attention"),
      add(step.views, "views");
  return all;
}

// Why an instruction is a step of its own, with nothing merged into it.
std::string_view sentence(optimized::Reason reason) {
  using enum optimized::Reason;
  switch (reason) {
    case none:
      return "no rewrite takes this call";
    case several_readers:
      return "several instructions read its result";
    case other_followers:
      return "what reads its result cannot be merged into it";
    case stored:
      return "its result is an input, an output or state, or shares its bytes";
    case moving_sizes:
      return "its sizes may change, and are not known to fit";
    case operand_changes:
      return "an operand changes too early";
    case strides:
      return "strides do not describe what it copies";
    case no_kernel:
      return "no kernel does the merged call";
  }
  return {};
}

std::string_view left(const assay_method* method, std::size_t step) {
  return sentence(optimized::method_of(method).steps()[step].left);
}

std::size_t count_without_kernel(const assay_method* method) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < assay_step_count(method); ++i) n += assay_step_at(method, i).kernel == no_kernel;
  return n;
}

std::vector<std::string> rewrites(const assay_method* method) {
  std::vector<std::string> names;
  while (const char* name = assay_rewrite_at(method, names.size())) names.push_back(name);
  return names;
}

std::string instruction_set(const adapters::OptimizedTestee& testee) {
  return testee.instruction_set.empty() ? kernels::name_of(kernels::best_instruction_set()) : testee.instruction_set;
}

void print(const adapters::OptimizedClient::Method& made, const std::string& name,
           const adapters::OptimizedTestee& testee, text::Output& out) {
  const assay_method* method = made.method;
  out.print("method {}, {}: {} instructions, {} steps, {} of them without a kernel\n", text::printable(name),
            instruction_set(testee), assay_instruction_count(method), assay_step_count(method),
            count_without_kernel(method));
  std::vector<std::string> taken;
  for (const auto& [memory, bytes] : adapters::memories(made.sizes))
    taken.push_back(fmt::format("{} {}", memory, bytes));
  out.print("memory: {} bytes\n", fmt::join(taken, ", "));
  if (const auto applied = rewrites(method); !applied.empty()) out.print("rewrites: {}\n", fmt::join(applied, ", "));
  for (std::size_t i = 0; i < assay_instruction_count(method); ++i) {
    const std::size_t at = assay_step_of(method, i);
    if (at == SIZE_MAX) {
      out.print("{:5}  not needed: no instruction reads its copy\n", i);
      continue;
    }
    const assay_step_info step = assay_step_at(method, at);
    if (step.instruction != i) {
      out.print("{:5}  done by {}\n", i, step.instruction);
      continue;
    }
    const std::string with = merged(step);
    out.print("{:5}  {:<44} {} {} {}\n", i, text::printable({step.op, step.op_length}), step.kernel,
              with.empty() ? "-" : "+", with.empty() ? left(method, at) : with);
  }
}

text::Json to_json(const adapters::OptimizedClient::Method& made, const std::string& name,
                   const adapters::OptimizedTestee& testee) {
  const assay_method* method = made.method;
  text::Json json = {{"method", name},
                     {"instruction_set", instruction_set(testee)},
                     {"without_kernel", count_without_kernel(method)},
                     {"bytes", text::Json::object()},
                     {"rewrites", rewrites(method)},
                     {"instructions", text::Json::array()}};
  for (const auto& [memory, bytes] : adapters::memories(made.sizes)) json["bytes"][memory] = bytes;
  for (std::size_t i = 0; i < assay_instruction_count(method); ++i) {
    const std::size_t at = assay_step_of(method, i);
    text::Json line = {{"instruction", i}};
    if (at != SIZE_MAX) {
      const assay_step_info step = assay_step_at(method, at);
      line["step"] = at, line["done_by"] = step.instruction;
      if (step.instruction == i)
        line.update(
            {{"operator", std::string(step.op, step.op_length)}, {"kernel", step.kernel}, {"with", merged(step)}});
      if (step.instruction == i && merged(step).empty()) line["left"] = left(method, at);
    }
    json["instructions"].push_back(line);
  }
  return json;
}

int explain(const ExplainCommand& r) {
  const auto testee = adapters::optimized_for(r.testee);
  if (!testee) throw Fault(Outcome::unsupported, "testee", "explain knows only the optimized runtime");
  const Budget budget(r.limits);
  const hosts::ProgramAtPath program = hosts::program_at_path(r.program);
  adapters::OptimizedClient client(program.path, r.data, {.testee = *testee, .budget = budget});
  const std::string name = r.method.empty() ? client.default_method() : r.method;
  const adapters::OptimizedClient::Method& made = client.method(name);
  text::Output out(&std::cout, budget);
  if (r.json)
    out.print("{}\n", to_json(made, name, *testee).dump(-1, ' ', true, text::Json::error_handler_t::replace));
  else
    print(made, name, *testee, out);
  return 0;
}

void define_explain(Options& options) {
  const auto r = std::make_shared<ExplainCommand>();
  options.add("PROGRAM", r->program, "Prepares a method of this .pte or .bpte file").required().existing_file();
  options.add_each("--data", r->data, "FILE", "Loads the program with this .ptd file");
  options.add("--method", r->method, "Explains this method; default: the only method, or forward if there are several")
      .value("METHOD");
  options
      .add("--with", r->testee,
           "Prepares the method for the instruction set and the arithmetic of TESTEE, such as optimized:avx2 or "
           "optimized:avx2,relaxed")
      .value("TESTEE")
      .shows_default();
  add_limits(options, r->limits);
  options.flag("--json", r->json, "Prints JSON");
  options.details(
      "A + precedes the other instructions that a step does. A - precedes the reason why no rewrite merged or dropped\n"
      "the instruction of the step.\n\nThe kernel \"reference\" marks a call that no kernel does, mostly because the "
      "call "
      "breaks a rule. An execution refuses\nsuch a call, and the reference words the refusal.");
  options.action([r] { return refusals_as_json(r->json, [&] { return explain(*r); }); });
}

const Registered registered_explain(
    {"explain",
     Group::programs,
     "Shows how the optimized runtime prepares a method: the kernel of each instruction, and the memory",
     define_explain,
     {{"assay explain model.pte", "shows the kernel of each instruction"}}});

}  // namespace
}  // namespace assay::command

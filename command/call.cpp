#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "command/command.h"
#include "command/limits.h"
#include "conformance/text/arguments.h"
#include "conformance/text/call_json.h"
#include "conformance/text/literal.h"
#include "conformance/text/output.h"

namespace assay {
namespace {

constexpr const char* call_details =
    R"(assay call OPERATOR ARG... takes the arguments in the order of the schema, without its out arguments. Trailing
arguments that have a default may be left out. The type of an argument in the schema decides how it is written:
  Tensor      [[1,2],[nan,-inf]]:f32   5:f32 (no dimensions)   [true,false]:bool   zeros(2,0,3):i64
              ones(2,3):f16   arange(2,3):f32   [[1,2],[3,4]]:f32:(1,0) (with its dim order)
  Tensor[]    {[1,2]:f32,[3]:f32}
  Scalar      1   1.5   true   nan   -inf
  int[]       [1,2]           float[]     [1.0,2.5]       bool[]  [true,false]
  str         tanh            ScalarType  float32 or 6    no value  none
Results are printed in the same notation. spec/call.md defines the notation and the lines of --jsonl. A request of
--jsonl may set lower limits.)";

struct CallCommand {
  std::string name;
  std::vector<std::string> arguments, outs;
  Budget::Limits limits;
  bool json = false, jsonl = false;
};

// One line for each out argument, with its name if there are several.
void print(const Operator& op, const std::vector<Value>& arguments, Output& out) {
  const Int most =
      out.budget().left().output / 2 + 1;  // elements: each takes two characters, so the budget refuses more
  for (const SchemaArgument& a : op.arguments.subspan(input_count(op))) {
    const Value& value = arguments[static_cast<std::size_t>(&a - op.arguments.data())];
    out.print("{}{}\n", op.outs() > 1 ? fmt::format("{}: ", a.name) : "", literal(value, a.type, most));
  }
}

void make_call(const CallCommand& request, const Budget& budget) {
  const Operator& op = operator_named(request.name);
  std::vector<Value> arguments = read_arguments(op, request.arguments, request.outs);
  const Answer answer = call(op, arguments, budget);
  if (answer.outcome != Outcome::ok) throw Fault(answer.outcome, answer.rule, answer.message);
  const auto outs = std::span(arguments).subspan(input_count(op));
  Output out(&std::cout, budget);
  if (request.json)
    out.write(line_of(answer_json(nullptr, answer, outs)) + '\n');
  else
    print(op, arguments, out);
}

void answer_one(const CallCommand& request) {
  const Budget budget(request.limits);
  const Budget::Scope scope(budget, "the call");
  try {
    make_call(request, budget);
  } catch (const Fault& fault) {
    if (request.json) std::cout << line_of(answer_json(nullptr, answer_of(fault), {})) << '\n';
    throw;
  }
}

std::string not_expected(const std::string& word) { return "The following argument was not expected: " + word; }

int make_calls(const CallCommand& request) {
  for (const std::string& a : request.arguments)
    if (a.starts_with("--")) throw UsageError(not_expected(a));
  if (request.jsonl && !request.name.empty()) throw UsageError(not_expected(request.name));
  if (!request.jsonl && request.name.empty()) throw UsageError("OPERATOR or --jsonl is required");
  if (request.jsonl)
    answer_lines(std::cin, std::cout, request.limits);
  else
    answer_one(request);
  return exit_code(Outcome::ok);
}

void define_call(Options& options) {
  const auto request = std::make_shared<CallCommand>();
  options.add("OPERATOR", request->name,
              "The operator's name in ATen, such as aten::add.out; assay operators lists all names");
  options.take_rest(request->arguments);
  options.add_each("--out", request->outs, "DTYPE",
                   "Gives the next out argument this dtype, and optionally a dim order, such as f64 or f32:(0,2,3,1)");
  const Option json = options.flag("--json", request->json, "Prints the answer as JSON");
  options
      .flag("--jsonl", request->jsonl,
            "Reads a request from each line of standard input, and prints each answer as a line of JSON")
      .excludes(json);
  add_limits(options, request->limits);
  options.details(call_details);
  options.action([request] { return make_calls(*request); });
}

const Registered registered_call(
    {"call",
     Group::reference,
     "Computes a call of an operator with the reference",
     define_call,
     {{"assay call aten::add.out '[[1,2],[3,4]]:f32' '[10,20]:f32' 1",
       "gives the arguments in the order of the schema"},
      {"assay call aten::add.out '[1,2]:i32' '[10]:i32' --out i64", "gives the out argument another dtype"},
      {"assay call --jsonl < requests.jsonl", "answers a file of requests (spec/call.md)"},
      {R"(echo '{"id":1,"operator":"aten::exp.out","args":[{"dtype":"float32","values":[0,1]}]}' | assay call --jsonl)",
       "answers one request"}}});

}  // namespace
}  // namespace assay

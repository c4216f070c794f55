#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "conformance/hosts/host.h"
#include "conformance/text/call_json.h"
#include "conformance/text/fault_text.h"

// The reference in the process of Python. Arguments and results are the JSON of spec/call.md. A fault is returned as an
// answer.
namespace {

using namespace assay;
using namespace pybind11::literals;

File file_of(std::string_view bytes) { return borrowed(std::as_bytes(std::span(bytes))); }

Json outputs_of(std::string_view program, const std::vector<std::string_view>& data,
                const std::optional<std::string>& method, std::string_view inputs, const Budget& budget) {
  std::vector<File> files;
  for (const std::string_view bytes : data) files.push_back(file_of(bytes));
  Host host(valid_program(file_of(program), files), {.budget = budget});
  std::vector<Value> values;
  for (const Json& input : parse_json(inputs, budget)) values.push_back(value_of(input, ""));
  Json outputs = Json::array();
  for (const Value& output : host.call(method ? *method : host.default_method(), std::move(values)))
    outputs.push_back(to_json(output, ""));
  return outputs;
}

std::string run_method(std::string_view program, const std::vector<std::string_view>& data,
                       const std::optional<std::string>& method, std::string_view inputs) {
  const pybind11::gil_scoped_release others_run;
  const Budget budget;
  const Budget::Scope scope(budget, "the run");
  try {
    return line_of({{"outcome", "ok"}, {"outputs", outputs_of(program, data, method, inputs, budget)}});
  } catch (const Fault& fault) {
    return line_of(fault_json(fault));
  }
}

std::string answer_to(std::string_view request) {
  const pybind11::gil_scoped_release others_run;
  return answer_line(request);
}

}  // namespace

PYBIND11_MODULE(_reference, module) {
  module.doc() = "The reference in process.";
  module.def("call", &answer_to, "request"_a, "Returns the answer to a line of `assay call --jsonl`.");
  module.def("run", &run_method, "program"_a, "data"_a, "method"_a, "inputs"_a,
             "Runs a method on a list of inputs as JSON, and returns its outputs, or a fault.");
}

#include "conformance/programs/calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/programs/file.h"
#include "conformance/programs/npy.h"
#include "conformance/text/json.h"
#include "conformance/text/layout.h"
#include "conformance/text/malformed.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view rule = "calls.format";

// -- calls.json ---------------------------------------------------------------------------------------------------

std::string string_in(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  well_formed(found->is_string(), rule, key, " must be a string");
  return found->get<std::string>();
}

// Missing: an empty list.
Json list_in(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return Json::array();
  well_formed(found->is_array(), rule, key, " must be a list");
  return *found;
}

double tolerance_in(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return 0;
  well_formed(found->is_number() && found->get<double>() >= 0, rule, key, " must be a number that is not negative");
  return found->get<double>();
}

// A string is a path; {"string":...} and other values are those of a call.
std::vector<Value> values_in(const Json& call, std::string_view key, const fs::path& folder) {
  std::vector<Value> values;
  for (const Json& json : list_in(call, key))
    values.push_back(json.is_string() ? read_npy(folder / json.get<std::string>())
                                      : within([&] { return value_of(json, "str"); }, key, ' ', values.size()));
  return values;
}

ProgramCall call_in(const Json& json, const fs::path& folder) {
  well_formed(json.is_object(), rule, "a call must be an object");
  check_keys(json, {"method", "inputs", "outputs", "rtol", "atol", "fails", "description"}, rule);
  ProgramCall call;
  call.method = string_in(json, "method");
  call.inputs = values_in(json, "inputs", folder);
  if (json.contains("outputs")) call.outputs = values_in(json, "outputs", folder);
  call.tolerance = {tolerance_in(json, "rtol"), tolerance_in(json, "atol")};
  call.fails = string_in(json, "fails");
  well_formed(call.fails.empty() || !call.outputs, rule, "outputs cannot be expected of a call that fails");
  return call;
}

// -- bundles ------------------------------------------------------------------------------------------------------

Tensor tensor_of_bundle(const bpte::TensorT& t) {
  const auto dtype = dtype_numbered(t.scalar_type);
  if (!dtype) throw broken("B6", {}, "there is no dtype ", static_cast<int>(t.scalar_type));
  Tensor tensor = layout(*dtype, Ints(t.sizes.begin(), t.sizes.end()), Ints(t.dim_order.begin(), t.dim_order.end()));
  if (t.data.size() < byte_count(tensor))
    throw broken("B7", {}, "the data has ", t.data.size(), " bytes, but ", describe(tensor), " takes ",
                 byte_count(tensor));
  const auto bytes = std::as_bytes(std::span(t.data)).first(byte_count(tensor));
  tensor.bytes.assign(bytes.begin(), bytes.end());
  return tensor;
}

Value value_of_bundle(const bpte::ValueUnionUnion& value) {
  if (const auto* t = value.AsTensor()) return tensor_of_bundle(*t);
  if (const auto* n = value.AsInt()) return Int{n->int_val};
  if (const auto* b = value.AsBool()) return b->bool_val;
  if (const auto* d = value.AsDouble()) return d->double_val;
  throw broken("B5", {}, "a value is neither a tensor nor a number");
}

std::vector<Value> values_of_bundle(const auto& values, std::string_view what) {
  std::vector<Value> all;
  for (const auto& v : values) all.push_back(within([&] { return value_of_bundle(v->val); }, what, ' ', all.size()));
  return all;
}

std::string counts_differ(std::size_t got, std::size_t want) {
  return got == want ? "" : text("gives ", got, " outputs, but ", want, " are expected");
}

}  // namespace

ProgramCalls read_calls(const fs::path& file) {
  const std::vector<std::byte> bytes = read_file(file);
  return within(
      [&] {
        const Json json = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        well_formed(json.is_object() && json.contains("calls"), rule,
                    "the file must be an object with a list \"calls\"");
        const fs::path folder = file.parent_path();
        ProgramCalls calls{string_in(json, "description"), {}, {}};
        for (const Json& path : list_in(json, "data")) {
          well_formed(path.is_string(), rule, "data must be a list of paths");
          calls.data.push_back(folder / path.get<std::string>());
        }
        for (const Json& call : list_in(json, "calls"))
          calls.calls.push_back(within([&] { return call_in(call, folder); }, "call ", calls.calls.size()));
        return calls;
      },
      file.string());
}

std::vector<ProgramCall> calls_of(const BundledProgram& bundle, const Tolerance& tolerance) {
  std::vector<ProgramCall> calls;
  for (const auto& suite : bundle.method_test_suites)
    for (const auto& test : suite->test_cases) {
      const auto values = [&](const auto& list, std::string_view what) {
        return within([&] { return values_of_bundle(list, what); }, suite->method_name, ", case ",
                      &test - suite->test_cases.data());
      };
      ProgramCall call{suite->method_name, values(test->inputs, "input"), {}, tolerance, {}};
      if (!test->expected_outputs.empty()) call.outputs = values(test->expected_outputs, "expected output");
      calls.push_back(std::move(call));
    }
  return calls;
}

bool CallResult::agrees() const { return mismatch.empty() && std::ranges::all_of(comparisons, &Comparison::agrees); }

CallResult run_call(Host& host, const ProgramCall& call) {
  CallResult result;
  try {
    result.outputs = host.call(call.method.empty() ? host.default_method() : call.method, call.inputs);
  } catch (const Fault& fault) {
    result.refusal = fault;
  }
  if (result.refusal || !call.fails.empty()) {
    const std::string came = result.refusal ? result.refusal->rule : "a result";
    if (came != call.fails)
      result.mismatch =
          call.fails.empty() ? "is refused" : text("is to be refused by ", call.fails, ", but ", came, " came");
    return result;
  }
  if (!call.outputs) return result;
  result.mismatch = counts_differ(result.outputs.size(), call.outputs->size());
  for (std::size_t i = 0; i < std::min(result.outputs.size(), call.outputs->size()); ++i)
    result.comparisons.push_back(compare(result.outputs[i], (*call.outputs)[i], call.tolerance));
  return result;
}

}  // namespace assay

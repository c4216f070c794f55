#include "conformance/hosts/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "conformance/files/npy.h"
#include "conformance/inspect/listing.h"
#include "conformance/text/json.h"
#include "conformance/text/layout.h"
#include "conformance/text/malformed.h"
#include "conformance/text/printable.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view calls_rule = "calls.format";

// -- calls.json ---------------------------------------------------------------------------------------------------

std::string string_in(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  well_formed(found->is_string(), calls_rule, key, " must be a string");
  return found->get<std::string>();
}

// The list under a key; empty if the key is missing.
const Json& list_in(const Json& object, std::string_view key) {
  static const Json none = Json::array();
  const auto found = object.find(key);
  if (found == object.end()) return none;
  well_formed(found->is_array(), calls_rule, key, " must be a list");
  return *found;
}

double tolerance_in(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return 0;
  well_formed(found->is_number() && found->get<double>() >= 0, calls_rule, key,
              " must be a number that is not negative");
  return found->get<double>();
}

// The values under a key. A string is a path; {"string":...} and other JSON values are those of a call.
std::vector<Value> values_in(const Json& call, std::string_view key, const fs::path& folder, const Access& access) {
  std::vector<Value> values;
  for (const Json& json : list_in(call, key))
    values.push_back(json.is_string() ? read_npy(folder / json.get<std::string>(), access)
                                      : within([&] { return value_of(json, "str"); }, key, ' ', values.size()));
  return values;
}

ProgramCall call_in(const Json& json, const fs::path& folder, const Access& access) {
  well_formed(json.is_object(), calls_rule, "a call must be an object");
  check_keys(json, {"method", "inputs", "outputs", "rtol", "atol", "fails", "description"}, calls_rule);
  ProgramCall call;
  call.method = string_in(json, "method");
  call.inputs = values_in(json, "inputs", folder, access);
  if (json.contains("outputs")) call.outputs = values_in(json, "outputs", folder, access);
  call.tolerance = {tolerance_in(json, "rtol"), tolerance_in(json, "atol")};
  call.fails = string_in(json, "fails");
  well_formed(call.fails.empty() || !call.outputs, calls_rule, "outputs cannot be expected of a call that fails");
  return call;
}

// -- bundles ------------------------------------------------------------------------------------------------------

Tensor tensor_of_bundle(const bpte::Tensor& t) {
  const auto ints = [](const auto& items) { return Ints(items.begin(), items.end()); };
  const auto data = format::items(t.data());
  const auto dtype = dtype_numbered(t.scalar_type());
  if (!dtype) throw broken("B6", {}, "there is no dtype ", static_cast<int>(t.scalar_type()));
  Tensor tensor = layout(*dtype, ints(format::items(t.sizes())), ints(format::items(t.dim_order())));
  if (data.size() < byte_count(tensor))
    throw broken("B7", {}, "the data has ", data.size(), " bytes, but ", describe(tensor), " takes ",
                 byte_count(tensor));
  const auto bytes = std::as_bytes(data).first(byte_count(tensor));
  tensor.bytes.assign(bytes.begin(), bytes.end());
  return tensor;
}

Value value_of_bundle(const bpte::Value& value) {
  if (const auto* t = value.val_as_Tensor()) return tensor_of_bundle(*t);
  if (const auto* n = value.val_as_Int()) return Int{n->int_val()};
  if (const auto* b = value.val_as_Bool()) return b->bool_val();
  if (const auto* d = value.val_as_Double()) return d->double_val();
  throw broken("B5", {}, "a value is neither a tensor nor a number");
}

std::vector<Value> values_of_bundle(const auto* values, std::string_view what) {
  std::vector<Value> all;
  for (const bpte::Value& v : tables(values))
    all.push_back(within([&] { return value_of_bundle(v); }, what, ' ', all.size()));
  return all;
}

ProgramCall call_of(const bpte::BundledMethodTestCase& test, std::string method, const Tolerance& tolerance) {
  ProgramCall call{std::move(method), values_of_bundle(test.inputs(), "input"), {}, tolerance, {}};
  if (format::size_of(test.expected_outputs()) > 0)
    call.outputs = values_of_bundle(test.expected_outputs(), "expected output");
  return call;
}

std::string counts_differ(std::size_t got, std::size_t want) {
  return got == want ? "" : text("gives ", got, " outputs, but ", want, " are expected");
}

}  // namespace

ProgramCalls read_calls(const fs::path& path, const Access& access) {
  const auto extent = [](std::span<const std::byte> head) {
    const auto first = std::ranges::find_if(head, [](std::byte b) { return b > std::byte{' '}; });
    const bool object = first != head.end() && *first == std::byte{'{'};
    return object ? std::numeric_limits<std::uint64_t>::max() : head.size();
  };
  const File file = open_file(path, access, extent);
  return within(
      [&] {
        const Json json = parse_json(characters(file), access.budget);
        well_formed(json.is_object() && json.contains("calls"), calls_rule,
                    "the file must be an object with a list \"calls\"");
        const fs::path folder = path.parent_path();
        ProgramCalls calls{string_in(json, "description"), {}, {}};
        for (const Json& data : list_in(json, "data")) {
          well_formed(data.is_string(), calls_rule, "data must be a list of paths");
          calls.data.push_back(folder / data.get<std::string>());
        }
        for (const Json& call : list_in(json, "calls"))
          calls.calls.push_back(within([&] { return call_in(call, folder, access); }, "call ", calls.calls.size()));
        return calls;
      },
      printable(path.string()));
}

void each_call(const BundleFile& bundle, const Tolerance& tolerance, const std::function<void(const ProgramCall&)>& f) {
  for (const auto& suite : tables(bundle.tables().method_test_suites())) {
    std::size_t i = 0;
    for (const auto& test : tables(suite.test_cases())) {
      const std::string method(format::text_of(suite.method_name()));
      f(within([&] { return call_of(test, method, tolerance); }, Quoted{method}, ", case ", i++));
    }
  }
}

bool CallResult::agrees() const { return mismatch.empty() && std::ranges::all_of(comparisons, &Comparison::agrees); }

CallResult run_call(ProgramRunner& runner, const ProgramCall& call) {
  CallResult result;
  try {
    result.outputs = runner.call(call.method.empty() ? runner.default_method() : call.method, call.inputs);
  } catch (const Fault& fault) {
    result.refusal = fault;
  } catch (const Violation& violation) {
    result.violation = violation, result.mismatch = sentence(violation);
    return result;
  }
  if (result.refusal || !call.fails.empty()) {
    const std::string came = result.refusal ? result.refusal->rule : "a result";
    if (came != call.fails)
      result.mismatch =
          call.fails.empty() ? "is refused" : text("is to be refused by ", Quoted{call.fails}, ", but ", came, " came");
    return result;
  }
  if (!call.outputs) return result;
  result.mismatch = counts_differ(result.outputs.size(), call.outputs->size());
  for (std::size_t i = 0; i < std::min(result.outputs.size(), call.outputs->size()); ++i)
    result.comparisons.push_back(compare(result.outputs[i], (*call.outputs)[i], call.tolerance));
  return result;
}

}  // namespace assay

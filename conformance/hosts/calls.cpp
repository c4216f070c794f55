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

namespace assay::hosts {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view calls_rule = "calls.format";

// The parser takes the memory of a whole string before the budget sees the string.
constexpr std::uint64_t most_calls_bytes = std::uint64_t{16} << 20;

// -- calls.json ---------------------------------------------------------------------------------------------------

std::string string_in(const text::Json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  text::well_formed(found->is_string(), calls_rule, key, " must be a string");
  return found->get<std::string>();
}

// The list under a key; empty if the key is missing.
const text::Json& list_in(const text::Json& object, std::string_view key) {
  static const text::Json none = text::Json::array();
  const auto found = object.find(key);
  if (found == object.end()) return none;
  text::well_formed(found->is_array(), calls_rule, key, " must be a list");
  return *found;
}

double tolerance_in(const text::Json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return 0;
  text::well_formed(found->is_number() && found->get<double>() >= 0, calls_rule, key,
                    " must be a number that is not negative");
  return found->get<double>();
}

// The values under a key. A string is a path; {"string":...} and other JSON values are those of a call.
std::vector<Value> values_in(const text::Json& call, std::string_view key, const fs::path& folder,
                             const files::Access& access) {
  std::vector<Value> values;
  for (const text::Json& json : list_in(call, key))
    values.push_back(json.is_string()
                         ? files::read_npy(folder / json.get<std::string>(), access)
                         : text::within([&] { return text::value_of(json, "str"); }, key, ' ', values.size()));
  return values;
}

ProgramCall call_in(const text::Json& json, const fs::path& folder, const files::Access& access) {
  text::well_formed(json.is_object(), calls_rule, "a call must be an object");
  text::check_keys(json, {"method", "inputs", "outputs", "rtol", "atol", "fails", "description"}, calls_rule);
  ProgramCall call;
  call.method = string_in(json, "method");
  call.inputs = values_in(json, "inputs", folder, access);
  if (json.contains("outputs")) call.outputs = values_in(json, "outputs", folder, access);
  call.tolerance = {tolerance_in(json, "rtol"), tolerance_in(json, "atol")};
  call.fails = string_in(json, "fails");
  text::well_formed(call.fails.empty() || !call.outputs, calls_rule, "outputs cannot be expected of a call that fails");
  return call;
}

// -- bundles ------------------------------------------------------------------------------------------------------

Tensor tensor_of_bundle(const bpte::Tensor& t) {
  const auto ints = [](const auto& items) { return Ints(items.begin(), items.end()); };
  const auto data = format::items(t.data());
  const auto dtype = dtype_numbered(t.scalar_type());
  if (!dtype) throw broken("B6", {}, "there is no dtype ", static_cast<int>(t.scalar_type()));
  Tensor tensor = text::layout(*dtype, ints(format::items(t.sizes())), ints(format::items(t.dim_order())));
  if (data.size() < text::byte_count(tensor))
    throw broken("B7", {}, "the data has ", data.size(), " bytes, but ", describe(tensor), " takes ",
                 text::byte_count(tensor));
  const auto bytes = std::as_bytes(data).first(text::byte_count(tensor));
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
  for (const bpte::Value& v : inspect::tables(values))
    all.push_back(text::within([&] { return value_of_bundle(v); }, what, ' ', all.size()));
  return all;
}

ProgramCall call_of(const bpte::BundledMethodTestCase& test, std::string method, const files::Tolerance& tolerance) {
  ProgramCall call{std::move(method), values_of_bundle(test.inputs(), "input"), {}, tolerance, {}};
  if (format::size_of(test.expected_outputs()) > 0)
    call.outputs = values_of_bundle(test.expected_outputs(), "expected output");
  return call;
}

std::string counts_differ(std::size_t got, std::size_t want) {
  return got == want ? "" : concat("gives ", got, " outputs, but ", want, " are expected");
}

}  // namespace

ProgramCalls read_calls(const fs::path& path, const files::Access& access) {
  const auto extent = [](std::span<const std::byte> head) {
    const auto first = std::ranges::find_if(head, [](std::byte b) { return b > std::byte{' '}; });
    const bool object = first != head.end() && *first == std::byte{'{'};
    return object ? most_calls_bytes + 1 : head.size();
  };
  const File file = files::open_file(path, access, extent);
  return text::within(
      [&] {
        text::well_formed(file.bytes.size() <= most_calls_bytes, calls_rule, "the file is longer than ",
                          most_calls_bytes, " bytes");
        const text::Json json = text::parse_json(files::characters(file), access.budget);
        text::well_formed(json.is_object() && json.contains("calls"), calls_rule,
                          "the file must be an object with a list \"calls\"");
        const fs::path folder = path.parent_path();
        ProgramCalls calls{string_in(json, "description"), {}, {}};
        for (const text::Json& data : list_in(json, "data")) {
          text::well_formed(data.is_string(), calls_rule, "data must be a list of paths");
          calls.data.push_back(folder / data.get<std::string>());
        }
        for (const text::Json& call : list_in(json, "calls"))
          calls.calls.push_back(
              text::within([&] { return call_in(call, folder, access); }, "call ", calls.calls.size()));
        return calls;
      },
      text::printable(path.string()));
}

void each_call(const BundleFile& bundle, const files::Tolerance& tolerance,
               const std::function<void(const ProgramCall&)>& f) {
  for (const auto& suite : inspect::tables(bundle.tables().method_test_suites())) {
    std::size_t i = 0;
    for (const auto& test : inspect::tables(suite.test_cases())) {
      const std::string method(format::text_of(suite.method_name()));
      f(text::within([&] { return call_of(test, method, tolerance); }, text::Quoted{method}, ", case ", i++));
    }
  }
}

GivenCalls calls_given_with(const fs::path& program, const File& file) {
  GivenCalls given;
  if (format::file_kind(file.bytes) == &format::bundle_kind)
    each_call(inspect::value_or_throw(open_bundle(file)), bundle_tolerance,
              [&](const ProgramCall& call) { given.calls.calls.push_back(call); });
  if (!given.calls.calls.empty()) return {std::move(given.calls), program};
  const fs::path beside = program.parent_path() / "calls.json";
  return fs::exists(beside) ? GivenCalls{read_calls(beside), beside} : given;
}

bool CallResult::agrees() const {
  return mismatch.empty() && std::ranges::all_of(comparisons, &files::Comparison::agrees);
}

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
      result.mismatch = call.fails.empty()
                            ? "is refused"
                            : concat("is to be refused by ", text::Quoted{call.fails}, ", but ", came, " came");
    return result;
  }
  if (!call.outputs) return result;
  result.mismatch = counts_differ(result.outputs.size(), call.outputs->size());
  for (std::size_t i = 0; i < std::min(result.outputs.size(), call.outputs->size()); ++i)
    result.comparisons.push_back(files::compare(result.outputs[i], (*call.outputs)[i], call.tolerance));
  return result;
}

}  // namespace assay::hosts

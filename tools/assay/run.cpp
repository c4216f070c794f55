#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "conformance/programs/calls.h"
#include "conformance/programs/file.h"
#include "conformance/programs/npy.h"
#include "conformance/programs/trace.h"
#include "conformance/text/element.h"
#include "conformance/text/json.h"
#include "conformance/text/literal.h"
#include "tools/assay/faults.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
constexpr int answers_differ = 1;

constexpr const char* footer =
    R"(A value V is a .npy file (its values; laid out as the program says), an integer, a float, true, false, none,
or a string in quotes. Without inputs, a method that wants some says which. Without --output-dir, outputs are printed.

--calls takes a file of calls, run in order on one loaded program; paths in it are relative to it:
  {"data":["weights.ptd"],"calls":[{"method":"forward","inputs":["x.npy",3,1.5,true,null,{"string":"s"}],
    "outputs":["y.npy",7],"rtol":1e-4,"atol":1e-5}]}
Outputs are held to |got - want| <= atol + rtol |want|, without both to be exactly equal. The cases of a .bpte file are run
likewise, each on a program loaded afresh. Exit code 1: an output differs.

Examples:
  assay run model.pte --input x.npy --output-dir out
  assay run model.pte --data weights.ptd --method decode --input token.npy --input 3 --trace
  assay run model.pte --calls calls.json
  assay run model.bpte --rtol 1e-4)";

struct Request {
  std::string program, method, calls, output_dir;
  std::vector<fs::path> data;
  std::vector<std::string> inputs;
  Budget::Limits limits;
  Int instructions = RuntimeOptions().instructions;

  RuntimeOptions options() const { return {.budget = Budget(limits), .instructions = instructions}; }
  Tolerance tolerance = bundle_tolerance;
  bool trace = false, json = false;
};

// -- what comes in ------------------------------------------------------------------------------------------------

bool is_quoted(std::string_view s) { return s.size() >= 2 && (s[0] == '"' || s[0] == '\'') && s.front() == s.back(); }

Value scalar_value(const Number& number, const std::string& text_of_it) {
  if (std::holds_alternative<Bits>(number))
    throw Fault(Outcome::malformed, "run.input", text(text_of_it, " is no integer of 64 bits"));
  if (const bool* b = std::get_if<bool>(&number)) return *b;
  if (const Int* n = std::get_if<Int>(&number)) return *n;
  return std::get<double>(number);
}

Value input_in(const std::string& argument) {
  if (argument == "none") return std::monostate();
  if (is_quoted(argument)) return argument.substr(1, argument.size() - 2);
  if (const auto number = number_of(argument)) return scalar_value(*number, argument);
  return read_npy(argument);
}

// -- what goes out ------------------------------------------------------------------------------------------------

// Tensors go into the folder, if one is given.
Json output_json(const Value& value, const std::string& folder, std::size_t i) {
  const Tensor* tensor = std::get_if<Tensor>(&value);
  if (!tensor || folder.empty()) return to_json(value, {});
  const fs::path file = fs::path(folder) / fmt::format("{}.npy", i);
  write_file(file, encode_npy(*tensor));
  Json json = to_json(Tensor{tensor->dtype, tensor->sizes, tensor->dim_order, {}});
  json.erase("data");
  json["file"] = file.string();
  return json;
}

std::string output_text(const Value& value, const std::string& folder, std::size_t i) {
  constexpr Int shown = 16;
  const Tensor* tensor = std::get_if<Tensor>(&value);
  if (!tensor) return literal(value, shown);
  if (folder.empty()) return fmt::format("{}  {}", describe(*tensor), literal(*tensor, shown));
  return fmt::format("{}  {}", describe(*tensor), output_json(value, folder, i)["file"].get<std::string>());
}

Json comparison_json(const Comparison& c, const Tolerance& tolerance) {
  Json json = {{"agrees", c.agrees()}};
  if (c.difference.empty())
    json.update(Json{{"elements", c.elements}, {"outside", c.outside}, {"distance", to_json(Value(c.distance), {})}});
  if (c.outside > 0)
    json.update(Json{{"index", Ints(c.index.begin(), c.index.end())}, {"got", c.got}, {"want", c.want}});
  if (!c.agrees()) json["message"] = sentence(c, tolerance);
  return json;
}

// Steps as they come, or kept for the JSON that stands at the end.
class Trace {
 public:
  explicit Trace(const Request& r)
      : on_(r.trace), tracer_([this, json = r.json](const TracedStep& step) {
          json ? steps_.push_back(to_json(step)) : void(std::cout << to_text(step));
        }) {}
  Listener* listener() { return on_ ? &tracer_ : nullptr; }
  void add_to(Json& json) const {
    if (on_) json["trace"] = steps_;
  }

 private:
  bool on_;
  Json steps_ = Json::array();
  Tracer tracer_;
};

// -- one call -----------------------------------------------------------------------------------------------------

void require_inputs(const pte::ExecutionPlanT& plan, std::size_t given) {
  if (given == plan.inputs.size()) return;
  std::string all;
  for (const std::string& line : wants(plan)) all += "\n  --input " + line;
  throw Fault(Outcome::invalid, "R4",
              text("the method wants ", plan.inputs.size(), plan.inputs.size() == 1 ? " input, but " : " inputs, but ",
                   given, " came", all),
              plan.name);
}

void run_once(const Request& r, std::span<const std::byte> program) {
  Trace trace(r);
  Host host(program, read_data(r.data), r.options(), trace.listener());
  const std::string method = r.method.empty() ? host.default_method() : r.method;
  require_inputs(host.plan(method), r.inputs.size());
  std::vector<Value> inputs;
  for (const std::string& input : r.inputs) inputs.push_back(input_in(input));
  if (!r.output_dir.empty()) make_folder(r.output_dir);
  const std::vector<Value> outputs = host.call(method, std::move(inputs));
  Json json = {{"outcome", "ok"}, {"method", method}, {"outputs", Json::array()}};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (r.json)
      json["outputs"].push_back(output_json(outputs[i], r.output_dir, i));
    else
      std::cout << i << ": " << output_text(outputs[i], r.output_dir, i) << '\n';
  }
  trace.add_to(json);
  if (r.json) std::cout << line_of(json) << '\n';
}

// -- many calls ---------------------------------------------------------------------------------------------------

// Tells what came of calls, and counts.
class CallReport {
 public:
  explicit CallReport(bool json) : json_(json) {}

  void add(const ProgramCall& call, const std::string& method, const CallResult& result) {
    ++calls_;
    different_ += !result.agrees();
    compared_ += result.comparisons.size();
    if (json_)
      all_.push_back(to_json(call, method, result));
    else
      print(call, method, result);
    if (result.refusal && call.fails.empty() && !refusal_) refusal_ = result.refusal;
  }

  // The exit code. A call that was refused although it should not be is the fault of the whole.
  int finish(const Trace& trace) const {
    Json json = {{"calls", all_}, {"outputs_compared", compared_}, {"calls_that_differ", different_}};
    trace.add_to(json);
    if (json_)
      std::cout << line_of(json) << '\n';
    else
      std::cout << calls_ << (calls_ == 1 ? " call, " : " calls, ") << compared_
                << (compared_ == 1 ? " output compared: " : " outputs compared: ")
                << (different_ == 0 ? "no difference" : fmt::format("{} of the calls differ", different_)) << '\n';
    if (refusal_) throw *refusal_;
    return different_ > 0 ? answers_differ : exit_code(Outcome::ok);
  }

 private:
  static Json to_json(const ProgramCall& call, const std::string& method, const CallResult& result) {
    Json json = {{"method", method}, {"agrees", result.agrees()}, {"outputs", Json::array()}};
    for (const Comparison& c : result.comparisons) json["outputs"].push_back(comparison_json(c, call.tolerance));
    if (!result.mismatch.empty()) json["message"] = result.mismatch;
    if (result.refusal) json["refused"] = fault_json(*result.refusal);
    return json;
  }

  void print(const ProgramCall& call, const std::string& method, const CallResult& result) const {
    std::cout << "call " << calls_ - 1 << ", " << method
              << (call.outputs || !call.fails.empty() || result.refusal ? "" : ": ran, nothing is expected") << '\n';
    for (std::size_t i = 0; i < result.comparisons.size(); ++i) {
      const Comparison& c = result.comparisons[i];
      std::cout << fmt::format("  {} output {}  {}: {}\n", c.agrees() ? "pass" : "FAIL", i, kind(result.outputs[i]),
                               sentence(c, call.tolerance));
    }
    if (!result.mismatch.empty())
      std::cout << "  FAIL " << result.mismatch << '\n';
    else if (result.refusal)
      std::cout << "  pass refused by " << result.refusal->rule << '\n';
  }

  static std::string kind(const Value& value) {
    const Tensor* tensor = std::get_if<Tensor>(&value);
    return tensor ? describe(*tensor) : literal(value, 8);
  }

  bool json_;
  Json all_ = Json::array();
  std::size_t calls_ = 0, different_ = 0, compared_ = 0;
  std::optional<Fault> refusal_;
};

int run_calls(const Request& r, std::span<const std::byte> program) {
  const ProgramCalls calls = read_calls(r.calls);
  Trace trace(r);
  Host host(program, r.data.empty() ? read_data(calls.data) : read_data(r.data), r.options(), trace.listener());
  CallReport report(r.json);
  for (const ProgramCall& call : calls.calls)
    report.add(call, call.method.empty() ? host.default_method() : call.method, run_call(host, call));
  return report.finish(trace);
}

int run_bundle(const Request& r, std::span<const std::byte> file) {
  const BundledProgram bundle = taken(decode_bundle(file));
  const auto program = std::as_bytes(std::span(bundle.program));
  const auto data = read_data(r.data);
  Trace trace(r);
  CallReport report(r.json);
  for (const ProgramCall& call : calls_of(bundle, r.tolerance)) {
    Host host(program, data, r.options(), trace.listener());
    report.add(call, call.method, run_call(host, call));
  }
  return report.finish(trace);
}

int run(const Request& r) {
  const std::vector<std::byte> file = read_file(r.program);
  const FileKind kind = file_kind(file);
  if (kind == FileKind::data)
    throw Fault(Outcome::invalid, "H2",
                text(r.program, " is a data file: give it by --data, behind the program that wants it"));
  if (kind == FileKind::bundle && r.inputs.empty() && r.calls.empty()) return run_bundle(r, file);
  if (!r.calls.empty()) return run_calls(r, file);
  return run_once(r, file), exit_code(Outcome::ok);
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "Runs a program, or checks what it gives");
  const auto r = std::make_shared<Request>();
  const auto many = [&](const char* name, auto& values, const char* help, const char* type) {
    return command->add_option(name, values, help)->allow_extra_args(false)->type_name(type);
  };
  command->add_option("PROGRAM", r->program, "A .pte or .bpte file")->required();
  many("--data", r->data, "A .ptd file with data that the program wants; once for each", "FILE");
  CLI::Option* method = command->add_option("--method", r->method, "Which method [forward, or the only one]");
  CLI::Option* input = many("--input", r->inputs, "An input of the method; once for each, in order", "V");
  CLI::Option* output = command->add_option("--output-dir", r->output_dir, "Write tensors there, as 0.npy, 1.npy, ...");
  command->add_option("--calls", r->calls, "A file of calls and what is expected of them")
      ->excludes(method)
      ->excludes(input)
      ->excludes(output);
  command->add_option("--rtol", r->tolerance.rtol, "Relative tolerance for the cases of a .bpte file")
      ->capture_default_str();
  command->add_option("--atol", r->tolerance.atol, "Absolute tolerance for the cases of a .bpte file")
      ->capture_default_str();
  command->add_option("--max-bytes", r->limits.bytes, "Limit of memory")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--max-instructions", r->instructions, "Limit of instructions of one execution")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--trace", r->trace, "Print what each instruction read and wrote");
  command->add_flag("--json", r->json, "Print JSON");
  command->footer(footer);
  command->callback([r, &exit_code] { exit_code = refusals_as_json(r->json, [&] { return run(*r); }); });
}

}  // namespace assay

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
#include "conformance/text/printable.h"
#include "tools/assay/faults.h"
#include "tools/assay/limits.h"
#include "tools/assay/print.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
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
  Int instructions = RuntimeOptions{}.instructions;
  Tolerance tolerance = bundle_tolerance;
  bool trace = false, json = false, map = true;
};

// A request with the budget of all that is done for it.
struct Session {
  const Request& request;
  Access access{Budget(request.limits), request.map};
  Output out{&std::cout, access.budget};

  RuntimeOptions options() const {
    RuntimeOptions options;
    options.budget = access.budget, options.instructions = request.instructions;
    return options;
  }
};

// -- what comes in ------------------------------------------------------------------------------------------------

bool is_quoted(std::string_view s) { return s.size() >= 2 && (s[0] == '"' || s[0] == '\'') && s.front() == s.back(); }

Value scalar_value(const Number& number, const std::string& text_of_it) {
  if (std::holds_alternative<Bits>(number))
    throw Fault(Outcome::malformed, "run.input", text(Quoted{text_of_it}, " is no integer of 64 bits"));
  if (const bool* b = std::get_if<bool>(&number)) return *b;
  if (const Int* n = std::get_if<Int>(&number)) return *n;
  return std::get<double>(number);
}

Value input_in(const std::string& argument, const Access& access) {
  if (argument == "none") return std::monostate();
  if (is_quoted(argument)) return argument.substr(1, argument.size() - 2);
  if (const auto number = number_of(argument)) return scalar_value(*number, argument);
  return read_npy(argument, access);
}

// -- what goes out ------------------------------------------------------------------------------------------------

fs::path output_file(const std::string& folder, std::size_t i) { return fs::path(folder) / fmt::format("{}.npy", i); }

// Tensors go into the folder, if one is given.
void write_outputs(const std::vector<Value>& outputs, const std::string& folder) {
  if (folder.empty()) return;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (const Tensor* tensor = std::get_if<Tensor>(&outputs[i]))
      write_file(output_file(folder, i), encode_npy(*tensor));
}

Json output_json(const Value& value, const std::string& folder, std::size_t i) {
  const Tensor* tensor = std::get_if<Tensor>(&value);
  if (!tensor || folder.empty()) return to_json(value, {});
  Json json = to_json(Tensor{tensor->dtype, tensor->sizes, tensor->dim_order, {}});
  json.erase("data");
  json["file"] = output_file(folder, i).string();
  return json;
}

std::string output_text(const Value& value, const std::string& folder, std::size_t i) {
  constexpr Int shown = 16;
  const Tensor* tensor = std::get_if<Tensor>(&value);
  if (!tensor) return literal(value, shown);
  return fmt::format("{}  {}", describe(*tensor),
                     folder.empty() ? literal(*tensor, shown) : printable(output_file(folder, i).string()));
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

// Lines of JSON that are kept until their place in the whole.
class Kept {
 public:
  void add(const Json& json) {
    const std::string line = line_of(json);
    text_.insert(text_.end(), line.begin(), line.end());
    ends_.push_back(text_.size());
  }
  void write(std::string_view key, JsonOutput& out) const {
    out.list(key, [&] {
      for (std::size_t begin = 0; const std::size_t end : ends_) {
        out.line({text_.data() + begin, end - begin});
        begin = end;
      }
    });
  }

 private:
  Buffer<char> text_;
  Buffer<std::size_t> ends_;
};

// Steps as they come, or kept for the JSON that stands at the end.
class Trace {
 public:
  explicit Trace(Session& session)
      : on_(session.request.trace), tracer_([this, &session, json = session.request.json](const TracedStep& step) {
          json ? steps_.add(to_json(step)) : session.out.write(to_text(step));
        }) {}
  Listener* listener() { return on_ ? &tracer_ : nullptr; }
  void write(JsonOutput& out) const {
    if (on_) steps_.write("trace", out);
  }

 private:
  bool on_;
  Kept steps_;
  Tracer tracer_;
};

// -- one call -----------------------------------------------------------------------------------------------------

void require_inputs(const pte::ExecutionPlan& plan, std::size_t given) {
  const std::size_t wanted = format::size_of(plan.inputs());
  if (given == wanted) return;
  std::string all;
  for (const std::string& line : wants(plan)) all += (all.empty() ? ": --input " : ", --input ") + line;
  throw broken("R4", {nullptr, format::text_of(plan.name()), -1, true}, "the method wants ", wanted,
               wanted == 1 ? " input, but " : " inputs, but ", given, " came", all);
}

void run_once(Session& session, const File& program) {
  const Request& r = session.request;
  Trace trace(session);
  Host host(valid_program(program, open_data_files(r.data, session.access)), session.options(), trace.listener());
  const std::string method = r.method.empty() ? host.default_method() : r.method;
  require_inputs(host.plan(method), r.inputs.size());
  std::vector<Value> inputs;
  for (const std::string& input : r.inputs) inputs.push_back(input_in(input, session.access));
  if (!r.output_dir.empty()) make_folder(r.output_dir);
  const std::vector<Value> outputs = host.call(method, std::move(inputs));
  write_outputs(outputs, r.output_dir);
  if (!r.json) {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      session.out.print("{}: {}\n", i, output_text(outputs[i], r.output_dir, i));
    return;
  }
  print_json(session.access.budget, [&](JsonOutput& out) {
    out.object([&] {
      out.field("outcome", "ok"), out.field("method", cut(method));
      out.list("outputs", [&] {
        for (std::size_t i = 0; i < outputs.size(); ++i) out.value(output_json(outputs[i], r.output_dir, i));
      });
      trace.write(out);
    });
  });
}

// -- many calls ---------------------------------------------------------------------------------------------------

// Tells what came of calls, and counts.
class CallReport {
 public:
  explicit CallReport(Session& session) : session_(session) {}

  void add(const ProgramCall& call, const std::string& method, const CallResult& result) {
    ++calls_;
    different_ += !result.agrees();
    compared_ += result.comparisons.size();
    if (session_.request.json)
      all_.add(to_json(call, method, result));
    else
      print(call, method, result);
    if (result.refusal && call.fails.empty() && !refusal_) refusal_ = result.refusal;
  }

  // The exit code. A call that was refused although it should not be is the fault of the whole.
  int finish(const Trace& trace) const {
    if (!session_.request.json)
      session_.out.print("{}{}{}{}{}\n", calls_, calls_ == 1 ? " call, " : " calls, ", compared_,
                         compared_ == 1 ? " output compared: " : " outputs compared: ",
                         different_ == 0 ? "no difference" : fmt::format("{} of the calls differ", different_));
    else
      print_json(session_.access.budget, [&](JsonOutput& out) {
        out.object([&] {
          all_.write("calls", out);
          out.field("outputs_compared", compared_), out.field("calls_that_differ", different_);
          trace.write(out);
        });
      });
    if (refusal_) throw *refusal_;
    return different_ > 0 ? answers_differ : exit_code(Outcome::ok);
  }

 private:
  static Json to_json(const ProgramCall& call, const std::string& method, const CallResult& result) {
    Json json = {{"method", cut(method)}, {"agrees", result.agrees()}, {"outputs", Json::array()}};
    for (const Comparison& c : result.comparisons) json["outputs"].push_back(comparison_json(c, call.tolerance));
    if (!result.mismatch.empty()) json["message"] = result.mismatch;
    if (result.refusal) json["refused"] = fault_json(*result.refusal);
    return json;
  }

  void print(const ProgramCall& call, const std::string& method, const CallResult& result) const {
    Output& out = session_.out;
    out.print("call {}, {}{}\n", calls_ - 1, shown(method),
              call.outputs || !call.fails.empty() || result.refusal ? "" : ": ran, nothing is expected");
    for (std::size_t i = 0; i < result.comparisons.size(); ++i) {
      const Comparison& c = result.comparisons[i];
      out.print("  {} output {}  {}: {}\n", c.agrees() ? "pass" : "FAIL", i, kind(result.outputs[i]),
                printable(sentence(c, call.tolerance)));
    }
    if (!result.mismatch.empty())
      out.print("  FAIL {}\n", printable(result.mismatch));
    else if (result.refusal)
      out.print("  pass refused by {}\n", result.refusal->rule);
  }

  static std::string kind(const Value& value) {
    const Tensor* tensor = std::get_if<Tensor>(&value);
    return tensor ? describe(*tensor) : printable(literal(value, 8), most_shown);
  }

  Session& session_;
  Kept all_;
  std::size_t calls_ = 0, different_ = 0, compared_ = 0;
  std::optional<Fault> refusal_;
};

int run_calls(Session& session, const File& program) {
  const Request& r = session.request;
  const ProgramCalls calls = read_calls(r.calls, session.access);
  Trace trace(session);
  const auto data = open_data_files(r.data.empty() ? calls.data : r.data, session.access);
  Host host(valid_program(program, data), session.options(), trace.listener());
  CallReport report(session);
  for (const ProgramCall& call : calls.calls)
    report.add(call, call.method.empty() ? host.default_method() : call.method, run_call(host, call));
  return report.finish(trace);
}

int run_bundle(Session& session, const File& file) {
  const BundleFile bundle = taken(open_bundle(file));
  const ValidProgram program = valid_program(program_of(bundle), open_data_files(session.request.data, session.access));
  Trace trace(session);
  CallReport report(session);
  each_call(bundle, session.request.tolerance, [&](const ProgramCall& call) {
    Host host(program, session.options(), trace.listener());
    report.add(call, call.method, run_call(host, call));
  });
  return report.finish(trace);
}

int run(const Request& r) {
  Session session{r};
  const Budget::Scope scope(session.access.budget, "the run");
  const File file = open_file(r.program, session.access);
  const FileKind kind = file_kind(file.bytes);
  if (kind == FileKind::data)
    throw Fault(Outcome::invalid, "H2",
                text(r.program, " is a data file: give it by --data, behind the program that wants it"));
  if (kind == FileKind::bundle && r.inputs.empty() && r.calls.empty()) return run_bundle(session, file);
  if (!r.calls.empty()) return run_calls(session, file);
  return run_once(session, file), exit_code(Outcome::ok);
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
  command->add_option("--max-instructions", r->instructions, "Limit of instructions of one execution")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  add_limits(*command, r->limits);
  add_no_map(*command, r->map);
  command->add_flag("--trace", r->trace, "Print what each instruction read and wrote");
  command->add_flag("--json", r->json, "Print JSON");
  command->footer(footer);
  command->callback([r, &exit_code] { exit_code = refusals_as_json(r->json, [&] { return run(*r); }); });
}

}  // namespace assay

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <utility>

#include "command/call_report.h"
#include "command/command.h"
#include "command/faults.h"
#include "command/libraries.h"
#include "command/limits.h"
#include "command/payload_form.h"
#include "command/print.h"
#include "conformance/adapters/optimized/client.h"
#include "conformance/files/npy.h"
#include "conformance/hosts/program_at_path.h"
#include "conformance/text/element.h"
#include "conformance/text/json.h"
#include "conformance/text/literal.h"
#include "conformance/text/printable.h"

namespace assay::command {
namespace {

namespace fs = std::filesystem;
constexpr const char* run_details =
    R"(A VALUE of --input is one of these:
  - the name of a .npy file, which gives the values of a tensor; the program decides the layout;
  - an integer, a float, true, false or none;
  - a string in quotes.
If inputs are missing, the error message lists the inputs of the method. Without --output-dir, outputs are printed.

The calls of --calls run in order on one loaded program. Paths in FILE are relative to the folder of FILE. An
example:
  {"data":["weights.ptd"],"calls":[{"method":"forward","inputs":["x.npy",3,1.5,true,null,{"string":"s"}],
    "outputs":["y.npy",7],"rtol":1e-4,"atol":1e-5}]}
An element of an output agrees if |got - want| <= atol + rtol |want|, where got is the element and want is the expected
element. A tolerance that a call leaves out is 0. The cases of a .bpte file run in the same way, each on a newly loaded
program.

A TESTEE is a runtime or a kernel library:
  - A runtime runs the program in a child process. assay reports a crash with a class of spec/verdicts.md.
  - A kernel library answers the calls of operators, and the reference does all other work. The reference also answers
    the calls that the library does not support; a line of the output lists them.
With --against, two testees run the program, and assay compares their outputs. A kernel library is compared with the
reference instruction by instruction: each instruction gets the inputs that the reference computed. assay names the
first instruction whose result has an error that exceeds the bound of the operator. If the outputs of a
call differ, assay judges the XNNPACK delegates of the call on each testee that is a runtime, as assay delegate does, and
names the first wrong node of each.

Exit codes:
  0  all outputs agree, or no output is expected
  1  an output differs, or a testee crashed, hung, or damaged memory
If TESTEE refuses a call, the exit code tells the outcome of the refusal. With --against, this holds if both testees
refuse the call. If only one testee refuses the call, the exit code is 1. If the FILE of --calls or the .bpte
file has no calls, the exit code is 4.

)";

struct RunCommand {
  std::string program, method, calls, output_dir, with = "reference", against, golden, packed_cache;
  std::vector<fs::path> data;
  std::vector<std::string> inputs;
  Budget::Limits limits;
  std::optional<Int> instructions = {};
  Int timeout = call_seconds;  // seconds of processor time
  files::Tolerance tolerance = hosts::bundle_tolerance;
  std::string payload = "folded";
  bool trace = false, json = false, map = true, share_arenas = false;
};

// A request, the budget of all its work, and the testees that do the work.
struct Session {
  const RunCommand& request;
  files::Access access{Budget(request.limits), request.map};
  text::Output out{&std::cout, access.budget};
  ReportOptions report_options{out, request.json, request.trace};
  ProgramRunners with{request.with, request.golden, timeout()};
  std::unique_ptr<ProgramRunners> against =
      request.against.empty() ? nullptr : std::make_unique<ProgramRunners>(request.against, request.golden, timeout());
  hosts::ProgramAtPath at = {};  // the program as a file, for testees that read files themselves

  RuntimeOptions options() const {
    RuntimeOptions options;
    options.budget = access.budget, options.instructions = request.instructions.value_or(options.instructions);
    options.share_arenas = request.share_arenas, options.payload_form = payload_form(request.payload);
    return options;
  }
  std::chrono::seconds timeout() const { return std::chrono::seconds(request.timeout); }
};

// -- what comes in ------------------------------------------------------------------------------------------------

bool is_quoted(std::string_view s) { return s.size() >= 2 && (s[0] == '"' || s[0] == '\'') && s.front() == s.back(); }

Value scalar_value(const text::Number& number, const std::string& text_of_it) {
  if (std::holds_alternative<Bits>(number))
    throw Fault(Outcome::malformed, "run.input", concat(text::Quoted{text_of_it}, " is no integer of 64 bits"));
  if (const bool* b = std::get_if<bool>(&number)) return *b;
  if (const Int* n = std::get_if<Int>(&number)) return *n;
  return std::get<double>(number);
}

Value input_in(const std::string& argument, const files::Access& access) {
  if (argument == "none") return std::monostate();
  if (is_quoted(argument)) return argument.substr(1, argument.size() - 2);
  if (const auto number = text::number_of(argument)) return scalar_value(*number, argument);
  return files::read_npy(argument, access);
}

// -- what goes out ------------------------------------------------------------------------------------------------

fs::path output_file(const std::string& folder, std::size_t i) { return fs::path(folder) / fmt::format("{}.npy", i); }

// Writes tensors into the folder, if one is given.
void write_outputs(const std::vector<Value>& outputs, const std::string& folder) {
  if (folder.empty()) return;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (const Tensor* tensor = std::get_if<Tensor>(&outputs[i]))
      files::write_file(output_file(folder, i), files::encode_npy(*tensor));
}

text::Json output_json(const Value& value, const std::string& folder, std::size_t i) {
  const Tensor* tensor = std::get_if<Tensor>(&value);
  if (!tensor || folder.empty()) return text::to_json(value, {});
  text::Json json = text::to_json(Tensor{tensor->dtype, tensor->sizes, tensor->dim_order, {}});
  json.erase("data");
  json["file"] = output_file(folder, i).string();
  return json;
}

std::string output_text(const Value& value, const std::string& folder, std::size_t i) {
  constexpr Int shown = 16;
  const Tensor* tensor = std::get_if<Tensor>(&value);
  if (!tensor) return text::literal(value, shown);
  return fmt::format("{}  {}", describe(*tensor),
                     folder.empty() ? text::literal(*tensor, shown) : text::printable(output_file(folder, i).string()));
}

// -- one call -----------------------------------------------------------------------------------------------------

void require_inputs(const pte::ExecutionPlan& plan, std::size_t given) {
  const std::size_t wanted = format::size_of(plan.inputs());
  if (given == wanted) return;
  std::string all;
  for (const std::string& line : hosts::wants(plan)) all += (all.empty() ? ": --input " : ", --input ") + line;
  throw broken("R4", {nullptr, format::text_of(plan.name()), -1, true}, "the method wants ", wanted,
               wanted == 1 ? " input, but " : " inputs, but ", given, " came", all);
}

// The testee that runs the program, with state from call to call, and the testee that it is compared with.
class Runs {
 public:
  Runs(Session& session, const ProgramFiles& program, hosts::Tracer* tracer)
      : session_(session), program_(program), with_(session.with.begin(program, session.options(), tracer)) {
    if (!session.against) return;
    const bool judges = session.against->is_reference() && session.with.is_library();
    against_ = judges ? session.with.begin_judge(program, session.options())
                      : session.against->begin(program, session.options(), nullptr);
  }

  hosts::ProgramRunner& with() { return *with_; }
  std::string method_of(const hosts::ProgramCall& call) const {
    return call.method.empty() ? with_->default_method() : call.method;
  }

  hosts::CallResult run(hosts::ProgramCall& call) {
    if (!against_) return hosts::run_call(*with_, call);
    hosts::CallResult result = compare(call);
    done_.push_back(call);
    if (!result.agrees()) judge_delegates();
    return result;
  }

 private:
  hosts::CallResult compare(hosts::ProgramCall& call) {
    const std::string fails = std::exchange(call.fails, {});
    call.outputs.reset();
    hosts::CallResult other = hosts::run_call(*against_, call);
    if (other.violation) return other.mismatch = concat(session_.request.against, ": ", other.mismatch), other;
    if (!other.refusal) call.outputs = std::move(other.outputs);
    call.tolerance = session_.request.tolerance;
    hosts::CallResult result = hosts::run_call(*with_, call);
    if (result.refusal && other.refusal) return both_refused(call, fails, std::move(result), *other.refusal);
    if (result.refusal && !other.refusal) result.mismatch = concat("is refused: ", text::sentence(*result.refusal));
    if (other.refusal && !result.refusal && !result.violation)
      result.mismatch =
          concat("is answered, but ", session_.request.against, " refuses it: ", text::sentence(*other.refusal));
    result.refusal.reset();
    return result;
  }

  // Finds the first wrong node of each testee in the first call that differs.
  void judge_delegates() {
    for (hosts::ProgramCall& call : done_) call.method = method_of(call), call.outputs.reset();
    for (ProgramRunners* testee : {&session_.with, session_.against.get()}) testee->judge_delegates(program_, done_);
  }

  // A refusal is the expected result only where calls.json names its rule. Any other call was compared with nothing.
  hosts::CallResult both_refused(hosts::ProgramCall& call, const std::string& fails, hosts::CallResult result,
                                 const Fault& other) const {
    call.fails = fails;
    const auto differ = [&](const Fault& fault) { return !fails.empty() && fault.rule != fails; };
    result.mismatch.clear();
    if (differ(*result.refusal)) result.mismatch = concat("is refused by ", result.refusal->rule);
    if (differ(other)) result.mismatch = concat(session_.request.against, ": is refused by ", other.rule);
    if (!result.mismatch.empty()) result.mismatch += concat(", but is to be refused by ", text::Quoted{fails});
    return result;
  }

  Session& session_;
  ProgramFiles program_;
  std::unique_ptr<hosts::ProgramRunner> with_, against_;
  std::vector<hosts::ProgramCall> done_;  // if there are two testees
};

// The files of a program, which is in the file `whole`.
ProgramFiles program_files(Session& session, const File& whole, const File& program,
                           const std::vector<fs::path>& data) {
  fs::path file = session.request.program;
  const bool is_asked_for = session.with.is_runtime() || (session.against && session.against->is_runtime());
  if (is_asked_for) session.at = hosts::program_at_path(file, whole, program), file = session.at.path;
  return {hosts::valid_program(program, files::open_data_files(data, session.access)), file, data,
          session.request.packed_cache};
}

std::vector<Value> inputs_of(const Session& session, const pte::ExecutionPlan& plan) {
  require_inputs(plan, session.request.inputs.size());
  std::vector<Value> inputs;
  for (const std::string& input : session.request.inputs) inputs.push_back(input_in(input, session.access));
  return inputs;
}

void tell(Session& session, const std::string& method, const std::vector<Value>& outputs, const Trace& trace) {
  const std::string& folder = session.request.output_dir;
  if (!session.request.json) {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      session.out.print("{}: {}\n", i, output_text(outputs[i], folder, i));
    return write_text(session.with, session.out);
  }
  print_json(session.access.budget, [&](text::JsonOutput& out) {
    out.object([&] {
      out.field("outcome", "ok"), out.field("method", text::cut(method));
      out.list("outputs", [&] {
        for (std::size_t i = 0; i < outputs.size(); ++i) out.value(output_json(outputs[i], folder, i));
      });
      write_json(session.with, out);
      trace.write(out);
    });
  });
}

int tell(Session& session, const hosts::Violation& violation) {
  if (session.request.json)
    session.out.write(text::line_of(to_json(violation)) + '\n');
  else
    session.out.print("{}: {}\n", session.request.with, text::printable(hosts::sentence(violation)));
  return answers_differ;
}

// Prints the outputs, or with --against whether they agree.
int run_once(Session& session, const ProgramFiles& program) {
  const RunCommand& r = session.request;
  Trace trace(session.report_options);
  Runs runs(session, program, trace.tracer());
  hosts::ProgramCall call{r.method, {}, {}, {}, {}};
  const std::string method = runs.method_of(call);
  call.inputs = inputs_of(session, runs.with().plan(method));
  if (!r.output_dir.empty()) files::make_folder(r.output_dir);
  const hosts::CallResult result = runs.run(call);
  write_outputs(result.outputs, r.output_dir);
  if (session.against) {
    CallReport report(session.report_options);
    report.add(call, method, result);
    return report.finish(trace, session.with, session.against.get());
  }
  if (result.violation) return tell(session, *result.violation);
  if (result.refusal) throw *result.refusal;
  tell(session, method, result.outputs, trace);
  return exit_code(Outcome::ok);
}

int run_calls(Session& session, const File& file) {
  const RunCommand& r = session.request;
  hosts::ProgramCalls calls = hosts::read_calls(r.calls, session.access);
  Trace trace(session.report_options);
  Runs runs(session, program_files(session, file, hosts::program_in_file(file), r.data.empty() ? calls.data : r.data),
            trace.tracer());
  CallReport report(session.report_options);
  for (hosts::ProgramCall& call : calls.calls) {
    const hosts::CallResult result = runs.run(call);
    report.add(call, runs.method_of(call), result);
  }
  return report.finish(trace, session.with, session.against.get());
}

// Runs the cases of a bundle; with --method only the cases of this method.
int run_bundle(Session& session, const File& file) {
  const std::string& method = session.request.method;
  const BundleFile bundle = inspect::value_or_throw(open_bundle(file));
  const ProgramFiles program = program_files(session, file, program_of(bundle), session.request.data);
  Trace trace(session.report_options);
  CallReport report(session.report_options);
  if (!method.empty()) static_cast<void>(Runs(session, program, nullptr).with().plan(method));
  hosts::each_call(bundle, session.request.tolerance, [&](hosts::ProgramCall call) {
    if (!method.empty() && call.method != method) return;
    const hosts::CallResult result = Runs(session, program, trace.tracer()).run(call);
    report.add(call, call.method, result);
  });
  return report.finish(trace, session.with, session.against.get());
}

int run(const RunCommand& r) {
  Session session{r};
  if (r.trace && !session.with.traces())
    throw Fault(Outcome::unsupported, "testee",
                concat(r.with,
                       " does not tell of its instructions: --trace is for the reference, for libraries of kernels and "
                       "for runtimes that tell of their delegates"));
  if (r.instructions && session.with.is_runtime() && !adapters::optimized_for(r.with))
    throw Fault(Outcome::unsupported, "testee",
                concat(r.with,
                       " does not count its instructions: --max-instructions is for the reference, the optimized "
                       "runtime and libraries of kernels"));
  if (r.payload != "folded" && session.with.is_runtime() && (!session.against || session.against->is_runtime()))
    throw Fault(Outcome::unsupported, "testee",
                concat(r.with,
                       " chooses itself how it computes delegates: --payload is for the reference and libraries "
                       "of kernels; assay undelegate writes a program of either form"));
  for (const ProgramRunners* runners : {&session.with, session.against.get()})
    if (r.limits.bytes != Budget::Limits{}.bytes && runners && !runners->charges_memory())
      throw Fault(
          Outcome::unsupported, "testee",
          concat(runners->testee(),
                 " does not say what memory it takes: --max-bytes is for the reference, the optimized runtime and "
                 "libraries of kernels"));
  if (!r.packed_cache.empty() && !adapters::optimized_for(r.with) && !adapters::optimized_for(r.against))
    throw Fault(Outcome::unsupported, "testee",
                "--packed-cache is for the optimized runtime, which alone packs constants");
  const Budget::Scope scope(session.access.budget, "the run");
  const File file = files::open_file(r.program, session.access);
  const format::FileKind* kind = format::file_kind(file.bytes);
  if (kind == &format::data_kind)
    throw Fault(Outcome::invalid, "H2",
                concat(r.program, " is a data file: give it by --data, behind the program that wants it"));
  if (kind == &format::bundle_kind && r.inputs.empty() && r.calls.empty() && r.output_dir.empty())
    return run_bundle(session, file);
  if (!r.calls.empty()) return run_calls(session, file);
  return run_once(session, program_files(session, file, hosts::program_in_file(file), r.data));
}

void define_run(Options& options) {
  const auto r = std::make_shared<RunCommand>();
  options.add("PROGRAM", r->program, "Runs this .pte or .bpte file").required();
  options.add_each("--data", r->data, "FILE", "Loads the program with this .ptd file");
  const Option method =
      options.add("--method", r->method, "Runs this method; default: the only method, or forward if there are several")
          .value("METHOD");
  const Option input = options.add_each("--input", r->inputs, "VALUE", "Gives the method its next input");
  const Option output =
      options.add("--output-dir", r->output_dir, "Writes the outputs that are tensors to FOLDER as 0.npy, 1.npy, ...")
          .value("FOLDER");
  options
      .add("--calls", r->calls, "Makes the calls in FILE, and compares their outputs with the expected outputs in FILE")
      .value("FILE")
      .excludes(method)
      .excludes(input)
      .excludes(output);
  options.add("--with", r->with, runner_help).value("TESTEE").shows_default();
  options.add("--against", r->against, "Also runs the program on TESTEE, and compares the outputs of both testees")
      .value("TESTEE");
  options.add("--golden", r->golden, golden_help).value("FOLDER");
  options.add("--timeout", r->timeout, timeout_help).value("SECONDS").within(1, 86'400).shows_default();
  options
      .add("--rtol", r->tolerance.rtol,
           "Compares outputs with this relative tolerance; applies to a .bpte file and to --against")
      .value("RTOL")
      .shows_default();
  options
      .add("--atol", r->tolerance.atol,
           "Compares outputs with this absolute tolerance; applies to a .bpte file and to --against")
      .value("ATOL")
      .shows_default();
  options
      .add("--max-instructions", r->instructions,
           fmt::format("Refuses to execute more than N instructions in one call; default: {}",
                       RuntimeOptions{}.instructions))
      .value("N")
      .at_least(1);
  add_payload(options, r->payload);
  add_limits(options, r->limits);
  add_no_map(options, r->map);
  options.flag("--share-arenas", r->share_arenas,
               "If a method keeps state in an arena, lets all methods share this arena; without this option, methods "
               "share only state that has a name; the testee executorch always shares such arenas");
  options
      .add("--packed-cache", r->packed_cache,
           "Keeps the packed constants of the optimized runtime in FOLDER for later processes; use one folder for each "
           "program")
      .value("FOLDER");
  options.flag("--trace", r->trace,
               "Prints what each instruction reads and writes; of the official runtime, only what each delegate reads "
               "and writes");
  options.flag("--json", r->json, "Prints JSON");
  options.details(concat(run_details, runner_kinds));
  options.action([r] { return refusals_as_json(r->json, [&] { return run(*r); }); });
}

const Registered registered_run(
    {"run",
     Group::programs,
     "Runs a program, and compares its outputs with expected outputs",
     define_run,
     {{"assay run model.pte --input x.npy --output-dir out",
       "runs a call on the reference, and writes the outputs to the folder out"},
      {"assay run model.pte --data weights.ptd --method decode --input token.npy --input 3 --trace",
       "also prints what each instruction reads and writes"},
      {"assay run model.pte --calls calls.json", "makes calls, and compares their outputs"},
      {"assay run model.bpte --rtol 1e-4", "runs the cases of a bundled program"},
      {"assay run model.pte --input x.npy --with executorch --against reference --rtol 1e-4",
       "compares the official runtime with the reference"},
      {"assay run model.pte --input x.npy --with optimized", "runs the program on the optimized runtime"},
      {"assay run model.pte --input x.npy --with optimized:relaxed",
       "runs the program with relaxed arithmetic: faster, within wider error bounds (spec/numerics.md)"},
      {"assay run model.pte --with optimized --packed-cache kept", "keeps packed constants for the next process"}}});

}  // namespace
}  // namespace assay::command

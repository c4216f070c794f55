#include <fmt/chrono.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "bench/engines.h"
#include "bench/process.h"
#include "bench/results.h"
#include "command/command.h"
#include "command/libraries.h"
#include "command/output_file.h"
#include "command/runs.h"

namespace assay::command {
namespace {

constexpr const char* bench_details =
    R"(With ENGINE=FILE, ENGINE runs FILE in place of PROGRAM. assay looks for FILE in the current folder, then in the
folder of PROGRAM. The engines executorch and executorch+xnnpack are the same: both use XNNPACK.

If PROGRAM is a .bpte file, its first case gives the inputs and the expected outputs. Otherwise, if the folder of PROGRAM
has a file calls.json, the first call in calls.json gives them. Otherwise the inputs are random. Without expected outputs, assay compares the outputs with those of the engine of --with. If FILE has an input that PROGRAM
lacks, assay keeps state in this input. Its elements are zero at the beginning.

A server of the wire protocol is an engine, too. It computes outside of this process, for example on a board, and
receives PROGRAM, or FILE, over its connection. Its own clock measures the times, if it has one. assay prints the memory
that the server reports. If the server counts instructions in place of time, assay prints no ratio. --threads has no
effect on it. A command after "--" is the last engine on the line. Quote a command to write more options after it:
--against '-- ssh board assay serve optimized'.

All other engines run in one process, on as many processors as --threads states. assay times the engines in three
phases:
  1. assay loads each engine and runs the program once.
  2. The engines alternate run by run in random order, so that no engine finds its own data in a cache.
  3. Each engine runs alone, several times in a row.
Each round of the second phase gives a ratio: the time of an engine divided by the time of the engine of --with. assay
prints the median of these ratios and, in parentheses, their quartiles.

)";

struct BenchCommand {
  std::vector<std::string> programs, against, conformance;
  std::string with = "optimized", json_file, html_file;
  std::optional<double> rtol, atol;
  int threads = 1;
  bool json = false;
  bench::Effort effort;
};

std::string processor_name() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

std::vector<bench::Contender> contenders(const BenchCommand& r) {
  std::vector<bench::Contender> all{bench::contender(r.with)};
  for (const std::string& other : r.against) all.push_back(bench::contender(other));
  return all;
}

bench::ProgramResult result(const BenchCommand& r, const std::string& program,
                            const std::vector<verdict::RunFile>& runs) {
  bench::Subject subject = bench::subject_of(program);
  subject.settings.threads = r.threads;
  subject.tolerance = {r.rtol.value_or(subject.tolerance.rtol), r.atol.value_or(subject.tolerance.atol)};
  bench::ProgramResult result{program, subject.inputs_from, subject.tolerance, {}, {}};
  result.engines = bench::measure(subject, contenders(r), r.effort, open_engine);
  if (!runs.empty())
    for (const bench::Measurement& m : result.engines) result.judged.push_back(bench::judged(m, runs));
  return result;
}

// The exit code of the first engine that fails; if none fails, whether all outputs agree.
int exit_code_of(const bench::Results& results) {
  bool agree = true;
  for (const bench::ProgramResult& program : results.programs)
    for (const bench::Measurement& m : program.engines) {
      if (m.failure.outcome != Outcome::ok) return exit_code(m.failure.outcome);
      agree = agree && std::ranges::all_of(m.outputs, &files::Comparison::agrees);
    }
  return agree ? exit_code(Outcome::ok) : answers_differ;
}

using Write = void (*)(std::ostream&, const bench::Results&);
void write_json(std::ostream& out, const bench::Results& results) { out << text::line_of(to_json(results)) << '\n'; }

int bench_programs(const BenchCommand& r) {
  std::vector<verdict::RunFile> runs;
  for (const std::string& file : r.conformance) runs.push_back(open_run(file));
  std::vector<std::pair<std::unique_ptr<OutputFile>, Write>> files;
  const auto open = [&](const std::string& file, Write write) {
    if (!file.empty()) files.emplace_back(std::make_unique<OutputFile>(file), write);
  };
  open(r.json_file, write_json), open(r.html_file, bench::write_html);
  bench::Results results{processor_name(),
                         fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr))),
                         bench::keep_on_processors(r.threads),
                         r.effort,
                         {}};
  for (const std::string& program : r.programs) results.programs.push_back(result(r, program, runs));
  for (const auto& [file, write] : files) write(file->stream(), results), file->finish();
  (r.json ? write_json : bench::write_text)(std::cout, results);
  return exit_code_of(results);
}

void define_bench(Options& options) {
  const auto r = std::make_shared<BenchCommand>();
  options.add("PROGRAM", r->programs, "Runs these .pte or .bpte files").required();
  options.add("--with", r->with, engine_help).value("ENGINE[=FILE]").shows_default();
  options.add_each("--against", r->against, "ENGINE[=FILE]", "Compares ENGINE with the engine of --with");
  options.add("--threads", r->threads, "Gives each engine N threads").value("N").at_least(1).shows_default();
  options
      .add("--seconds", r->effort.seconds,
           "Lets the engines alternate for SECONDS, and then run one by one for SECONDS in total")
      .value("SECONDS")
      .at_least(0)
      .shows_default();
  options.add_each("--conformance", r->conformance, "RUN",
                   "Prints, beside each engine, the failures of its kernels; RUN is the file that assay kernels -o "
                   "or assay runtime -o wrote for this engine");
  options
      .add("--rtol", r->rtol,
           "Compares outputs with this relative tolerance; default: the tolerance in calls.json, "
           "or 1e-4 if there is none")
      .value("RTOL");
  options
      .add("--atol", r->atol,
           "Compares outputs with this absolute tolerance; default: the tolerance in calls.json, "
           "or 1e-5 if there is none")
      .value("ATOL");
  options.flag("--json", r->json, "Prints JSON, with times in seconds");
  options.add("-o", r->json_file, "Writes JSON to FILE").value("FILE");
  options.add("--html", r->html_file, "Writes a web page with plots to FILE").value("FILE");
  options.details(concat(bench_details, engine_kinds));
  options.action([r] { return bench_programs(*r); });
}

const Registered registered_bench(
    {"bench",
     Group::programs,
     "Measures how long engines take to run the same programs",
     define_bench,
     {{"assay bench model.pte", "times the optimized runtime"},
      {"assay bench model.pte --against executorch --html bench.html", "compares it with another engine"},
      {"assay bench models/*/program.pte --against executorch=xnnpack.pte --against onnxruntime=model.onnx",
       "gives each engine its own file"},
      {"assay bench model.pte --against executorch --threads 2 --conformance results.jsonl --html bench.html",
       "also shows what a run found wrong in each engine"},
      {"assay bench model.pte --against tcp:board:4096 --against serial:/dev/ttyACM0",
       "compares it with two boards"}}});

}  // namespace
}  // namespace assay::command

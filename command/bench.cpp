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

namespace assay {
namespace {

constexpr const char* bench_details =
    R"(ENGINE=FILE runs another file, which is looked for as it is named, then beside PROGRAM. The engine executorch uses
its XNNPACK. Inputs and expected outputs are those of the first call in calls.json beside PROGRAM. Without that file,
inputs are random, and outputs are compared with those of --with. Inputs that only FILE has are state that begins with
zeros.

All engines are in this process, on as many processors as threads. Each is loaded and run once, one after the other.
Then they alternate run by run in random order, so that each finds caches that the others have used. Then each runs in
warm bursts by itself. A ratio compares the times of one round of alternating runs.)";

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

bench::ProgramResult result(const BenchCommand& r, const std::string& program, const std::vector<RunFile>& runs) {
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
      agree = agree && std::ranges::all_of(m.outputs, &Comparison::agrees);
    }
  return agree ? exit_code(Outcome::ok) : answers_differ;
}

using Write = void (*)(std::ostream&, const bench::Results&);
void write_json(std::ostream& out, const bench::Results& results) { out << line_of(to_json(results)) << '\n'; }

int bench_programs(const BenchCommand& r) {
  std::vector<RunFile> runs;
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
  options.add("PROGRAM", r->programs, "A .pte file").required();
  options.add("--with", r->with, engine_help).shows_default().value("ENGINE[=FILE]");
  options.add_each("--against", r->against, "ENGINE[=FILE]", "Another engine, to compare with");
  options.add("--threads", r->threads, "Threads of each engine").shows_default().positive();
  options.add("--seconds", r->effort.seconds, "How long the engines alternate, and how long each runs in bursts")
      .shows_default()
      .not_negative();
  options.add_each("--conformance", r->conformance, "RUN",
                   "A run that assay kernels -o wrote: print beside each engine what it found");
  options.add("--rtol", r->rtol, "Relative tolerance of outputs [that of calls.json, or 1e-4]");
  options.add("--atol", r->atol, "Absolute tolerance of outputs [that of calls.json, or 1e-5]");
  options.flag("--json", r->json, "Print JSON; times are in seconds");
  options.add("-o", r->json_file, "Write JSON to this file");
  options.add("--html", r->html_file, "Write a page with plots to this file");
  options.details(bench_details);
  options.action([r] { return bench_programs(*r); });
}

const Registered registered_bench(
    {"bench",
     Group::programs,
     "Measures how long engines take for the same calls",
     define_bench,
     {{"assay bench model.pte", "the optimized runtime alone"},
      {"assay bench model.pte --against executorch --html bench.html", "run by run beside another engine"},
      {"assay bench models/*/program.pte --against executorch=xnnpack.pte --against onnxruntime=model.onnx",
       "each engine with a file of its own"},
      {"assay bench model.pte --against executorch --threads 2 --conformance results.jsonl --html bench.html",
       "with what a run found wrong in each"}}});

}  // namespace
}  // namespace assay

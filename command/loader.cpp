#include <filesystem>
#include <iostream>
#include <memory>

#include "command/addresses.h"
#include "command/command.h"
#include "command/libraries.h"
#include "command/limits.h"
#include "command/machine.h"
#include "command/output_file.h"
#include "command/run_log.h"
#include "conformance/corrupt/complete.h"
#include "conformance/files/file.h"
#include "conformance/loaders/judgement.h"
#include "conformance/runner/shard.h"
#include "conformance/sandbox/child.h"
#include "conformance/testee/binaries.h"
#include "conformance/text/digest.h"
#include "conformance/text/printable.h"
#include "conformance/wire/address.h"

namespace assay::command {
namespace {

namespace fs = std::filesystem;
using corrupt::Attempt;

constexpr const char* loader_details =
    R"(TESTEE loads files that assay corrupt makes:
  - files that differ from a program of --program in one place;
  - files that differ from a sample in one place. The samples are a plain program that every runtime should load, and
    two programs that together have every field of the schema;
  - the cases of rules. For each rule, these are files that break the rule, and files that just meet it.
With --payloads, TESTEE loads only the cases of the rules of XNNPACK payloads (area X): programs with a delegate.

TESTEE must not crash or hang. It must refuse each file that breaks a rule. It must accept each file that means the
same as the unchanged program. A refusal is a failure only if TESTEE accepts the control of the file. The control is
the unchanged program or, for a case of a rule, the file that just meets the rule. If TESTEE refuses the control, the
verdict is unsupported. spec/loader.md states the exceptions to these requirements. TESTEE runs in child processes that
limit its time, memory and output.

Loaders:
  reference              assay's reference implementation
  optimized              assay's optimized runtime
  executorch             ExecuTorch's official loader with all its checks
  executorch:minimal     ExecuTorch's official loader with the fewest checks
  executorch+xnnpack     ExecuTorch's official loader with all its checks and with XNNPACK
  ./lib.so               a shared library that exports the functions of assay/loader.h
  ./lib.so:VARIANT       a variant that this library exports
  -- CMD                 a command that loads one file; write it last

In the command CMD, assay replaces {} by the path of the file, and {data} by the paths of the data files. Exit code 0
means that the command accepts the file. A signal, or an exit code of 128 plus the number of a signal, means that the
command crashed. Any other exit code means that the command refuses the file.

)";

struct LoaderCommand {
  RunRequest run;
  std::string table;
  std::vector<fs::path> programs, data;
  std::size_t places = 2;
  loaders::LoaderSettings settings;
  loaders::LoadLimits limits;
  std::int64_t seconds = file_seconds;
  bool programs_only = false, payloads = false;
};

std::vector<Attempt> cases_of_payloads() {
  std::vector<Attempt> all;
  corrupt::each_payload_case([&](const Attempt& a) { return all.push_back(a), true; });
  return all;
}

// The cases of rules are files of all kinds. The control of a case comes before it, and is of the same kind.
std::vector<Attempt> cases_of_programs() {
  std::vector<Attempt> all;
  const format::FileKind* kind = &format::program_kind;
  corrupt::each_case([&](const Attempt& a) {
    if (a.name == a.control) kind = format::file_kind(a.files.file);
    if (kind == &format::program_kind) all.push_back(a);
    return true;
  });
  return all;
}

// A program: its name, its digest, and the files that are made of it.
struct Source {
  std::string name, digest;
  corrupt::Corruptions corruptions;
};

// A run of `assay loader`.
class Run {
 public:
  explicit Run(LoaderCommand& r) : request_(r), interrupted_(watch_interrupts()) {
    constexpr std::string_view command = "-- ";
    if (const std::string& testee = r.run.testee; testee.starts_with(command)) {
      const auto words = wire::words_of(std::string_view(testee).substr(command.size()));
      facts_ = facts_of_testee(wire::quoted(words), testee::digests_of_command(words), {});
      isolated_loader_ = loaders::load_by_command(words, r.limits);
    } else {
      loader_ = loaders::load_loader(testee, executable_folder(), r.settings);
      facts_ = facts_of_testee(loader_->name(), {}, loader_->binaries());
      isolated_loader_ = loaders::load_in_children(*loader_, r.limits);
    }
    plan();
  }

  int run() {
    RunLog log(request_.run, facts_, planned_);
    log.begin();
    log_ = &log;
    try {
      for (const Source& source : sources_) corruptions(source);
      cases();
    } catch (const sandbox::Interrupted&) {
    }
    for (const verdict::Defect& d : defects_.found()) log.add(d);
    log.finish();
    write_table();
    return log.exit_code("it accepts no file that has nothing wrong");
  }

 private:
  void plan() {
    std::vector<Bytes> data;
    for (const fs::path& file : request_.data) data.push_back(files::bytes_of_file(file));
    for (const fs::path& program : request_.programs) add_source(program.string(), files::bytes_of_file(program), data);
    if (request_.payloads) {
      cases_ = cases_of_payloads();
    } else if (!request_.programs_only) {
      for (auto& [name, file] : corrupt::sample_programs()) add_source(std::string(name), std::move(file), {});
      cases_ = cases_of_programs();
    }
    std::vector<std::string> ids;
    for (const Source& source : sources_)
      for (const std::string& name : source.corruptions.names()) ids.push_back(loaders::case_of(source.name, name));
    for (const Attempt& a : cases_) ids.push_back(loaders::case_of("", a.name));
    planned_ = ids.size();
    tell(runner::suite_digest(std::move(ids)));
  }

  void add_source(const std::string& name, Bytes file, std::vector<Bytes> data) {
    std::string digest = text::digits_of(text::digest(file));
    sources_.push_back(
        {name, std::move(digest), corrupt::Corruptions(std::move(file), std::move(data), request_.places)});
  }

  void tell(std::string digest) {
    facts_.insert(facts_.begin() + 2, {"suite", "loader"});
    for (const Source& source : sources_) facts_.push_back({source.name, source.digest});
    facts_.push_back({"places", std::to_string(request_.places)});
    facts_.push_back({"executes", request_.settings.executes ? "true" : "false"});
    facts_.push_back({"timeout", concat(request_.seconds, " s of processor time")});
    facts_.push_back(addresses_fact());
    facts_.push_back({"digest", std::move(digest)});
    facts_.push_back({"machine", machine()});
  }

  void corruptions(const Source& source) {
    program_ = source.name;
    const corrupt::Original& original = source.corruptions.original();
    const loaders::LoadOutcome control =
        isolated_loader_->load(std::vector{corrupt::Files{original.file(), original.data()}}).front();
    controls_ = {{"", control.end == loaders::LoadOutcome::End::accepted}};
    if (!controls_[""])
      std::cerr << "assay: " << request_.run.testee << " does not accept " << program_
                << " itself: " << text::printable(control.words) << '\n';
    source.corruptions.each([&](const Attempt& a) { return add(a), true; });
    take();
  }

  void cases() {
    program_.clear(), controls_.clear();
    for (const Attempt& a : cases_) add(a);
    take();
  }

  void add(const Attempt& attempt) {
    constexpr std::size_t batch = 64;  // even: the control of a case is in its batch
    attempts_.push_back(attempt);
    if (attempts_.size() == batch) take();
  }

  void take() {
    if (interrupted_) throw sandbox::Interrupted();
    std::vector<corrupt::Files> files;
    for (Attempt& a : attempts_) files.push_back(a.files);
    const std::vector<loaders::LoadOutcome> load_outcomes = isolated_loader_->load(files);
    for (std::size_t i = 0; i < load_outcomes.size(); ++i) {
      const Attempt& a = attempts_[i];
      if (a.name == a.control) controls_[a.name] = load_outcomes[i].end == loaders::LoadOutcome::End::accepted;
      add(loaders::record_of(facts_[1].text, program_, a, load_outcomes[i], controls_[a.control]));
    }
    attempts_.clear();
  }

  void add(verdict::Record r) {
    defects_.add(r), ends_.add(r);
    log_->add(std::move(r));
  }

  void write_table() const {
    if (request_.table.empty()) return;
    OutputFile table(request_.table);
    table.stream() << ends_.markdown();
    table.finish();
  }

  LoaderCommand& request_;
  const std::atomic<bool>& interrupted_;
  std::unique_ptr<loaders::Loader> loader_;
  std::unique_ptr<loaders::IsolatedLoader> isolated_loader_;
  verdict::Facts facts_;
  std::vector<Source> sources_;
  std::vector<Attempt> cases_;
  std::size_t planned_ = 0;
  RunLog* log_ = nullptr;
  std::string program_;
  std::map<std::string, bool> controls_;  // for each control file, whether TESTEE accepted it
  std::vector<Attempt> attempts_;
  loaders::LoaderDefects defects_;
  loaders::EndsOfFiles ends_;
};

void define_loader(Options& options) {
  const auto r = std::make_shared<LoaderCommand>();
  r->run.subject = "rule";
  options.add("TESTEE", r->run.testee, "The loader that gets the files; the loaders are listed below").required();
  const Option program = options.add_each("--program", r->programs, "FILE",
                                          "Makes files from this program, each with a change in one place");
  options.add_each("--data", r->data, "FILE", "Loads each program of --program with this .ptd file");
  options
      .add("--places", r->places,
           "If a program has many places with the same field, such as the sizes of tensors, changes only N of these "
           "places; 0 changes all")
      .value("N")
      .shows_default();
  const Option programs_only =
      options.flag("--programs-only", r->programs_only,
                   "Uses only files made from --program; leaves out the samples and the cases of rules");
  options
      .flag("--payloads", r->payloads,
            "Uses only the cases of the rules of XNNPACK payloads; TESTEE must have the backend")
      .excludes(program)
      .excludes(programs_only);
  options.flag("--execute", r->settings.executes,
               "Also executes the methods of accepted programs, with zeros as inputs");
  options
      .add("--timeout", r->seconds,
           "Stops TESTEE when one file takes more than SECONDS of processor time, or ten times as much wall-clock time")
      .value("SECONDS")
      .within(1, 3600)
      .shows_default();
  options.add("--max-memory", r->limits.memory, "Limits each process of TESTEE to BYTES of memory; 0 sets no limit")
      .value("BYTES")
      .shows_default();
  options
      .add("--table", r->table,
           "Writes a Markdown table to FILE with the number of files for each rule and outcome; the outcomes are "
           "refused, accepted, exhausted, crashed, hung, and untested (if the verdict is unsupported)")
      .value("FILE");
  add_run_options(options, r->run);
  options.details(concat(loader_details, run_exit_codes));
  options.action([r] {
    r->limits.time = std::chrono::seconds(r->seconds), r->limits.interrupted = &watch_interrupts();
    return Run(*r).run();
  });
}

const Registered registered_loader(
    {"loader",
     Group::judging,
     "Judges a loader of programs by files that are changed in one place",
     define_loader,
     {{"assay loader executorch --program model.pte",
       "judges the official loader by files that are made from a program"},
      {"assay loader executorch+xnnpack --payloads --table table.md",
       "judges the official loader by broken payloads of XNNPACK, and writes a table of rules and outcomes"},
      {"assay loader ./libmine.so --program model.pte", "judges your own loader (doc/attack_your_loader.md)"},
      {"assay loader --program model.pte -o run.jsonl -- ./my_runner {}", "judges a command that loads one file"}},
     true});

}  // namespace
}  // namespace assay::command

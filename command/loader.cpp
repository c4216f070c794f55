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
#include "conformance/wire/address.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using corrupt::Attempt;

constexpr const char* loader_details =
    R"(TESTEE is given files that are wrong in one place (assay corrupt): files made of each PROGRAM and of samples (a plain
program that any runtime should load, and two that have every field of the schema), and the cases of rules.
TESTEE is reference; optimized; executorch (which checks what it can); executorch:minimal; ./lib.so, a library that
exports the functions of assay/loader.h; or, at the end of the line, -- and a command. {} in the command is the file,
{data} the data files. Exit code 0 of the command means that the file is accepted, a signal (or 128 and its number) that
the command crashed, any other code that the file is refused. Each runs in child processes with limits of time, memory
and output.

TESTEE must not crash or hang, must refuse a file that breaks a rule, and must accept a file that means the same as a
program that it accepts. A refusal is judged as unsupported if TESTEE also refuses the program of which the file was
made, or the case that keeps the rule. Exit code 0: no failure but the known ones, 1: other failures, 5: nothing was
judged.)";

struct LoaderCommand {
  RunRequest run;
  std::string table;
  std::vector<fs::path> programs, data;
  std::size_t places = 2;
  LoaderSettings settings;
  LoadLimits limits;
  std::int64_t seconds = file_seconds;
  bool programs_only = false;
};

// The cases of rules are files of all kinds. The control of a case comes before it, and is of the same kind.
std::vector<Attempt> cases_of_programs() {
  std::vector<Attempt> all;
  const FileKind* kind = &format::program_kind;
  corrupt::each_case([&](const Attempt& a) {
    if (a.name == a.control) kind = file_kind(a.files.file);
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
  explicit Run(LoaderCommand& r) : request_(r), interrupted_(leave_gently()) {
    constexpr std::string_view command = "-- ";
    if (const std::string& testee = r.run.testee; testee.starts_with(command)) {
      const auto words = wire::words_of(std::string_view(testee).substr(command.size()));
      facts_ = facts_of_testee(wire::quoted(words), digests_of_command(words), {});
      isolated_loader_ = load_by_command(words, r.limits);
    } else {
      loader_ = load_loader(testee, executable_folder(), r.settings);
      facts_ = facts_of_testee(loader_->name(), {}, loader_->binaries());
      isolated_loader_ = load_in_children(*loader_, r.limits);
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
    } catch (const Interrupted&) {
    }
    for (const Defect& d : defects_.found()) log.add(d);
    log.finish();
    write_table();
    return log.verdict("it accepts no file that has nothing wrong");
  }

 private:
  void plan() {
    std::vector<Bytes> data;
    for (const fs::path& file : request_.data) data.push_back(bytes_of_file(file));
    for (const fs::path& program : request_.programs) add_source(program.string(), bytes_of_file(program), data);
    if (!request_.programs_only) {
      for (auto& [name, file] : corrupt::sample_programs()) add_source(std::string(name), std::move(file), {});
      cases_ = cases_of_programs();
    }
    std::vector<std::string> ids;
    for (const Source& source : sources_)
      for (const std::string& name : source.corruptions.names()) ids.push_back(case_of(source.name, name));
    for (const Attempt& a : cases_) ids.push_back(case_of("", a.name));
    planned_ = ids.size();
    tell(suite_digest(std::move(ids)));
  }

  void add_source(const std::string& name, Bytes file, std::vector<Bytes> data) {
    std::string digest = digits_of(assay::digest(file));
    sources_.push_back(
        {name, std::move(digest), corrupt::Corruptions(std::move(file), std::move(data), request_.places)});
  }

  void tell(std::string digest) {
    facts_.insert(facts_.begin() + 2, {"suite", "loader"});
    for (const Source& source : sources_) facts_.push_back({source.name, source.digest});
    facts_.push_back({"places", std::to_string(request_.places)});
    facts_.push_back({"executes", request_.settings.executes ? "true" : "false"});
    facts_.push_back({"timeout", text(request_.seconds, " s of processor time")});
    facts_.push_back(addresses_fact());
    facts_.push_back({"digest", std::move(digest)});
    facts_.push_back({"machine", machine()});
  }

  void corruptions(const Source& source) {
    program_ = source.name;
    const corrupt::Original& original = source.corruptions.original();
    const LoadOutcome control =
        isolated_loader_->load(std::vector{corrupt::Files{original.file(), original.data()}}).front();
    controls_ = {{"", control.end == LoadOutcome::End::accepted}};
    if (!controls_[""])
      std::cerr << "assay: " << request_.run.testee << " does not accept " << program_ << " itself: " << control.words
                << '\n';
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
    if (interrupted_) throw Interrupted();
    std::vector<corrupt::Files> files;
    for (Attempt& a : attempts_) files.push_back(a.files);
    const std::vector<LoadOutcome> load_outcomes = isolated_loader_->load(files);
    for (std::size_t i = 0; i < load_outcomes.size(); ++i) {
      const Attempt& a = attempts_[i];
      if (a.name == a.control) controls_[a.name] = load_outcomes[i].end == LoadOutcome::End::accepted;
      add(record_of(facts_[1].text, program_, a, load_outcomes[i], controls_[a.control]));
    }
    attempts_.clear();
  }

  void add(Record r) {
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
  std::unique_ptr<Loader> loader_;
  std::unique_ptr<IsolatedLoader> isolated_loader_;
  Facts facts_;
  std::vector<Source> sources_;
  std::vector<Attempt> cases_;
  std::size_t planned_ = 0;
  RunLog* log_ = nullptr;
  std::string program_;
  std::map<std::string, bool> controls_;  // by name, whether TESTEE accepted it
  std::vector<Attempt> attempts_;
  LoaderDefects defects_;
  EndsOfFiles ends_;
};

void define_loader(Options& options) {
  const auto r = std::make_shared<LoaderCommand>();
  r->run.subject = "rule";
  options.add("TESTEE", r->run.testee, "What takes the files").required();
  options.add_each("--program", r->programs, "FILE", "A program of which files are made");
  options.add_each("--data", r->data, "FILE", "A .ptd file with which all of these programs are loaded");
  options
      .add("--places", r->places, "Change at most this many of places that are alike, such as sizes of tensors; 0: all")
      .shows_default();
  options.flag("--programs-only", r->programs_only, "Leave out the samples and the cases of rules");
  options.flag("--execute", r->settings.executes, "Run also the methods of accepted programs, on zeros");
  options.add("--timeout", r->seconds, "Seconds of processor time for a file").shows_default().within(1, 3600);
  options.add("--max-memory", r->limits.memory, "Bytes that a process may take; 0: any number").shows_default();
  options.add("--table", r->table, "Write how many files of each rule came to which end, as Markdown").value("FILE");
  add_run_options(options, r->run);
  options.details(loader_details);
  options.action([r] {
    r->limits.time = std::chrono::seconds(r->seconds);
    return Run(*r).run();
  });
}

const Registered registered_loader({"loader",
                                    Group::judging,
                                    "Judges what loads programs, by files that are wrong in one place",
                                    define_loader,
                                    {{"assay loader executorch --program model.pte", "files made of a program"},
                                     {"assay loader ./libmine.so --program model.pte",
                                      "a library that exports assay/loader.h (doc/attack_your_loader.md)"},
                                     {"assay loader --program model.pte -o run.jsonl -- ./my_runner {}",
                                      "a command that takes a file"}},
                                    true});

}  // namespace
}  // namespace assay

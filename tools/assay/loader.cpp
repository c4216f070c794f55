#include <filesystem>
#include <iostream>
#include <memory>

#include "conformance/corrupt/complete.h"
#include "conformance/loaders/judgement.h"
#include "conformance/programs/file.h"
#include "conformance/testees/wire/address.h"
#include "conformance/text/json.h"
#include "tools/assay/libraries.h"
#include "tools/assay/output_file.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using corrupt::Attempt;

constexpr const char* footer =
    R"(TESTEE takes files that are wrong in one place (assay corrupt): of each PROGRAM, of samples, a plain one that any runtime should load
and two that have every field of the schema, and the cases of rules. It is reference, optimized, executorch
(which checks what it can), executorch:minimal, ./lib.so, a library that exports what assay/loader.h declares, or at the end of
the line -- and a command, which takes the file where its words have {} and data files where they have {data}: exit code 0 says
that it is accepted, a signal, or 128 and its number, that it crashed, anything else that it is refused. Each runs in children
with limits of time, memory and output.

What it does wrong, the worst first: damage (a signal, damaged memory), aborted, hung, accepted (what breaks a rule), refused
(what says the same as a program that it accepts). A refusal says nothing (untested) where the testee refuses also the program
of which the file was made, or the case that keeps the rule. Exit code 1: there is something wrong.

Examples:
  assay loader executorch --program model.pte
  assay loader --program model.pte -o lines.jsonl -- ./my_runner {})";

struct Request {
  std::string testee, output, markdown;
  std::vector<fs::path> programs, data;
  std::size_t places = 2;
  LoaderSettings settings;
  TakerLimits limits;
  std::int64_t seconds = 2;
  bool json = false, programs_only = false;
};

Bytes contents(const fs::path& path) {
  const File file = open_file(path);
  return {file.bytes.begin(), file.bytes.end()};
}

Json json_of(const LoaderLine& line) {
  Json json{{"program", line.program},    {"name", line.name},
            {"subject", line.subject},    {"expected", corrupt::prefix(line.expected)},
            {"rules", line.rules},        {"bytes", line.size},
            {"end", word(line.fate.end)}, {"verdict", word(line.tier)}};
  if (line.fate.failure != Class::none) json["class"] = name(line.fate.failure);
  if (!line.fate.words.empty()) json["message"] = line.fate.words;
  return json;
}

// All that is tried, and what is said of it.
class Run {
 public:
  explicit Run(const Request& r) : request_(r) {
    constexpr std::string_view command = "-- ";
    if (r.testee.starts_with(command)) {
      taker_ = take_by_command(wire::words_of(std::string_view(r.testee).substr(command.size())), r.limits);
    } else {
      loader_ = load_loader(r.testee, executable_folder(), r.settings);
      taker_ = take_in_children(*loader_, r.limits);
    }
    if (!r.output.empty()) lines_.emplace(r.output);
  }

  int run() {
    std::vector<Bytes> data;
    for (const fs::path& file : request_.data) data.push_back(contents(file));
    for (const fs::path& program : request_.programs)
      corruptions(program.string(), corrupt::Corruptions(contents(program), data, request_.places));
    if (!request_.programs_only) samples();
    return finish();
  }

 private:
  void samples() {
    for (auto& [name, file] : corrupt::sample_programs())
      corruptions(std::string(name), corrupt::Corruptions(std::move(file), {}, request_.places));
    cases();
  }

  void corruptions(const std::string& program, const corrupt::Corruptions& all) {
    program_ = program;
    const corrupt::Original& original = all.original();
    const Fate control = taker_->take(std::vector{corrupt::Files{original.file(), original.data()}}).front();
    controls_ = {{"", control.end == Fate::End::accepted}};
    if (!controls_[""])
      std::cerr << "assay: " << request_.testee << " does not accept " << program << " itself: " << control.words
                << '\n';
    all.each([&](const Attempt& a) { return add(a), true; });
    take();
  }

  void cases() {
    program_.clear(), controls_.clear();
    corrupt::each_case([&](const Attempt& a) {
      if (is_program(a)) add(a);
      return true;
    });
    take();
  }

  // Cases are of all kinds of files; the control of one comes first, and says of which it is.
  bool is_program(const Attempt& a) {
    if (a.name == a.control) kind_ = file_kind(a.files.file);
    return kind_ == FileKind::program;
  }

  void add(const Attempt& attempt) {
    constexpr std::size_t batch = 64;  // even: the control of a case is in its batch
    attempts_.push_back(attempt);
    if (attempts_.size() == batch) take();
  }

  void take() {
    std::vector<corrupt::Files> files;
    for (Attempt& a : attempts_) files.push_back(a.files);
    std::vector<Fate> fates = taker_->take(files);
    for (std::size_t i = 0; i < fates.size(); ++i) {
      const Attempt& a = attempts_[i];
      if (a.name == a.control) controls_[a.name] = fates[i].end == Fate::End::accepted;
      judge(judged(program_, a, std::move(fates[i]), controls_[a.control]));
    }
    attempts_.clear();
  }

  void judge(const LoaderLine& line) {
    report_.add(line);
    if (lines_) lines_->stream() << line_of(json_of(line)) << '\n';
    if (request_.json) std::cout << line_of(json_of(line)) << '\n';
  }

  int finish() {
    if (lines_) lines_->finish();
    if (!request_.json) std::cout << text_of(report_);
    if (!request_.markdown.empty()) {
      OutputFile table(request_.markdown);
      table.stream() << markdown_of(report_);
      table.finish();
    }
    return report_.has_defects() ? answers_differ : 0;
  }

  const Request& request_;
  std::unique_ptr<Loader> loader_;
  std::unique_ptr<Taker> taker_;
  std::optional<OutputFile> lines_;
  std::string program_;
  std::map<std::string, bool> controls_;  // whether they were accepted
  FileKind kind_ = FileKind::program;     // of the present case
  std::vector<Attempt> attempts_;
  LoaderReport report_;
};

}  // namespace

void add_loader(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("loader", "Judges what takes programs by files that are wrong in one place");
  const auto r = std::make_shared<Request>();
  command->add_option("TESTEE", r->testee, "Who takes them")->required();
  const auto files = [&](const char* name, auto& to, const char* help) {
    command->add_option(name, to, help)->allow_extra_args(false)->type_name("FILE");
  };
  files("--program", r->programs, "A program of which files are made; once for each");
  files("--data", r->data, "A .ptd file with which all of these programs are loaded; once for each");
  command->add_option("--places", r->places, "Of places that are alike, as the sizes of tensors, only so many; 0: all")
      ->capture_default_str();
  command->add_flag("--programs-only", r->programs_only, "Leave out the samples and the cases of rules");
  command->add_flag("--execute", r->settings.executes, "Also run the methods of what is accepted, on zeros");
  command->add_option("--timeout", r->seconds, "Seconds of processor time for a file")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  command->add_option("--max-memory", r->limits.memory, "Bytes that a process may take; 0: any number")
      ->capture_default_str();
  command->add_option("-o,--output", r->output, "Write a line of JSON for each file")->type_name("FILE");
  command->add_option("--table", r->markdown, "Write how many files of each rule came to which end, as Markdown")
      ->type_name("FILE");
  command->add_flag("--json", r->json, "Print these lines instead of the report");
  command->footer(footer);
  command->callback([r, &exit_code] {
    r->limits.time = std::chrono::seconds(r->seconds);
    exit_code = Run(*r).run();
  });
}

}  // namespace assay

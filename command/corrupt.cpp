#include <filesystem>
#include <iostream>
#include <memory>

#include "command/command.h"
#include "command/output_file.h"
#include "conformance/corrupt/complete.h"
#include "conformance/corrupt/corruption.h"
#include "conformance/files/file.h"
#include "conformance/text/json.h"

namespace assay::command {
namespace {

namespace fs = std::filesystem;
using corrupt::Attempt;

constexpr const char* corrupt_details =
    R"(Each file differs from PROGRAM in one place: a number, an offset, a length, a slot of a table, the tag of a union, the
header, or the end of the file. Without PROGRAM the files are the cases of rules: for each rule, files that just meet
the rule, and files that break it. assay checks each file and gives its name a prefix, which tells what a loader must do
with the file:

  n_  refuse the file, because it breaks a rule of spec/format/rules.yaml
  y_  accept the file, because it means the same as PROGRAM
  i_  accept or refuse the file, without a crash: the file has another meaning, exceeds a limit, or needs an optional
      feature

--all also writes manifest.jsonl. This list has a JSON object for each file: its name, the expected outcome, the broken
rules, what the file tests, and the data files that belong to it.)";

struct CorruptCommand {
  std::string program, rule, name, output;
  std::vector<fs::path> data;
  std::size_t places = 0;
  bool all = false, list = false;
};

// A program keeps the extension of its original.
std::string suffix(const Bytes& file, const fs::path& original) {
  const format::FileKind* kind = format::file_kind(file);
  if (kind && kind != &format::program_kind) return concat('.', kind->schema.extension);
  return original.has_extension() ? original.extension().string() : ".pte";
}

std::string file_name(const Attempt& a, const fs::path& original) {
  return concat(corrupt::prefix(a.expectation.expected), a.name, suffix(a.files.file, original));
}

std::string line(const Attempt& a) {
  std::string all = concat(corrupt::prefix(a.expectation.expected), ' ', a.name);
  if (!a.expectation.faults.empty()) {
    const Fault& fault = a.expectation.faults.front();
    all += concat("  ", fault.rule, fault.place.empty() ? "" : " ", fault.place, ": ", fault.message);
  }
  return all;
}

// -- all ----------------------------------------------------------------------------------------------------------

corrupt::Corruptions corruptions(const CorruptCommand& r, std::size_t places) {
  for (auto& [name, file] : corrupt::sample_programs())
    if (r.program == name) return corrupt::Corruptions(std::move(file), {}, places);
  std::vector<Bytes> data;
  for (const fs::path& file : r.data) data.push_back(files::bytes_of_file(file));
  return corrupt::Corruptions(files::bytes_of_file(r.program), std::move(data), places);
}

void each(const CorruptCommand& r, const corrupt::Corruptions::Take& take) {
  r.program.empty() ? corrupt::each_case(take) : corruptions(r, r.places).each(take);
}

class Folder {
 public:
  Folder(const CorruptCommand& r)
      : request_(r), folder_(r.output), manifest_((files::make_folder(folder_), manifest())) {}

  void add(const Attempt& a) {
    const std::string name = file_name(a, request_.program);
    files::write_file(folder_ / name, a.files.file);
    text::Json json{{"file", name}, {"expected", corrupt::prefix(a.expectation.expected)}, {"subject", a.subject}};
    for (const Fault& f : a.expectation.faults) json["rules"].push_back(f.rule);
    if (!request_.data.empty())
      for (const fs::path& file : request_.data) json["data"].push_back(file.string());
    else
      for (std::size_t i = 0; i < a.files.data.size(); ++i) json["data"].push_back(data(name, i, a.files.data[i]));
    manifest_.stream() << text::line_of(json) << '\n';
    ++count_;
  }

  void finish() {
    manifest_.finish();
    std::cout << count_ << " files in " << folder_.string() << '\n';
  }

 private:
  std::string manifest() const { return (folder_ / "manifest.jsonl").string(); }
  std::string data(const std::string& name, std::size_t i, const Bytes& bytes) const {
    const std::string file = concat(name, '.', i, ".ptd");
    files::write_file(folder_ / file, bytes);
    return file;
  }

  const CorruptCommand& request_;
  fs::path folder_;
  OutputFile manifest_;
  std::size_t count_ = 0;
};

// -- one ----------------------------------------------------------------------------------------------------------

std::optional<Attempt> chosen(const CorruptCommand& r) {
  std::optional<Attempt> found;
  const auto breaks = [&](const Attempt& a) {
    const auto& faults = a.expectation.faults;
    return std::ranges::find(faults, r.rule, &Fault::rule) != faults.end();
  };
  if (!r.program.empty()) {
    const corrupt::Corruptions all = corruptions(r, 0);
    return r.name.empty() ? all.that_breaks(r.rule) : all.find(r.name);
  }
  const auto take = [&](const Attempt& a) {
    if (!found && (r.name.empty() ? breaks(a) : a.name == r.name)) found = a;
    return !found;
  };
  corrupt::each_case(take), corrupt::each_payload_case(take);
  return found;
}

void write_one(const CorruptCommand& r) {
  const auto attempt = chosen(r);
  if (!attempt && r.name.empty())
    throw Fault(Outcome::unsupported, "corruption",
                concat("no change of one place of ", r.program.empty() ? "the cases" : r.program, " breaks ", r.rule,
                       r.program.empty() ? "" : ": assay corrupt --rule makes a file that does"));
  if (!attempt)
    throw Fault(Outcome::invalid, "corruption", concat("there is no ", r.name, ": --list says which there are"));
  files::write_file(r.output, attempt->files.file);
  for (std::size_t i = 0; i < attempt->files.data.size() && r.data.empty(); ++i)
    files::write_file(concat(r.output, '.', i, ".ptd"), attempt->files.data[i]);
  std::cout << line(*attempt) << '\n';
}

void write_all(const CorruptCommand& r) {
  Folder folder(r);
  each(r, [&](const Attempt& a) { return folder.add(a), true; });
  folder.finish();
}

// The cases of payloads are listed, but not among the files that --all writes: few loaders read payloads.
void list(const CorruptCommand& r) {
  const auto print = [](const Attempt& a) { return std::cout << line(a) << '\n', true; };
  each(r, print);
  if (r.program.empty()) corrupt::each_payload_case(print);
}

int corrupt_program(const CorruptCommand& r) {
  if (!r.list && r.output.empty()) throw UsageError("-o is required");
  if (!r.rule.empty() || !r.name.empty())
    write_one(r);
  else if (r.list)
    list(r);
  else
    write_all(r);
  return exit_code(Outcome::ok);
}

std::string rule_problem(const std::string& rule) {
  return find_format_rule(rule) ? "" : concat(rule, " is no rule of spec/format/rules.yaml");
}

void define_corrupt(Options& options) {
  const auto r = std::make_shared<CorruptCommand>();
  options.add("PROGRAM", r->program,
              "Changes this valid .pte, .ptd or .bpte file, or a sample of assay: sample:plain, sample:complete or "
              "sample:old; without PROGRAM, the files are the cases of rules");
  options.add_each("--data", r->data, "FILE", "Checks the program together with this .ptd file");
  Options what = options.exactly_one();
  what.add("--rule", r->rule, "Writes one file that breaks RULE and, if possible, no other rule")
      .value("RULE")
      .check(rule_problem);
  what.add("--name", r->name, "Writes the file that has this name; --list prints all names").value("NAME");
  what.flag("--all", r->all, "Writes all files to the folder of -o");
  what.flag("--list", r->list, "Prints the names of all files, and what is wrong with each");
  options.add("-o,--output", r->output, "Writes the file to PATH, or with --all the files to the folder PATH")
      .value("PATH");
  options
      .add("--places", r->places,
           "If a file has many places with the same field, such as the sizes of tensors, changes only N of these "
           "places; default: all")
      .value("N");
  options.details(corrupt_details);
  options.action([r] { return corrupt_program(*r); });
}

const Registered registered_corrupt(
    {"corrupt",
     Group::programs,
     "Writes files that differ from a program in one place, or that break a rule",
     define_corrupt,
     {{"assay corrupt model.pte --list", "lists the files"},
      {"assay corrupt model.pte --rule T11 -o broken.pte", "writes a file that breaks the rule T11"},
      {"assay corrupt model.pte --name execution_plan.0.values.3.val.sizes:length=huge -o broken.pte",
       "writes the file that has this name in the list"},
      {"assay corrupt model.pte --all --places 3 -o corrupted",
       "writes files for at most 3 places that hold the same field"},
      {"assay corrupt --rule T13 -o broken.pte", "writes a small hand-made file that breaks the rule T13"}}});

}  // namespace
}  // namespace assay::command

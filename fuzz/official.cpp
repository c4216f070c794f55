#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "conformance/adapters/load.h"
#include "conformance/files/compare.h"
#include "conformance/files/file.h"
#include "conformance/files/some_inputs.h"
#include "conformance/text/printable.h"
#include "fuzz/attached.h"
#include "fuzz/limits.h"
#include "fuzz/mutator/file_mutator.h"

// fuzz_official SECONDS FOLDER FILE...: compares the reference with the official runtime on the programs, and on
// mutants of them until the time is over. Each program runs in a child, which may crash. Prints a line for each
// difference, then the number of programs per result. The programs are kept in FOLDER.
namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;

// -- one program, in the child ------------------------------------------------------------------------------------

// The instructions of a method round one after another, and the two libraries round at different places.
Tolerance roughly(const Value& value) {
  const Tensor* t = std::get_if<Tensor>(&value);
  if (!t || !is_half(t->dtype)) return {1e-4, 1e-5};
  constexpr double roundings = 8;
  const double all = std::ldexp(roundings, -info(t->dtype).precision);
  return {all, all};
}

std::string operators_of(const Method& method) {
  std::set<std::string> names;
  for (const auto* op : *method.plan().operators()) names.insert(operator_name(*op));
  std::string all;
  for (const std::string& n : names) all += ' ' + n;
  return all;
}

Result<std::vector<Value>> run_here(Method& method, const std::vector<Value>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (auto refused = method.set_input(i, inputs[i])) return {std::nullopt, {*refused}};
  if (auto refused = method.execute()) return {std::nullopt, {*refused}};
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < method.plan().outputs()->size(); ++i) {
    auto output = method.output(i);
    if (!output) return {std::nullopt, output.faults};
    outputs.push_back(std::move(*output));
  }
  return {std::move(outputs), {}};
}

std::string compared(const std::vector<Value>& here, const std::vector<Value>& there) {
  if (here.size() != there.size()) return "DIFFERENT: the number of outputs";
  for (std::size_t i = 0; i < here.size(); ++i) {
    const Tolerance tolerance = roughly(here[i]);
    if (const Comparison c = compare(there[i], here[i], tolerance); !c.agrees())
      return text("DIFFERENT: output ", i, ": ", sentence(c, tolerance));
  }
  return "same";
}

// Sends text to the parent as soon as it is known. If the child crashes, the parent has all text before the crash.
class Report {
 public:
  explicit Report(int to) : to_(to) {}
  void say(const std::string& words) const {
    if (::write(to_, words.data(), words.size()) < 0) _exit(1);
  }

 private:
  int to_;
};

void compare_method(const LoadedProgram& program, const std::string& name, TesteeProgram* there, const Report& report) {
  auto method = program.method(name);
  if (!method) return report.say(text("refused here (", method.faults[0].rule, ")"));
  std::vector<Value> inputs;
  for (const auto& input : some_inputs(*method)) inputs.push_back(input.value_or(Value()));
  const auto here = run_here(*method, inputs);
  report.say(here ? "accepted here" : text("refused here (", here.faults[0].rule, ")"));
  std::vector<Value> outputs;
  const Reply reply = there->call(name, inputs, outputs);
  if (reply.outcome != Outcome::ok) return report.say(text(", refused there [", printable(reply.message), "]"));
  report.say(here ? ", " + compared(*here, outputs) : ", accepted there");
  report.say(" [" + operators_of(*method) + " ]");
}

void compare_program(const fs::path& file, const Report& report) {
  const File opened = open_file(file);
  const auto [program, data] = split(opened.bytes);
  const auto loaded = LoadedProgram::load(borrowed(program), files_of(data), options_for(Budget(limits)));
  const auto runtime = load_executorch_runtime(fs::read_symlink("/proc/self/exe").parent_path());
  std::vector<fs::path> files;
  if (!data.empty()) write_file(files.emplace_back(file.string() + ".ptd"), data);
  Reply reply;
  if (!loaded) report.say(text("refused here (", loaded.faults[0].rule, ")"));
  const auto there = runtime->load({file, files}, reply);
  if (!there)
    return report.say(text(loaded ? "accepted here, " : ", ", "refused there [", printable(reply.message), "]"));
  if (!loaded) return report.say(", loaded there");
  for (const auto* plan : *loaded->program()->tables().execution_plan())
    compare_method(*loaded, plan->name()->str(), there.get(), report);
}

// -- all programs -------------------------------------------------------------------------------------------------

std::string in_child(const fs::path& file) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw Fault(Outcome::exhausted, "limits.memory", "the system cannot make a pipe");
  const pid_t child = fork();
  if (child == 0) {
    constexpr unsigned most_seconds_of_a_child = 20;
    alarm(most_seconds_of_a_child);
    if (!std::freopen("/dev/null", "w", stderr)) _exit(1);
    compare_program(file, Report(ends[1]));
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  std::array<char, 4096> buffer{};
  for (ssize_t n; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    said.append(buffer.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? said : said + (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? ", HANGS" : ", CRASHES");
}

// The part that a line has in common with other lines: the words before a colon or bracket.
std::string kind_of(const std::string& line) { return line.substr(0, line.find_first_of(":[")); }

class Comparing {
 public:
  explicit Comparing(fs::path folder) : folder_(std::move(folder)) { make_folder(folder_); }

  void add(const std::string& program) {
    const fs::path file = folder_ / text(std::hash<std::string>()(program), ".pte");
    write_file(file, std::as_bytes(std::span(program)));
    const std::string said = in_child(file);
    const std::string kind = said.empty() ? "no method" : kind_of(said);
    const bool worth_a_line = !said.empty() && kind.find("same") == kind.npos && !kind.starts_with("refused here");
    if (worth_a_line) std::cout << file.string() << ": " << said << std::endl;
    if (!worth_a_line) fs::remove(file);
    fs::remove(file.string() + ".ptd");
    ++counts_[kind];
  }

  void summarize() const {
    for (const auto& [kind, count] : counts_) std::cout << count << "  " << kind << '\n';
  }

 private:
  fs::path folder_;
  std::map<std::string, std::size_t> counts_;
};

std::string contents(const fs::path& file) { return std::string(characters(open_file(file))); }

void compare_all(int seconds, const fs::path& folder, const std::vector<fs::path>& files) {
  Comparing comparing(folder);
  std::vector<std::string> programs;
  for (const fs::path& file : files) comparing.add(programs.emplace_back(contents(file)));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (Random random(std::random_device{}()); std::chrono::steady_clock::now() < end && !programs.empty();) {
    std::string mutant = random.of(programs);
    mutate_file(mutant, random.of(programs), random);
    comparing.add(mutant);
  }
  comparing.summarize();
}

}  // namespace
}  // namespace assay::fuzz

int main(int argc, char** argv) {
  if (argc < 4) return std::cerr << "usage: fuzz_official SECONDS FOLDER FILE...\n", 2;
  assay::fuzz::compare_all(std::atoi(argv[1]), argv[2], {argv + 3, argv + argc});
}

// Every recorded program, run by the reference and held to eager PyTorch.
//
//   recorded_programs FOLDER [KNOWN]   prints a line for each program: its calls, and how many outputs were compared.
//                                      KNOWN lists the programs that are expected to disagree.
// Exits with 1 when an output is outside its tolerance or a call is refused, and says which; likewise when a known
// disagreement is none any more.

#include <fmt/format.h>

#include <fstream>
#include <set>

#include "conformance/programs/calls.h"
#include "conformance/programs/file.h"

namespace {

using namespace assay;
namespace fs = std::filesystem;

// The first word of each line that is no comment.
std::set<std::string> known_programs(const char* file) {
  std::ifstream lines(file);
  if (!lines) throw Fault(Outcome::malformed, "known", fmt::format("{} cannot be read", file));
  std::set<std::string> programs;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with('#')) programs.insert(line.substr(0, line.find(' ')));
  return programs;
}

std::set<fs::path> program_folders(const fs::path& folder) {
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder))
    if (fs::exists(entry.path() / "calls.json")) folders.insert(entry.path());
  return folders;
}

// What differs, a sentence for each.
std::vector<std::string> differences(const ProgramCall& call, const CallResult& result) {
  std::vector<std::string> all;
  if (!result.mismatch.empty())
    all.push_back(result.mismatch + (result.refusal ? fmt::format(": {}, {}: {}", result.refusal->rule,
                                                                  result.refusal->place, result.refusal->message)
                                                    : ""));
  for (std::size_t i = 0; i < result.comparisons.size(); ++i)
    if (!result.comparisons[i].agrees())
      all.push_back(fmt::format("output {}: {}", i, sentence(result.comparisons[i], call.tolerance)));
  return all;
}

// Runs a program's calls and prints its line.
std::vector<std::string> check(const fs::path& folder) {
  const ProgramCalls calls = read_calls(folder / "calls.json", {});
  const Access access;
  Host host(valid_program(open_file(folder / "program.pte", access), open_data_files(calls.data, access)));
  std::vector<std::string> all;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < calls.calls.size(); ++i) {
    const CallResult result = run_call(host, calls.calls[i]);
    compared += result.comparisons.size();
    for (const std::string& d : differences(calls.calls[i], result)) all.push_back(fmt::format("call {}, {}", i, d));
  }
  fmt::print("{} {} calls {} outputs {}\n", folder.filename().string(), calls.calls.size(), compared,
             all.empty() ? "pass" : "fail");
  return all;
}

std::vector<std::string> check_or_fault(const fs::path& folder) {
  try {
    return check(folder);
  } catch (const Fault& f) {
    fmt::print("{} fail\n", folder.filename().string());
    return {fmt::format("{}, {}: {}{}{}", name(f.outcome), f.rule, f.place, f.place.empty() ? "" : ": ", f.message)};
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return fmt::print(stderr, "usage: recorded_programs FOLDER [KNOWN]\n"), 2;
  try {
    std::set<std::string> known = argc == 3 ? known_programs(argv[2]) : std::set<std::string>{};
    const std::set<fs::path> folders = program_folders(argv[1]);
    if (folders.empty())
      throw Fault(Outcome::malformed, "programs.folder", fmt::format("{} holds no recorded programs", argv[1]));
    int wrong = 0;
    for (const fs::path& folder : folders) {
      const std::string program = folder.filename().string();
      const std::vector<std::string> found = check_or_fault(folder);
      if (found.empty() || known.erase(program) > 0) continue;
      ++wrong;
      for (const std::string& d : found) fmt::print(stderr, "{}: {}\n", program, d);
    }
    for (const std::string& program : known)
      fmt::print(stderr, "{}: listed in {}, but agrees: take it off the list\n", program, argv[2]);
    return wrong > 0 || !known.empty();
  } catch (const Fault& f) {
    fmt::print(stderr, "recorded_programs: {}, {}: {}\n", name(f.outcome), f.rule, f.message);
    return exit_code(f.outcome);
  }
}

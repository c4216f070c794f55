// Runs every recorded program on the reference and compares the results with those of eager PyTorch.
//
//   recorded_programs FOLDER [KNOWN [EXPORTERS]]
//
// prints a line for each program: its calls, and how many outputs were compared. KNOWN lists the programs that are
// expected to disagree. EXPORTERS has a folder for each version of the exporter. Its programs make the calls of the
// recorded program of the same name; KNOWN lists them as version/name.
// Exits with 1 and a message if an output is outside its tolerance, if a call is refused, or if a known disagreement no
// longer exists.

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <set>

#include "conformance/files/file.h"
#include "conformance/hosts/calls.h"

namespace {

using namespace assay;
namespace fs = std::filesystem;

// The first word of each line that is not a comment.
std::set<std::string> known_programs(const char* file) {
  std::ifstream lines(file);
  if (!lines) throw Fault(Outcome::malformed, "known", fmt::format("{} cannot be read", file));
  std::set<std::string> programs;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with('#')) programs.insert(line.substr(0, line.find(' ')));
  return programs;
}

struct Recorded {
  fs::path files;  // the folder of the program, and of its data files where it has other ones than
  fs::path calls;  // the folder of its calls
};

std::map<std::string, Recorded> recorded_in(const fs::path& folder) {
  std::map<std::string, Recorded> programs;
  for (const auto& entry : fs::directory_iterator(folder))
    if (fs::exists(entry.path() / "calls.json"))
      programs[entry.path().filename().string()] = {entry.path(), entry.path()};
  return programs;
}

std::map<std::string, Recorded> exported_in(const fs::path& exporters, const fs::path& folder) {
  std::map<std::string, Recorded> programs;
  for (const auto& version : fs::directory_iterator(exporters))
    for (const auto& entry : fs::directory_iterator(version))
      programs[entry.path().lexically_relative(exporters).string()] = {entry.path(), folder / entry.path().filename()};
  return programs;
}

hosts::ProgramCalls calls_of(const Recorded& recorded) {
  hosts::ProgramCalls calls = hosts::read_calls(recorded.calls / "calls.json");
  std::vector<fs::path> own;
  for (const auto& entry : fs::directory_iterator(recorded.files))
    if (entry.path().extension() == ".ptd") own.push_back(entry.path());
  if (!own.empty()) calls.data = own;
  return calls;
}

// The differences, a sentence each.
std::vector<std::string> differences(const hosts::ProgramCall& call, const hosts::CallResult& result) {
  std::vector<std::string> all;
  if (!result.mismatch.empty())
    all.push_back(result.mismatch + (result.refusal ? fmt::format(": {}, {}: {}", result.refusal->rule,
                                                                  result.refusal->place, result.refusal->message)
                                                    : ""));
  for (std::size_t i = 0; i < result.comparisons.size(); ++i)
    if (!result.comparisons[i].agrees())
      all.push_back(fmt::format("output {}: {}", i, files::sentence(result.comparisons[i], call.tolerance)));
  return all;
}

// Runs a program's calls and prints its line.
std::vector<std::string> check(const std::string& program, const Recorded& recorded) {
  const hosts::ProgramCalls calls = calls_of(recorded);
  hosts::Host host(
      hosts::valid_program(files::open_file(recorded.files / "program.pte"), files::open_data_files(calls.data)));
  std::vector<std::string> all;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < calls.calls.size(); ++i) {
    const hosts::CallResult result = hosts::run_call(host, calls.calls[i]);
    compared += result.comparisons.size();
    for (const std::string& d : differences(calls.calls[i], result)) all.push_back(fmt::format("call {}, {}", i, d));
  }
  fmt::print("{} {} calls {} outputs {}\n", program, calls.calls.size(), compared, all.empty() ? "pass" : "fail");
  return all;
}

std::vector<std::string> check_or_fault(const std::string& program, const Recorded& recorded) {
  try {
    return check(program, recorded);
  } catch (const Fault& f) {
    fmt::print("{} fail\n", program);
    return {fmt::format("{}, {}: {}{}{}", name(f.outcome), f.rule, f.place, f.place.empty() ? "" : ": ", f.message)};
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) return fmt::print(stderr, "usage: recorded_programs FOLDER [KNOWN [EXPORTERS]]\n"), 2;
  try {
    std::set<std::string> known = argc > 2 ? known_programs(argv[2]) : std::set<std::string>{};
    std::map<std::string, Recorded> programs = recorded_in(argv[1]);
    if (argc > 3) programs.merge(exported_in(argv[3], argv[1]));
    if (programs.empty())
      throw Fault(Outcome::malformed, "programs.folder", fmt::format("{} holds no recorded programs", argv[1]));
    int wrong = 0;
    for (const auto& [program, recorded] : programs) {
      const std::vector<std::string> found = check_or_fault(program, recorded);
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

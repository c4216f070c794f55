#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <map>
#include <set>

#include "conformance/corrupt/complete.h"
#include "conformance/corrupt/corruption.h"
#include "conformance/programs/file.h"
#include "format/check.h"
#include "reference/program/memory.h"

// Planted faults: a copy of our own loader that leaves one check out, for each check. The files that are made to break
// rules must show it: one of them is accepted, or ends the process.
namespace assay::corrupt {
namespace {

using format::Finding;
using format::Findings;
using format::Workspace;

// -- a loader that leaves a check out
// -----------------------------------------------------------------------------------

// A place or a sentence without what differs from file to file.
std::string without_numbers(std::string_view words) {
  std::string all;
  bool quoted = false;
  for (const char c : words) {
    if (c == '"') quoted = !quoted;
    const bool digit = c >= '0' && c <= '9';
    if ((quoted && c != '"') || (digit && all.ends_with('#'))) continue;
    all += digit ? '#' : c;
  }
  return all;
}

// Where in the code a check is, as far as its words tell: those of presence stand in one place for all fields.
std::string check_of(const Finding& f) {
  const std::string words = without_numbers(f.message);
  const bool of_field = words == "must be present" || words.find(" is no ") != words.npos;
  return text(f.rule.id, ": ", of_field ? without_numbers(text_of(f.place)) + " " : "", words);
}

struct Loader {
  std::string left_out;        // a rule, or one check of it
  std::set<std::string> told;  // what was found wrong: checks, and rules

  static bool tell(void* loader, const Finding& f) {
    auto& self = *static_cast<Loader*>(loader);
    const std::string check = check_of(f);
    if (self.left_out == f.rule.id || self.left_out == check) return false;
    self.told.insert(check), self.told.insert(std::string(f.rule.id));
    return true;
  }
};

template <class View>
std::optional<View> open(std::span<const std::byte> file, auto locate, auto open, Findings& f) {
  const auto extent = locate(file.first(std::min(file.size(), format::head_bytes)), file.size(), f);
  if (!extent || extent->tables_size > file.size() || extent->segments_begin > file.size()) return std::nullopt;
  const auto segments = file.subspan(
      extent->segments_begin, std::min<std::size_t>(extent->segments_size, file.size() - extent->segments_begin));
  return open(file.first(extent->tables_size), segments, f);
}

void check(auto&& what) {
  with_workspace([&](Workspace& w) { what(w); });
}

void load_program(std::span<const std::byte> file, const std::vector<Bytes>& files, Findings& f) {
  std::vector<format::DataView> data;
  for (const Bytes& bytes : files)
    if (const auto view = open<format::DataView>(bytes, format::locate_data, format::open_data, f))
      data.push_back(*view);
  const auto program = open<format::ProgramView>(file, format::locate_program, format::open_program, f);
  if (program) check([&](Workspace& w) { format::check(*program, data, w, f); });
}

void load_bundle(std::span<const std::byte> file, Findings& f) {
  const auto bundle = open<format::BundleView>(
      file, format::locate_bundle, [](auto tables, auto, Findings& g) { return format::open_bundle(tables, g); }, f);
  if (!bundle) return;
  const auto program = open<format::ProgramView>(bundle->program(), format::locate_program, format::open_program, f);
  if (!program) return;
  check([&](Workspace& w) { format::check(*program, {}, w, f); });
  if (f.none()) check([&](Workspace& w) { format::check(*bundle, *program, w, f); });
}

// Whether the loader accepts the file, which is to be of this kind.
bool load(FileKind kind, const Files& files, Loader& loader) {
  Findings f(Loader::tell, &loader, ~std::uint64_t{0});
  AlignedMemory memory(files.file.size());
  std::ranges::copy(files.file, memory.bytes().begin());
  if (kind == FileKind::data) {
    const auto data = open<format::DataView>(memory.bytes(), format::locate_data, format::open_data, f);
    if (data) check([&](Workspace& w) { format::check(*data, w, f); });
  } else if (kind == FileKind::bundle) {
    load_bundle(memory.bytes(), f);
  } else {
    load_program(memory.bytes(), files.data, f);
  }
  return f.none();
}

// -- the files --------------------------------------------------------------------------------------------------------

struct Breaker {
  std::string name;
  FileKind kind;
  Files files;
};

// The files that must be refused, by each check and each rule that finds something wrong with them: few of each, first
// those in which nothing else is wrong.
class Breakers {
 public:
  Breakers() {
    for (const char* name : {"mlp", "cond", "map_rows", "dynamic_views", "sorting"}) {
      const File file = open_file(std::filesystem::path(ASSAY_GOLDEN_PROGRAMS) / name / "program.pte");
      of(FileKind::program, name, {file.bytes.begin(), file.bytes.end()});
    }
    for (Bytes& file : complete_programs()) of(FileKind::program, "complete", std::move(file));
    for (Bytes& file : complete_data()) of(FileKind::data, "complete", std::move(file));
    for (Bytes& file : complete_bundles()) of(FileKind::bundle, "complete", std::move(file));
    each_case([&](const Attempt& a) {
      const FileKind kind = a.subject[0] == 'B'    ? FileKind::bundle
                            : a.files.data.empty() ? file_kind(a.files.file)
                                                   : FileKind::program;
      return add("", kind == FileKind::unknown ? FileKind::program : kind, a), true;
    });
  }

  const auto& by_check() const { return by_check_; }
  std::size_t files() const { return files_; }

 private:
  void of(FileKind kind, const std::string& program, Bytes file) {
    constexpr std::size_t places = 2;
    Corruptions(std::move(file), {}, places).each([&](const Attempt& a) { return add(program + ":", kind, a), true; });
  }

  void add(const std::string& program, FileKind kind, const Attempt& a) {
    ++files_;
    if (a.expectation.expected != Expected::refused) return;
    constexpr std::size_t few = 40;
    Loader whole;
    load(kind, a.files, whole);
    for (const std::string& check : whole.told) {
      auto& all = by_check_[check];
      const bool alone = whole.told.size() == 2;  // the check and its rule
      all.insert(alone ? all.begin() : all.end(), {program + a.name, kind, a.files});
      if (all.size() > few) all.pop_back();
    }
  }

  std::map<std::string, std::vector<Breaker>> by_check_;
  std::size_t files_ = 0;
};

// In a child, as a check that is left out may be what kept the others within the file.
enum class Shown : std::uint8_t { by_nothing, by_acceptance, by_crash };
Shown shown(const std::string& left_out, const std::vector<Breaker>& breakers) {
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    alarm(2);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT}) std::signal(signal, SIG_DFL);
    if (!std::freopen("/dev/null", "w", stderr)) _exit(2);
    for (const Breaker& b : breakers) {
      Loader loader{left_out, {}};
      if (load(b.kind, b.files, loader)) _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0                                     ? Shown::by_nothing
         : WIFEXITED(status) && WEXITSTATUS(status) == 1 ? Shown::by_acceptance
                                                         : Shown::by_crash;
}

// Rules that a loader may ask otherwise, or that no file alone can break.
const std::map<std::string, std::string> not_of_files = {
    {"H3", "where a file begins in memory is the caller's matter"},
    {"F4", "where a file begins in memory is the caller's matter"},
    {"H13", "a file of 2 GiB is none that a suite has"},
    {"V4", "how much memory there is is the caller's matter"},
    {"H15", "how much tables may unpack to is the loader's own limit"},
    {"H16", "how long an analysis may take is the loader's own limit"},
    {"H14", "a loader may know other versions"},
    {"F6", "a loader may know other versions"},
    {"T9", "a loader may know other devices"},
    {"T23", "a loader may know other layouts"},
};

bool is_asked_of_files(const FormatRule& rule) {
  return (rule.checked == FormatRule::Checked::decode || rule.checked == FormatRule::Checked::validate) &&
         !not_of_files.contains(std::string(rule.id));
}

// Checks without which the same files are refused by others, and why.
const std::map<std::string, std::string> survivors = {};

TEST(PlantedRules, NearlyEachCheckThatIsLeftOutIsShown) {
  const Breakers breakers;
  std::set<std::string> planted;
  for (const auto& [check, files] : breakers.by_check()) planted.insert(check);
  for (const FormatRule& rule : format_rules)
    if (is_asked_of_files(rule)) planted.insert(std::string(rule.id));
  std::size_t of[2] = {}, found[2] = {}, crashes = 0;  // checks; rules
  for (const std::string& left_out : planted) {
    const std::string rule = left_out.substr(0, left_out.find(':'));
    if (not_of_files.contains(rule)) continue;
    const auto files = breakers.by_check().find(left_out);
    const Shown how = files == breakers.by_check().end() ? Shown::by_nothing : shown(left_out, files->second);
    const bool is_rule = rule == left_out;
    ++of[is_rule], found[is_rule] += how != Shown::by_nothing, crashes += how == Shown::by_crash;
    if (how != Shown::by_nothing) continue;
    const auto known = survivors.find(left_out);
    std::cout << "survives: " << left_out << (known == survivors.end() ? "" : ", as " + known->second) << '\n';
    EXPECT_NE(known, survivors.end()) << left_out << " can be left out, and nothing shows it";
  }
  std::cout << found[1] << " of " << of[1] << " rules and " << found[0] << " of " << of[0]
            << " checks, left out one at a time, are shown by " << breakers.files() << " files, " << crashes
            << " of them by a crash\n";
  EXPECT_GE(of[1], 100u);
  EXPECT_GE(static_cast<double>(found[1]), 0.97 * static_cast<double>(of[1]));
  EXPECT_GE(static_cast<double>(found[0]), 0.97 * static_cast<double>(of[0]));
}

}  // namespace
}  // namespace assay::corrupt

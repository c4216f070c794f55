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

// Planted faults: a copy of our own loader that leaves a rule out, for each rule. The files that are made to break
// rules must show it: one of them is accepted, or ends the process.
namespace assay::corrupt {
namespace {

using format::Finding;
using format::Findings;
using format::Workspace;

// -- a loader that leaves a check out
// -----------------------------------------------------------------------------------

struct Loader {
  std::string_view left_out;
  std::set<std::string_view> told;  // the rules that were found broken

  static bool tell(void* loader, const Finding& f) {
    auto& self = *static_cast<Loader*>(loader);
    if (self.left_out != f.rule.id) self.told.insert(f.rule.id);
    return self.left_out != f.rule.id;
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

void load_program(std::span<const std::byte> file, const std::vector<Bytes>& files, Findings& f) {
  std::vector<format::DataView> data;
  for (const Bytes& bytes : files)
    if (const auto view = open<format::DataView>(bytes, format::locate_data, format::open_data, f))
      data.push_back(*view);
  const auto program = open<format::ProgramView>(file, format::locate_program, format::open_program, f);
  if (program) with_workspace([&](Workspace& w) { format::check(*program, data, w, f); });
}

void load_bundle(std::span<const std::byte> file, Findings& f) {
  const auto bundle = open<format::BundleView>(
      file, format::locate_bundle, [](auto tables, auto, Findings& g) { return format::open_bundle(tables, g); }, f);
  if (!bundle) return;
  const auto program = open<format::ProgramView>(bundle->program(), format::locate_program, format::open_program, f);
  if (!program) return;
  with_workspace([&](Workspace& w) { format::check(*program, {}, w, f); });
  if (f.none()) with_workspace([&](Workspace& w) { format::check(*bundle, *program, w, f); });
}

// Whether the loader accepts the file, which is to be of this kind.
bool load(FileKind kind, const Files& files, Loader& loader) {
  Findings f(Loader::tell, &loader, ~std::uint64_t{0});
  AlignedMemory memory(files.file.size());
  std::ranges::copy(files.file, memory.bytes().begin());
  if (kind == FileKind::data) {
    const auto data = open<format::DataView>(memory.bytes(), format::locate_data, format::open_data, f);
    if (data) with_workspace([&](Workspace& w) { format::check(*data, w, f); });
  } else if (kind == FileKind::bundle) {
    load_bundle(memory.bytes(), f);
  } else {
    load_program(memory.bytes(), files.data, f);
  }
  return f.none();
}

// -- the files --------------------------------------------------------------------------------------------------------

struct Breaker {
  std::string name;  // for whoever looks
  FileKind kind;
  Files files;
};

// The files that must be refused, by each rule that they break: few of each, first those that break no other.
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

  const auto& by_rule() const { return by_rule_; }
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
    for (const std::string_view rule : whole.told) {
      auto& all = by_rule_[rule];
      all.insert(whole.told.size() == 1 ? all.begin() : all.end(), {program + a.name, kind, a.files});
      if (all.size() > few) all.pop_back();
    }
  }

  std::map<std::string_view, std::vector<Breaker>> by_rule_;
  std::size_t files_ = 0;
};

// In a child, as a check that is left out may be what kept the others within the file.
enum class Shown : std::uint8_t { by_nothing, by_acceptance, by_crash };
Shown shown(std::string_view left_out, const std::vector<Breaker>& breakers) {
  constexpr int accepted = 42;  // a sanitizer ends with 1
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    alarm(2);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT}) std::signal(signal, SIG_DFL);
    if (!std::freopen("/dev/null", "w", stderr)) _exit(2);
    for (const Breaker& b : breakers) {
      Loader loader{left_out, {}};
      if (load(b.kind, b.files, loader)) _exit(accepted);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0                                            ? Shown::by_nothing
         : WIFEXITED(status) && WEXITSTATUS(status) == accepted ? Shown::by_acceptance
                                                                : Shown::by_crash;
}

// Rules that a loader may ask otherwise, or that no file alone can break.
const std::map<std::string_view, std::string_view> not_of_files = {
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

// Rules without whose check the same files are refused by others, which say less well what is wrong.
const std::map<std::string_view, std::string_view> asked_twice = {
    {"B11", "H3 asks it of the program in the bundle"},
    {"G11", "G12: without segments there is none that named data could name"},
    {"G17", "G7: nothing lies within no space"},
    {"H2", "H12: a flatbuffer of this kind has the identifier"},
    {"H5", "H6 asks for 24 bytes at least, H8 for tables behind the header"},
    {"H11", "H12: the root lies within the tables, at a multiple of 4"},
};

bool is_asked_of_files(const FormatRule& rule) {
  return (rule.checked == FormatRule::Checked::decode || rule.checked == FormatRule::Checked::validate) &&
         !not_of_files.contains(rule.id);
}

TEST(PlantedRules, EachCheckThatIsLeftOutIsShown) {
  const Breakers breakers;
  std::size_t planted = 0, found = 0, crashes = 0;
  for (const FormatRule& rule : format_rules) {
    if (!is_asked_of_files(rule)) continue;
    const auto files = breakers.by_rule().find(rule.id);
    const Shown how = files == breakers.by_rule().end() ? Shown::by_nothing : shown(rule.id, files->second);
    ++planted, found += how != Shown::by_nothing, crashes += how == Shown::by_crash;
    const auto twice = asked_twice.find(rule.id);
    EXPECT_EQ(how == Shown::by_nothing, twice != asked_twice.end()) << rule.id;
    if (how == Shown::by_nothing) std::cout << "survives: " << rule.id << ", as " << twice->second << '\n';
  }
  std::cout << found << " of " << planted << " rules, left out one at a time, are shown by " << breakers.files()
            << " files, " << crashes << " of them by a crash\n";
  EXPECT_GE(planted, 100u);
  EXPECT_GE(found, planted - asked_twice.size());
}

}  // namespace
}  // namespace assay::corrupt

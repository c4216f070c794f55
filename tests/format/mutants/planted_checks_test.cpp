#include <gmock/gmock-matchers.h>
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
#include "conformance/files/file.h"
#include "conformance/loaders/read_only.h"
#include "format/check.h"
#include "reference/program/memory.h"
#include "tools/plant/checks.h"

// Mutants of our own loader: one for each check of format/ that leaves out this check, and one for each rule. The files
// that are made to break rules must kill each mutant: the mutant accepts one of them or crashes.
namespace assay::corrupt {
namespace planted_checks_test {

using format::AnyView;
using format::Finding;
using format::Findings;
using format::planted_checks;
using format::Workspace;

// -- the mutants ------------------------------------------------------------------------------------------------------

struct Loader {
  std::string_view left_out;        // a rule
  std::set<std::string_view> told;  // the rules that were found broken

  static bool tell(void* loader, const Finding& f) {
    auto& self = *static_cast<Loader*>(loader);
    if (self.left_out != f.rule.id) self.told.insert(f.rule.id);
    return self.left_out != f.rule.id;
  }
};

std::optional<AnyView> open(std::span<const std::byte> file, const FileKind& kind, Findings& f) {
  const auto extent = kind.locate(file.first(std::min(file.size(), format::head_bytes)), file.size(), f);
  if (!extent || extent->tables_size > file.size() || extent->segments_begin > file.size()) return std::nullopt;
  const auto segments = file.subspan(
      extent->segments_begin, std::min<std::size_t>(extent->segments_size, file.size() - extent->segments_begin));
  return kind.open(file.first(extent->tables_size), segments, f);
}

// Opens and checks a file, its parts first.
std::optional<AnyView> open_and_check(std::span<const std::byte> file, const FileKind& kind,
                                      std::span<const format::DataView> data, Findings& f) {
  const auto view = open(file, kind, f);
  std::optional<format::ProgramView> part;
  bool opens = view.has_value();
  if (view)
    kind.parts(*view, nullptr, [&](const format::Nested& nested) {
      const auto opened = open_and_check(nested.bytes, *nested.kind, {}, f);
      opens = opened && f.none();
      if (opens) part.emplace(*opened);
    });
  if (opens) with_workspace([&](Workspace& w) { kind.check(*view, {data, part ? &*part : nullptr}, w, f); });
  return view;
}

// Whether the loader accepts the file, which is to be of this kind.
bool load(const FileKind& kind, const Files& files, Loader& loader) {
  Findings f(Loader::tell, &loader, ~std::uint64_t{0});
  const ReadOnlyFile memory(files.file);
  std::vector<format::DataView> data;
  if (&kind == &format::program_kind)
    for (const Bytes& bytes : files.data)
      if (const auto view = open(bytes, format::data_kind, f)) data.emplace_back(*view);
  open_and_check(memory.bytes(), kind, data, f);
  return f.none();
}

// -- the files --------------------------------------------------------------------------------------------------------

struct Breaker {
  std::string name;  // shown when the test fails
  const FileKind* kind;
  Files files;
};

// What a mutant leaves out: a rule by its id, or a check by its number.
struct Fault {
  std::string_view rule;
  int check = -1;
  auto operator<=>(const Fault&) const = default;
};

// The files that must be refused, by the rule or check that they break: a few of each, first those that break nothing
// else.
class Breakers {
 public:
  Breakers() {
    for (const char* name : {"mlp", "cond", "map_rows", "dynamic_views", "sorting"}) {
      const File file = open_file(std::filesystem::path(ASSAY_GOLDEN_PROGRAMS) / name / "program.pte");
      of(&format::program_kind, name, {file.bytes.begin(), file.bytes.end()});
    }
    for (CompleteFile& complete : complete_files()) of(complete.kind, "complete", std::move(complete.file));
    each_case([&](const Attempt& a) {
      const FileKind* kind = a.subject[0] == 'B'    ? &format::bundle_kind
                             : a.files.data.empty() ? file_kind(a.files.file)
                                                    : &format::program_kind;
      return add("", kind ? kind : &format::program_kind, a), true;
    });
  }

  std::span<const Breaker> of(const Fault& fault) const {
    const auto at = by_fault_.find(fault);
    return at == by_fault_.end() ? std::span<const Breaker>() : at->second;
  }
  std::size_t files() const { return files_; }

 private:
  void of(const FileKind* kind, const std::string& program, Bytes file) {
    constexpr std::size_t places = 2;
    Corruptions(std::move(file), {}, places).each([&](const Attempt& a) { return add(program + ":", kind, a), true; });
  }

  void add(const std::string& program, const FileKind* kind, const Attempt& a) {
    ++files_;
    if (a.expectation.expected != Expected::refused) return;
    Loader whole;
    format::broken_checks.clear();
    load(*kind, a.files, whole);
    const Breaker breaker{program + a.name, kind, a.files};
    for (const std::string_view rule : whole.told) keep({rule}, breaker, whole.told.size() == 1);
    for (const int check : format::broken_checks) keep({"", check}, breaker, format::broken_checks.size() == 1);
  }

  void keep(const Fault& fault, const Breaker& breaker, bool breaks_nothing_else) {
    constexpr std::size_t few = 40;
    auto& all = by_fault_[fault];
    all.insert(breaks_nothing_else ? all.begin() : all.end(), breaker);
    if (all.size() > few) all.pop_back();
  }

  std::map<Fault, std::vector<Breaker>> by_fault_;
  std::size_t files_ = 0;
};

// Runs in a child: without the check, a later check may read beyond the file.
enum class Shown : std::uint8_t { by_nothing, by_acceptance, by_crash };
Shown shown(const Fault& left_out, std::span<const Breaker> breakers) {
  constexpr int accepted = 42;  // a sanitizer ends with 1
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    alarm(2);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT}) std::signal(signal, SIG_DFL);
    if (!std::freopen("/dev/null", "w", stderr)) _exit(2);
    format::removed_check = left_out.check;
    std::set<std::string_view> refused_by;
    for (const Breaker& b : breakers) {
      Loader loader{left_out.rule, {}};
      if (load(*b.kind, b.files, loader)) _exit(accepted);
      refused_by.insert(loader.told.begin(), loader.told.end());
    }
    for (const std::string_view rule : refused_by) std::cout << rule << ' ';
    std::cout << (refused_by.empty() ? "no file has what survives: " : "refuse all the same what survives: ")
              << std::flush;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0                                            ? Shown::by_nothing
         : WIFEXITED(status) && WEXITSTATUS(status) == accepted ? Shown::by_acceptance
                                                                : Shown::by_crash;
}

// Rules that a loader may check otherwise, or that no file alone can break.
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

// Rules whose files other rules refuse, too, with a less exact message.
const std::map<std::string_view, std::string_view> asked_twice = {
    {"B11", "H3 asks it of the program in the bundle"},
    {"G11", "G12: without segments there is none that named data could name"},
    {"G17", "G7: nothing lies within no space"},
    {"H2", "H12: a flatbuffer of this kind has the identifier"},
    {"H5", "H6 asks for 24 bytes at least, H8 for tables behind the header"},
    {"H11", "H12: the root lies within the tables, at a multiple of 4"},
};

// Checks of the rules of `not_of_files`, and of memory that a caller supplies.
const std::set<std::string_view> not_asked_of_files = {
    "devices->Get(i)->device_type() == pte::DeviceType::CPU",
    "i <= memories.size()",
    "memories[i - 1].size() >= static_cast<std::uint64_t>(sizes[i])",
    "work.left > 0",
    "false for \"H15\"",
    "extent.tables_size <= largest",
    "reinterpret_cast<std::uintptr_t>(tables.data()) % table_alignment == 0",
    "root->version() == 0",
    "t_.layout() == 0",
    "!extra || extra->device_type() == pte::DeviceType::CPU",
};

// Checks whose files other checks refuse, too.
const std::map<std::string_view, std::string_view> equal_checks = {
    {"size_of(entries) == 0 || program_.segment_count() > 0", "G12 asks it of each of them"},
    {"sizes[i] >= 0", "a negative size is more than there can be"},
    {"m.tensor(e.other)", "I10: what is changed in place is a tensor"},
    {"found == wanted", "the structure has the identifier"},
    {"length >= without_size", "H6 asks for 24 bytes at least"},
    {"within(header_at, length, file_size)", "H8 and F3 ask for tables behind the header"},
    {"end >= header_at + length", "H11: the root lies within the tables"},
    {"size >= header_at", "F5: the root lies within the tables"},
    {"root >= header_at", "the structure has the root"},
    {"root <= size - 4", "the structure has the root"},
    {"space > 0", "nothing lies within no space"},
    {"program.empty() || reinterpret_cast<std::uintptr_t>(program.data()) % table_alignment == 0",
     "H3 asks it of the program in the bundle"},
};

bool is_asked_of_files(const FormatRule& rule) {
  return (rule.checked == FormatRule::Checked::decode || rule.checked == FormatRule::Checked::validate) &&
         !not_of_files.contains(rule.id);
}

const Breakers& breakers() {
  static const Breakers all;
  return all;
}

class Planted {
 public:
  // `why_not`: the known reason why no file kills the mutant, or empty.
  void plant(const Fault& fault, std::string_view name, std::string_view why_not) {
    const Shown how = shown(fault, breakers_.of(fault));
    ++planted_, equal_ += !why_not.empty(), found_ += how != Shown::by_nothing, crashes_ += how == Shown::by_crash;
    EXPECT_TRUE(how == Shown::by_nothing || why_not.empty()) << name;
    if (how == Shown::by_nothing) std::cout << name << (why_not.empty() ? "" : ", as ") << why_not << '\n';
  }

  void expect_enough(std::string_view what) const {
    std::cout << found_ << " of " << planted_ << ' ' << what << ", left out one at a time, are shown by "
              << breakers_.files() << " files, " << crashes_ << " of them by a crash; " << equal_
              << " change nothing\n";
    EXPECT_GE(planted_ - equal_, 90u);
    EXPECT_GE(100 * found_, 97 * (planted_ - equal_));
  }

 private:
  const Breakers& breakers_ = breakers();
  std::size_t planted_ = 0, equal_ = 0, found_ = 0, crashes_ = 0;
};

std::string_view reason(const auto& reasons, std::string_view of) {
  const auto at = reasons.find(of);
  return at == reasons.end() ? "" : at->second;
}

TEST(PlantedChecks, EachThatIsLeftOutIsShown) {
  Planted checks;
  for (int i = -1; const format::PlantedCheck& check : planted_checks()) {
    ++i;
    if (!not_asked_of_files.contains(check.condition))
      checks.plant({"", i}, text(check.place, " ", check.condition), reason(equal_checks, check.condition));
  }
  checks.expect_enough("checks");
}

TEST(PlantedChecks, EachRuleThatIsLeftOutIsShown) {
  Planted rules;
  for (const FormatRule& rule : format_rules)
    if (is_asked_of_files(rule)) rules.plant({rule.id}, rule.id, reason(asked_twice, rule.id));
  rules.expect_enough("rules");
}

}  // namespace planted_checks_test
}  // namespace assay::corrupt

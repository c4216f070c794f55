// Mutants of the rules of format/, tested by files that are made to break rules. Of kind "check", a copy of our own
// loader leaves out one check; of kind "rule", all checks of one rule. A file notices a mutant where it is accepted, or
// ends the process.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/corrupt/complete.h"
#include "conformance/corrupt/corruption.h"
#include "conformance/files/file.h"
#include "conformance/loaders/read_only.h"
#include "format/check.h"
#include "proof/mutation/check_switches.h"
#include "proof/mutation/driver.h"
#include "reference/program/memory.h"

namespace assay::mutation {
namespace {

using corrupt::Attempt;
using corrupt::Files;
using format::AnyView;
using format::Finding;
using format::Findings;
using format::Workspace;

constexpr int processor_seconds = 2;  // for a mutant

// -- a loader that can leave out a rule -------------------------------------------------------------------------------

struct Loader {
  std::string_view left_out;        // a rule
  std::set<std::string_view> told;  // the broken rules

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

// Checks the payloads of a program that are not programs.
void check_payloads(const AnyView& program, std::span<const format::DataView> data, Findings& f) {
  const format::ProgramView view(program);
  std::optional<format::NamedData> named;
  const AlignedMemory memory = with_workspace([&](Workspace& w) { named.emplace(&view, data, w); });
  format::program_kind.payloads(program, &*named, [&](const format::Nested& nested) {
    if (!nested.kind || nested.kind == &format::program_kind) return;
    const auto payload = open(nested.bytes, *nested.kind, f);
    const format::Related related{{}, &view, &*named, nested.plan, nested.delegate};
    if (payload) with_workspace([&](Workspace& w) { nested.kind->check(*payload, related, w, f); });
  });
}

// Whether the loader accepts the file as one of this kind.
bool load(const FileKind& kind, const Files& files, Loader& loader) {
  Findings f(Loader::tell, &loader, ~std::uint64_t{0});
  const loaders::ReadOnlyFile memory(files.file);
  std::vector<format::DataView> data;
  if (&kind == &format::program_kind)
    for (const Bytes& bytes : files.data)
      if (const auto view = open(bytes, format::data_kind, f)) data.emplace_back(*view);
  const auto view = open_and_check(memory.bytes(), kind, data, f);
  if (view && f.none() && &kind == &format::program_kind) check_payloads(*view, data, f);
  return f.none();
}

// -- the files --------------------------------------------------------------------------------------------------------

struct Breaker {
  const FileKind* kind;
  Files files;
};

// What a mutant leaves out: a rule by its id, or a check by its number.
struct LeftOut {
  std::string_view rule;
  int check = -1;
  auto operator<=>(const LeftOut&) const = default;
};

// Files that must be refused, by what they break: a few for each rule and each check, first those that break nothing
// else.
class Breakers {
 public:
  Breakers() {
    for (const char* name : {"mlp", "cond", "map_rows", "dynamic_views", "sorting"}) {
      const File file = files::open_file(std::filesystem::path(ASSAY_GOLDEN_PROGRAMS) / name / "program.pte");
      add_corruptions(&format::program_kind, {file.bytes.begin(), file.bytes.end()});
    }
    for (corrupt::CompleteFile& complete : corrupt::complete_files())
      add_corruptions(complete.kind, std::move(complete.file));
    corrupt::each_case([&](const Attempt& a) {
      const FileKind* kind = a.subject[0] == 'B'    ? &format::bundle_kind
                             : a.files.data.empty() ? file_kind(a.files.file)
                                                    : &format::program_kind;
      return add(kind ? kind : &format::program_kind, a), true;
    });
    corrupt::each_payload_case([&](const Attempt& a) { return add(&format::program_kind, a), true; });
  }

  std::span<const Breaker> of(const LeftOut& left_out) const {
    const auto at = by_left_out_.find(left_out);
    return at == by_left_out_.end() ? std::span<const Breaker>() : at->second;
  }

 private:
  void add_corruptions(const FileKind* kind, Bytes file) {
    constexpr std::size_t places = 2;
    corrupt::Corruptions(std::move(file), {}, places).each([&](const Attempt& a) { return add(kind, a), true; });
  }

  void add(const FileKind* kind, const Attempt& a) {
    if (a.expectation.expected != corrupt::Expected::refused) return;
    Loader whole;
    format::broken_checks.clear();
    load(*kind, a.files, whole);
    const Breaker breaker{kind, a.files};
    for (const std::string_view rule : whole.told) keep({rule}, breaker, whole.told.size() == 1);
    for (const int check : format::broken_checks) keep({"", check}, breaker, format::broken_checks.size() == 1);
  }

  void keep(const LeftOut& left_out, const Breaker& breaker, bool breaks_nothing_else) {
    constexpr std::size_t few = 40;
    auto& all = by_left_out_[left_out];
    all.insert(breaks_nothing_else ? all.begin() : all.end(), breaker);
    if (all.size() > few) all.pop_back();
  }

  std::map<LeftOut, std::vector<Breaker>> by_left_out_;
};

class Checks : public Subject {
 public:
  Checks() : mutants_(generated_mutants().begin(), generated_mutants().end()) {
    for (const FormatRule& rule : format_rules)
      if (rule.checked == FormatRule::Checked::decode || rule.checked == FormatRule::Checked::validate)
        mutants_.push_back({"format", "rule", rule.id, "left out"});
    trials_ = shared<Trial>(mutants_.size());
  }

  std::string_view name() const override { return "checks"; }
  std::span<const Mutant> mutants() const override { return mutants_; }

  void try_mutants(std::span<const std::size_t> chosen, Survivors&) override {
    const Breakers breakers;
    const auto deadly = in_children(chosen, 1, [&](std::size_t i) {
      limit_processor_seconds(processor_seconds);
      const LeftOut left_out = left_out_by(i);
      active = left_out.check;
      trials_[i].noticed = std::ranges::any_of(breakers.of(left_out), [&](const Breaker& b) {
        Loader loader{left_out.rule, {}};
        const bool accepted = load(*b.kind, b.files, loader);
        if (!loader.told.empty())
          loader.told.begin()->copy(trials_[i].refused_by.data(), trials_[i].refused_by.size() - 1);
        return accepted;
      });
    });
    for (const std::size_t i : deadly) trials_[i].noticed = true;
  }

  std::optional<Result> result(std::size_t i) const override {
    const std::string by = trials_[i].refused_by.data();
    return Result{trials_[i].noticed,
                  by.empty() ? "open: no file breaks it" : "open: " + by + " refuses the same files",
                  {mutants_[i].kind}};
  }

 private:
  struct Trial {
    bool noticed = false;
    std::array<char, 8> refused_by = {};
  };

  LeftOut left_out_by(std::size_t i) const {
    return i < generated_mutants().size() ? LeftOut{"", static_cast<int>(i)} : LeftOut{mutants_[i].place};
  }

  std::vector<Mutant> mutants_;
  std::span<Trial> trials_;
};

}  // namespace

std::unique_ptr<Subject> make_subject(const Options&) { return std::make_unique<Checks>(); }

}  // namespace assay::mutation

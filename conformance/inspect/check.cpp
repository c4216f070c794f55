#include "conformance/inspect/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "conformance/inspect/listing.h"
#include "conformance/text/printable.h"
#include "reference/runtime/runtime.h"

namespace assay::inspect {
namespace {

// The planned bytes of a valid plan, whose sum fits 64 bits; entry 0 is a placeholder (M4).
Int planned_bytes(const pte::ExecutionPlan& plan) {
  const auto sizes = format::items(plan.non_const_buffer_sizes()).subspan(1);
  return std::accumulate(sizes.begin(), sizes.end(), Int{0});
}

// Writes the counts of a file's contents besides a program. `file` is null until the file opens.
constexpr format::OfKind<void (*)(const format::AnyView* file, CheckReport&)> counts[] = {
    {&format::data_kind,
     [](const format::AnyView* file, CheckReport& report) {
       report.named = file ? format::size_of(format::DataView(*file).tables->named_data()) : 0;
     }},
    {&format::bundle_kind,
     [](const format::AnyView* file, CheckReport& report) {
       report.cases = 0;
       if (file)
         for (const auto& suite : tables(format::BundleView(*file).tables->method_test_suites()))
           *report.cases += format::size_of(suite.test_cases());
     }},
};

// "delegate 0 of forward"
std::string text_of_place(const format::Place& place) {
  std::string text = text::shown(place.name);
  if (place.index >= 0) text += fmt::format(" {}", place.index);
  return place.outer ? fmt::format("{} of {}", text, text_of_place(*place.outer)) : text;
}

class Checker {
 public:
  Checker(CheckReport& report, const Budget& budget, const Testee* testee)
      : report_(report), budget_(budget), testee_(testee) {}

  // Checks a file, its parts first. Returns a program that keeps every rule.
  std::optional<ValidProgram> file(const File& file, const format::FileKind& kind, std::span<const File> data) {
    if (&kind == &format::program_kind) return program(file, data);
    report_.coverage.add(kind);
    const auto* count = format::find_of_kind(counts, kind);
    if (count) (*count)(nullptr, report_);
    const auto opened = took(open_as(file, kind));
    report_.coverage.opened = opened.has_value();
    if (!opened) return {};
    if (count) (*count)(&opened->view(), report_);
    std::optional<ValidProgram> part;
    bool holds = true;
    kind.parts(opened->view(), nullptr, [&](const format::Nested& nested) {
      part = this->file(opened->within(nested.bytes), *nested.kind, data);
      holds = part || nested.kind != &format::program_kind;
    });
    if (holds) add(faults_of(*opened, kind, {{}, part ? &(*part)->view() : nullptr}));
    return {};
  }

 private:
  std::optional<ValidProgram> program(const File& file, std::span<const File> data) {
    report_.coverage.add(format::program_kind);
    if (!data.empty()) report_.coverage.add(format::data_kind);
    std::vector<NamedDataFile> files;
    for (const File& one : data)
      if (auto opened = took(open_data(one))) files.push_back(std::move(*opened));
    auto opened = took(open_program(file));
    report_.coverage.opened = opened.has_value();
    if (!opened || files.size() < data.size()) return {};
    const auto valid = took(validate(std::move(*opened), std::move(files)));
    if (!valid) return {};
    needs((*valid)->tables());
    wanted_data(*valid);
    behind_files(*valid, "", 0);
    return valid;
  }

  using Seen = std::set<const std::byte*, std::less<>, Charged<const std::byte*>>;  // payloads of one program

  // Checks what the rules of files do not cover: calls, payloads, the testee.
  void behind_files(const ValidProgram& program, const std::string& within, int depth) {
    CallFaults calls = faults_of_calls(program, budget_);
    const bool callable = calls.faults.empty();
    for (Fault& f : calls.faults) report_.faults.add(placed(std::move(f), within));
    report_.faults.more += static_cast<std::uint64_t>(calls.more);
    report_.calls.in_full += calls.in_full, report_.calls.in_part += calls.in_part;
    report_.calls.not_asked += calls.not_asked;
    if (testee_ && callable) {
      const Tries tries =
          each_lacking(program, *testee_, [&](std::string what) { report_.lacking.add(within + std::move(what)); });
      report_.tries.tried += tries.tried, report_.tries.not_tried += tries.not_tried;
    }
    Seen seen;
    format::program_kind.payloads(format::AnyView(program->view()), &program.named_data(),
                                  [&](const format::Nested& nested) {
                                    payload(program, nested, within + text_of_place(nested.place), depth, seen);
                                  });
  }

  void payload(const ValidProgram& program, const format::Nested& nested, const std::string& place, int depth,
               Seen& seen) {
    if (!nested.kind)
      return report_.unchecked_payloads.add(fmt::format("{}, for {}", place, text::shown(nested.backend)));
    if (!nested.missing.empty())
      return report_.faults.add(
          placed(broken("D3", {}, "the payload is named data ", text::Quoted{nested.missing}, ", which does not exist"),
                 place));
    if (!seen.insert(nested.bytes.data()).second) return;
    if (depth == deepest_nesting)
      return report_.faults.add(placed(broken("D6", {}, "programs nest deeper than ", deepest_nesting), place));
    ++report_.payloads;
    if (nested.kind == &format::program_kind) return delegated_program(nested, place, depth);
    const auto opened = took(open_as(borrowed(nested.bytes), *nested.kind), place);
    if (opened) add(faults_of(*opened, *nested.kind, {{}, &program->view()}), place);
  }

  // A delegate calls the method "forward".
  void delegated_program(const format::Nested& nested, const std::string& place, int depth) {
    const std::size_t before = report_.faults.size();
    auto opened = took(open_program(borrowed(nested.bytes)), place);
    const auto valid = opened ? took(validate(std::move(*opened)), place) : std::nullopt;
    if (!valid || report_.faults.size() > before) return;
    if (!valid->plan("forward")) report_.faults.add(placed(no_method("forward", (*valid)->tables()), place));
    behind_files(*valid, place + ", ", depth + 1);
  }

  // T19 asks for these data when a method is prepared.
  void wanted_data(const ValidProgram& program) {
    std::set<std::string_view, std::less<>, Charged<std::string_view>> wanted;
    for (const pte::ExecutionPlan& plan : tables(program->tables().execution_plan()))
      for (const pte::EValue& value : tables(plan.values()))
        if (const auto* t = value.val_as_Tensor(); t && format::is_external(*t))
          if (const std::string_view name = format::name_of(*t); !program.named(name)) wanted.insert(name);
    for (const std::string_view name : wanted) report_.wanted_data.add(text::cut(name));
  }

  void needs(const pte::Program& program) {
    Buffer<const pte::Operator*> called;
    for (const pte::ExecutionPlan& plan : tables(program.execution_plan())) {
      MethodNeeds needs{text::cut(format::text_of(plan.name())), 0, planned_bytes(plan)};
      std::vector<bool, Charged<bool>> calls(format::size_of(plan.operators()));
      for (const pte::Chain& chain : tables(plan.chains())) {
        needs.instructions += format::size_of(chain.instructions());
        for (const pte::Instruction& instruction : tables(chain.instructions()))
          if (const auto* call = instruction.instr_args_as_KernelCall())
            calls[static_cast<std::size_t>(call->op_index())] = true;
      }
      for (std::uint32_t i = 0; i < calls.size(); ++i)
        if (calls[i]) called.push_back(plan.operators()->Get(i));
      report_.methods.add(std::move(needs));
    }
    count_operators(called);
  }

  void count_operators(Buffer<const pte::Operator*>& called) {
    const auto key = [](const pte::Operator* op) {
      return std::pair(format::text_of(op->name()), format::text_of(op->overload()));
    };
    std::ranges::sort(called, {}, key);
    const auto same = [&](const auto* a, const auto* b) { return key(a) == key(b); };
    called.erase(std::unique(called.begin(), called.end(), same), called.end());
    report_.operators = called.size();
    for (const pte::Operator* op : called)
      if (!is_known(*op)) report_.unknown_operators.add(cut_name(*op));
  }

  template <class T>
  std::optional<T> took(Result<T> result, const std::string& within = {}) {
    for (Fault& f : result.faults) report_.faults.add(placed(std::move(f), within));
    report_.faults.more += result.more;
    return std::move(result.value);
  }
  void add(std::vector<Fault> faults, const std::string& within = {}) {
    for (Fault& f : faults) report_.faults.add(placed(std::move(f), within));
  }
  static Fault placed(Fault fault, const std::string& within) {
    if (!within.empty()) fault.place = within + (fault.place.empty() ? "" : ", ") + fault.place;
    return fault;
  }

  CheckReport& report_;
  const Budget& budget_;
  const Testee* testee_;
};

}  // namespace

CheckReport check(const File& file, std::span<const File> data, const Budget& budget, const Testee* testee) {
  CheckReport report;
  report.bytes = file.bytes.size();
  if (const format::FileKind* kind = format::file_kind(file.bytes)) report.kind = kind;
  if (testee) report.testee = testee->library.name();
  Checker checker(report, budget, testee);
  const Budget::Scope scope(budget, "the check");
  checker.file(file, *report.kind, data);
  return report;
}

}  // namespace assay::inspect

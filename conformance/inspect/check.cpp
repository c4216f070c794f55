#include "conformance/inspect/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "conformance/inspect/listing.h"
#include "conformance/text/printable.h"
#include "reference/runtime/runtime.h"

namespace assay {
namespace {

constexpr std::string_view program_backend = "ProgramBackend";  // the reference's own, whose payloads are programs

// What make_program_delegate loads. Faults: D3.
std::span<const std::byte> program_payload(const ValidProgram& program, const pte::BackendDelegate& delegate) {
  for (const pte::CompileSpec& spec : tables(delegate.compile_specs()))
    if (format::text_of(spec.key()) == "named_data") {
      const auto key = std::as_bytes(format::items(spec.value()));
      const std::string_view name(reinterpret_cast<const char*>(key.data()), key.size());
      const auto named = program.named(name);
      if (!named) throw broken("D3", {}, "the payload is named data ", Quoted{name}, ", which there is not");
      return named->bytes;
    }
  return format::payload(program->view(), delegate);
}

// Of a valid plan, whose sum fits; entry 0 stands for nothing, whatever it is (M4).
Int planned_bytes(const pte::ExecutionPlan& plan) {
  const auto sizes = format::items(plan.non_const_buffer_sizes()).subspan(1);
  return std::accumulate(sizes.begin(), sizes.end(), Int{0});
}

class Checker {
 public:
  Checker(CheckReport& report, const Budget& budget, const Testee* testee)
      : report_(report), budget_(budget), testee_(testee) {}

  void data(const File& file) {
    report_.coverage = {"F"};
    const auto opened = took(open_data(file));
    report_.coverage.opened = opened.has_value();
    if (!opened) return;
    add(faults_of(*opened));
    report_.named = format::size_of(opened->tables().named_data());
  }

  void bundle(const File& file, std::span<const File> data) {
    report_.coverage = {"B"};
    const auto opened = took(open_bundle(file));
    if (!opened) return;
    for (const auto& suite : tables(opened->tables().method_test_suites()))
      report_.cases += format::size_of(suite.test_cases());
    const auto program = program_with(program_of(*opened), data);
    report_.coverage.areas += 'B';
    if (program) add(faults_of(*opened, *program));
  }

  void program(const File& file, std::span<const File> data) { program_with(file, data); }

 private:
  std::optional<ValidProgram> program_with(const File& file, std::span<const File> data) {
    report_.coverage = {data.empty() ? "HGMVTIDR" : "HGMVTIDRF"};
    std::vector<NamedDataFile> files;
    for (const File& one : data)
      if (auto opened = took(open_data(one))) files.push_back(std::move(*opened));
    auto opened = took(open_program(file));
    report_.coverage.opened = opened.has_value();
    if (!opened || files.size() < data.size()) return {};
    const auto valid = took(validate(std::move(*opened), std::move(files)));
    if (!valid) return {};
    needs((*valid)->tables());
    behind_files(*valid, "", 0);
    return valid;
  }

  using Seen = std::set<const std::byte*, std::less<>, Charged<const std::byte*>>;  // payloads of one program

  // What the rules of files leave: calls, payloads, the testee.
  void behind_files(const ValidProgram& program, const std::string& within, int depth) {
    CallFaults calls = faults_of_calls(program, budget_);
    const bool callable = calls.faults.empty();
    for (Fault& f : calls.faults) report_.faults.add(placed(std::move(f), within));
    report_.faults.more += static_cast<std::uint64_t>(calls.more);
    report_.calls.in_full += calls.in_full, report_.calls.in_part += calls.in_part;
    report_.calls.not_asked += calls.not_asked;
    if (testee_ && callable)
      each_lacking(program, *testee_, [&](std::string what) { report_.lacking.add(within + std::move(what)); });
    Seen seen;
    for (const pte::ExecutionPlan& plan : tables(program->tables().execution_plan()))
      for (std::uint32_t i = 0; i < format::size_of(plan.delegates()); ++i)
        payload(program, *plan.delegates()->Get(i),
                fmt::format("{}delegate {} of {}", within, i, shown(format::text_of(plan.name()))), depth, seen);
  }

  // That of the reference's own backend is a program, with a method "forward".
  void payload(const ValidProgram& program, const pte::BackendDelegate& delegate, const std::string& place, int depth,
               Seen& seen) {
    if (format::text_of(delegate.id()) != program_backend)
      return report_.unchecked_payloads.add(fmt::format("{}, for {}", place, shown(format::text_of(delegate.id()))));
    std::span<const std::byte> bytes;
    try {
      bytes = program_payload(program, delegate);
    } catch (Fault& fault) {
      return report_.faults.add(placed(std::move(fault), place));
    }
    if (!seen.insert(bytes.data()).second) return;
    if (depth == deepest_nesting)
      return report_.faults.add(placed(broken("D6", {}, "programs nest deeper than ", deepest_nesting), place));
    ++report_.payloads;
    const std::size_t before = report_.faults.size();
    auto opened = took(open_program(borrowed(bytes)), place);
    const auto valid = opened ? took(validate(std::move(*opened)), place) : std::nullopt;
    if (!valid || report_.faults.size() > before) return;
    if (!valid->plan("forward")) report_.faults.add(placed(no_method((*valid)->tables(), "forward"), place));
    behind_files(*valid, place + ", ", depth + 1);
  }

  void needs(const pte::Program& program) {
    Buffer<const pte::Operator*> called;
    for (const pte::ExecutionPlan& plan : tables(program.execution_plan())) {
      MethodNeeds needs{cut(format::text_of(plan.name())), 0, planned_bytes(plan)};
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
  void add(std::vector<Fault> faults) {
    for (Fault& f : faults) report_.faults.add(std::move(f));
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
  const FileKind kind = file_kind(file.bytes);
  if (kind != FileKind::unknown) report.kind = kind;
  if (testee) report.testee = testee->library.name();
  Checker checker(report, budget, testee);
  const Budget::Scope scope(budget, "the check");
  if (kind == FileKind::data)
    checker.data(file);
  else if (kind == FileKind::bundle)
    checker.bundle(file, data);
  else
    checker.program(file, data);
  return report;
}

}  // namespace assay

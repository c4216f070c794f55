#include "conformance/runner/laboratory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "reference/fault.h"

namespace assay {
namespace {

constexpr char described = '+', plain = ' ';  // how a task begins; then comes the case's id

constexpr std::size_t digest_digits = 16;

std::string to_text(const Judged& j) { return fmt::format("{:016x}{}", j.answer, to_json_line(j.record)); }

Judged judged_from(std::string_view text, bool spoilt) {
  Judged j{from_json_line(text.substr(digest_digits)), 0, spoilt};
  std::from_chars(text.data(), text.data() + digest_digits, j.answer, 16);
  return j;
}

}  // namespace

Laboratory::Laboratory(const Corpus& corpus, KernelLibrary& library, const Contract& contract, const Patience& patience)
    : corpus_(corpus),
      library_(library),
      contract_(contract),
      patience_(patience),
      nursery_([this](std::string_view t) { return work(t); }) {}

Work Laboratory::work(std::string_view task) {
  if (!probe_) probe_.emplace(library_).explain_faults();
  const Judged j = run_case(corpus_, *probe_, contract_, case_id_from(task.substr(1)), task[0] == described);
  return {to_text(j), j.spoilt};
}

Judged Laboratory::judged(const CaseId& id, const TaskResult& result) const {
  using enum TaskResult::End;
  if (result.end == done || result.end == last) return judged_from(result.text, result.end == last);
  if (result.end == threw)
    throw Fault(Outcome::invalid, "run", text("case ", assay::to_text(id), " cannot be run: ", result.text));
  return lost_case(corpus_, library_.name(), contract_, id, result);
}

std::vector<Judged> Laboratory::run(std::span<const CaseId> cases) {
  std::vector<std::string> tasks;
  for (const CaseId& id : cases) tasks.push_back(plain + assay::to_text(id));
  return run(tasks, cases);
}

std::vector<Judged> Laboratory::run_all(std::span<const CaseId> cases) {
  std::vector<Judged> all;
  while (all.size() < cases.size()) std::ranges::move(run(cases.subspan(all.size())), std::back_inserter(all));
  return all;
}

std::vector<Judged> Laboratory::run(std::span<const std::string> tasks, std::span<const CaseId> cases) {
  std::vector<Judged> all;
  Child child(nursery_, patience_);
  for (const std::string& task : tasks) child.give(task);
  for (const CaseId& id : cases) {
    all.push_back(judged(id, child.next()));
    if (all.back().spoilt) break;
  }
  return all;
}

Judged Laboratory::run_alone(const CaseId& id, bool always_described) {
  const std::string task = (always_described ? described : plain) + assay::to_text(id);
  return std::move(run({&task, 1}, {&id, 1}).front());
}

}  // namespace assay

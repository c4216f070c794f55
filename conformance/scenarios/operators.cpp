#include "conformance/scenarios/operators.h"

#include <algorithm>
#include <set>

#include "conformance/cases/host_call.h"
#include "conformance/judge/choice.h"
#include "conformance/reproduce/call_program.h"
#include "conformance/sandbox/file_in_memory.h"
#include "conformance/scenarios/expectation.h"
#include "conformance/scenarios/recorded_program.h"

namespace assay::scenarios {
namespace {

struct FileOfCall {
  explicit FileOfCall(const Program& program) : bytes(encode(program)), file(bytes) {}
  Bytes bytes;
  sandbox::FileInMemory file;
};

Script script(const cases::Corpus& corpus, const cases::CaseId& id, judge::ArithmeticMode arithmetic, bool promised) {
  const cases::Case c = corpus.make(id);
  cases::HostCall host = cases::host_call(c);
  reproduce::CallProgram program = reproduce::program_of_call(*c.op, host.arguments);
  const auto file = std::make_shared<const FileOfCall>(program.program);
  auto expected = std::make_shared<const judge::Expectation>(std::move(host.expected));
  Step step{.method = "forward", .inputs = {program.inputs.begin(), program.inputs.end()}};
  step.judge = answers(*c.op, c.arguments, std::move(expected), arithmetic,
                       promised ? judge::Refusals::unsupported : judge::Refusals::all);
  return {{file->file.path(), {}}, {load(), std::move(step)}, file};
}

// None unless exporters emit the call and the reference answers it.
std::optional<Scenario> scenario(const cases::Corpus& corpus, const contract::Contract& contract,
                                 const cases::CaseId& id) {
  const cases::Case c = corpus.make(id);
  const cases::HostCall host = cases::host_call(c);
  if (!host.valid()) return std::nullopt;
  contract::Promise promise = contract.promise(*c.op, host);
  if (std::ranges::find(promise.slices, verdict::exported_slice) == promise.slices.end()) return std::nullopt;
  const judge::ArithmeticMode arithmetic = contract.arithmetic;
  Scenario s{.id = concat("operators/", cases::to_text(id)), .kind = ScenarioKind::operators};
  cases::each_tensor(host.arguments, [&](const Tensor& t, std::size_t) {
    s.dtypes.emplace_back(info(t.dtype).name), s.layouts.push_back(cases::layout_name(t));
  });
  s.slices = std::move(promise.slices), s.promised = promise.promised;
  s.script = [&corpus, id, arithmetic, promised = s.promised] { return script(corpus, id, arithmetic, promised); };
  return s;
}

}  // namespace

void add_operators(std::vector<Scenario>& all, const cases::Corpus& corpus, const contract::Contract& contract,
                   std::size_t most) {
  for (const cases::RecordedCalls* calls : corpus.matching("")) {
    if (judge::is_drawn(calls->op())) continue;
    std::set<std::vector<std::string>> seen;
    for (std::size_t i = 0; i < calls->size() && seen.size() < most; ++i) {
      const cases::RecordedCall recorded = calls->at(i);
      std::vector<std::string> dtypes;
      cases::each_tensor(recorded.arguments,
                         [&](const Tensor& t, std::size_t) { dtypes.emplace_back(info(t.dtype).name); });
      if (recorded.refused || seen.contains(dtypes)) continue;
      auto one = scenario(corpus, contract, {std::string(calls->op().name), calls->digest(i), {}});
      if (!one) continue;
      seen.insert(std::move(dtypes));
      all.push_back(std::move(*one));
    }
  }
}

}  // namespace assay::scenarios

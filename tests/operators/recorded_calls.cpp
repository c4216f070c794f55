// Judges the reference's answer to every recorded call of eager PyTorch, in the same way as the answer of any testee.
//
//   recorded_calls FOLDER [KNOWN [STEP | traps]]
//
// prints a line for each operator: its calls, and a digest of what the reference gave, in which float64 results that
// need not be exact are left out (libraries differ in their last bit). KNOWN lists the calls that are expected to
// disagree. STEP makes only every STEP-th call of an operator; the default is 1. With `traps`,
// a call must break the rule that its origin names, and results must be equal bit for bit. Exits with 1, and prints the
// call and its origin, such as "trap: of nothing is 1", when a call is outside its bounds, when its rules without data
// contradict the call, or when the entry without outs contradicts eager. Exits with 1, too, when all calls were made
// and a known disagreement agrees.

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <set>

#include "conformance/cases/case.h"
#include "conformance/cases/fresh.h"
#include "conformance/cases/recorded_eager.h"
#include "conformance/judge/judge.h"
#include "conformance/runner/case_list.h"
#include "conformance/runner/run_case.h"
#include "tests/support/static_call.h"

namespace {

using namespace assay;

// The elements as bits, which are the same for every NaN.
Buffer<Bits> bits_of(const Tensor& tensor) {
  const DTypeInfo& d = info(tensor.dtype);
  Buffer<Bits> bits = read_parts(tensor).data;
  for (Bits& b : bits)
    if (is_floating(d.part) && std::isnan(d.real_of(b))) b = ~Bits{0};
  return bits;
}

class Digest {  // FNV-1a
 public:
  void add(const Operator& op, const Tensor& result) {
    const DTypeInfo& d = info(result.dtype);
    if (d.part == DType::float64 && accuracy(op, 0, result.dtype).measure != Accuracy::Measure::exact) return;
    for (const Bits b : bits_of(result)) add(b);
  }
  void add(Bits value) { state_ = (state_ ^ value) * 0x100000001b3u; }
  Bits value() const { return state_; }

 private:
  Bits state_ = 0xcbf29ce484222325u;
};

// How the reference's answer differs from the answer that a trap records, or from the rule that its origin names, as in
// "trap: bool has no argmax; breaks argmax.R1". Results must be equal bit for bit. Empty if nothing differs.
std::string trap_mismatch(const RecordedCall& recorded, const Expectation& expected) {
  constexpr std::string_view breaks = "; breaks ";
  const std::size_t at = recorded.origin.find(breaks);
  const std::string rule = at == std::string::npos ? "" : recorded.origin.substr(at + breaks.size());
  if (expected.answer.rule != rule)
    return fmt::format("the reference breaks \"{}\" instead of \"{}\"", expected.answer.rule, rule);
  for (std::size_t i = 0; i < recorded.results.size() && recorded.has_values && rule.empty(); ++i)
    if (bits_of(expected.outs[i]) != bits_of(recorded.results[i])) return fmt::format("result {} differs in bits", i);
  return "";
}

int check(const Corpus& corpus, KernelLibrary& eager, std::optional<Probe>& probe, const RecordedCalls& calls,
          std::set<std::string>& known, std::size_t step, bool traps) {
  const Operator& op = calls.op();
  Digest digest;
  int wrong = 0;
  for (std::size_t i = 0; i < calls.size(); i += step) {
    const CaseId id{std::string(op.name), calls.digest(i), {}};
    const Case recorded = corpus.make(id);
    const std::vector<Value>& arguments = recorded.arguments;
    const Expectation expected = expect(op, arguments);
    std::vector<std::string> disagreements;  // disagreements that KNOWN may list
    if (const auto m = fresh_mismatch(op, recorded.recorded); !m.empty()) disagreements.push_back(m);
    if (const auto m = traps ? trap_mismatch(recorded.recorded, expected) : ""; !m.empty()) disagreements.push_back(m);
    for (const Known depth : {Known::sizes, Known::ranks})
      if (const auto m = static_mismatch(op, arguments, expected.answer, expected.arguments, depth); !m.empty())
        ++wrong, fmt::print(stderr, "{}: {}\n", to_text(id), m);
    digest.add(static_cast<Bits>(expected.answer.outcome));
    for (const Tensor& t : expected.outs) digest.add(op, t);
    if (!probe || probe->is_spent())
      probe.emplace(eager);  // one Probe serves many calls, since reserving its addresses takes time
    const Record r = run_case(corpus, *probe, Contract(), id).record;
    if (r.verdict != Verdict::pass && r.verdict != Verdict::quality)
      disagreements.push_back(fmt::format("{} {}: {}", name(r.verdict), name(r.failure), r.message));
    if (disagreements.empty() || known.erase(r.case_id) > 0) continue;
    ++wrong;
    for (const std::string& d : disagreements)
      fmt::print(stderr, "{} ({}): {}\n", r.case_id, recorded.recorded.origin, d);
  }
  fmt::print("{} {} calls {:016x}\n", op.name, calls.size(), digest.value());
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const bool traps = argc == 4 && argv[3] == std::string_view("traps");
  const std::size_t step = argc == 4 && !traps ? std::strtoul(argv[3], nullptr, 10) : 1;
  if (argc < 2 || argc > 4 || step == 0)
    return fmt::print(stderr, "usage: recorded_calls FOLDER [KNOWN [STEP | traps]]\n"), 2;
  try {
    const Corpus corpus(argv[1]);
    RecordedEager eager(corpus);
    std::set<std::string> known = argc > 2 ? read_case_list(argv[2], "known") : std::set<std::string>{};
    std::optional<Probe> probe;
    int wrong = 0;
    for (const RecordedCalls* calls : corpus.matching(""))
      wrong += check(corpus, eager, probe, *calls, known, step, traps);
    if (step > 1) known.clear();
    for (const std::string& id : known)
      fmt::print(stderr, "{}: listed in {}, but agrees: take it off the list\n", id, argv[2]);
    return wrong > 0 || !known.empty();
  } catch (const Fault& f) {
    fmt::print(stderr, "recorded_calls: {}, {}: {}\n", name(f.outcome), f.rule, f.message);
    return exit_code(f.outcome);
  }
}

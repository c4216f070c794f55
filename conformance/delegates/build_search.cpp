#include "conformance/delegates/build_search.h"

#include <algorithm>
#include <filesystem>

#include "conformance/delegates/interval_method.h"
#include "conformance/delegates/plain_cutter.h"
#include "conformance/delegates/within.h"
#include "conformance/files/file.h"
#include "conformance/files/temporary_folder.h"
#include "conformance/hosts/host.h"
#include "conformance/loaders/isolated_loader.h"
#include "conformance/scenarios/recorded_program.h"
#include "conformance/scenarios/stage.h"
#include "conformance/text/fault_text.h"

namespace assay::delegates {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_with(std::vector<std::string> words, const std::string& out) {
  std::ranges::replace(words, std::string("{out}"), out);
  return words;
}

loaders::LoadLimits limits_of(const BuildCommand& command) {
  constexpr std::uint64_t most_written = std::uint64_t{1} << 32;
  return {.time = command.time, .memory = 0, .output = most_written, .interrupted = command.interrupted};
}

// The dtypes and sizes of these values of a plan: "float32 (2, 3), int64 (4)".
std::string signature(const pte::ExecutionPlan& plan, std::span<const std::int32_t> values) {
  std::string all;
  for (const std::int32_t i : values) {
    const auto* t = plan.values()->Get(static_cast<std::uint32_t>(i))->val_as_Tensor();
    if (!all.empty()) all += ", ";
    all += t ? concat(*dtype_numbered(t->scalar_type()), ' ',
                      Ints(t->sizes() ? Ints(t->sizes()->begin(), t->sizes()->end()) : Ints()))
             : std::string("no tensor");
  }
  return all;
}
// The method "forward": "(float32 (2, 3)) -> (float32 (2, 3))".
std::string signature(const ValidProgram& program) {
  const pte::ExecutionPlan* plan = program.plan("forward");
  return plan ? concat('(', signature(*plan, format::items(plan->inputs())), ") -> (",
                       signature(*plan, format::items(plan->outputs())), ')')
              : "missing";
}

class Search {
 public:
  Search(const PlainCall& plain, const BuildCommand& command, testee::Runtime& runtime,
         const sandbox::TimeLimit& time_limit, const Budget& budget)
      : cutter_(plain.program, plain.method, plain.inputs, budget),
        most_(command.most),
        runtime_(runtime),
        time_limit_(time_limit),
        budget_(budget),
        command_(loaders::load_by_command(words_with(command.words, written_.string()), limits_of(command))) {}

  BuiltPart run() {
    std::uint32_t begin = 0, end = cutter_.calls();
    if (!is_wrong(begin, end)) {
      found_.message = found_.not_judged.empty() ? "the program that the command builds from the whole method is right"
                                                 : "the whole method was not judged";
      return found_;
    }
    for (std::uint32_t right = 0; end - right > 1;) {
      const std::uint32_t middle = right + (end - right) / 2;
      (is_wrong(0, middle) ? end : right) = middle;
    }
    for (std::uint32_t right = end; right - begin > 1;) {
      const std::uint32_t middle = begin + (right - begin) / 2;
      (is_wrong(middle, end) ? begin : right) = middle;
    }
    return found_;
  }

 private:
  // Whether the testee is wrong with the program that the command builds of this part. A part that is not built, or
  // not decided, does not count as wrong.
  bool is_wrong(std::uint32_t begin, std::uint32_t end) {
    if (found_.builds >= most_) {
      found_.not_judged = "the limit of --max-builds is reached";
      return false;
    }
    try {
      const PlainPart part = cutter_.cut(begin, end);
      const ValidProgram plain = hosts::valid_program(in_memory(encode(part.program)));
      const File program = built(part, plain);
      const std::vector<Value> inputs(part.inputs.begin(), part.inputs.end());
      IntervalMethod method(plain, "forward", {}, budget_);
      const auto right = std::make_shared<const RightGraphs>(RightGraphs{method.run(inputs)});
      const verdict::Record judged = judge(inputs, right);
      if (judged.verdict == verdict::Verdict::unsupported) throw not_judged(judged.message);
      if (!verdict::is_failure(judged.verdict)) return false;
      found_.message = judged.message, found_.program = program, found_.inputs = part.inputs;
      found_.expected.clear(), found_.instructions.clear();
      for (const RightOutput& output : right->front()) found_.expected.push_back(output.expected);
      for (std::uint32_t call = begin; call < end; ++call) found_.instructions.push_back(cutter_.described(call));
      return true;
    } catch (const Fault& fault) {
      if (fault.rule != "delegate.build" && fault.rule != "delegate.graph") throw;
      found_.not_judged = fault.message;
      return false;
    }
  }

  static Fault not_judged(const auto&... parts) {
    return Fault(Outcome::unsupported, "delegate.build", concat(parts...));
  }

  // The program that the command builds of a part. Throws Fault "delegate.build" if it builds none.
  File built(const PlainPart& part, const ValidProgram& plain) {
    using enum loaders::LoadOutcome::End;
    fs::remove_all(written_);
    ++found_.builds;
    const loaders::LoadOutcome outcome = command_->load(std::vector{corrupt::Files{encode(part.program), {}}}).front();
    if (outcome.end == left_out) throw not_judged("the command took longer than its time too often");
    if (outcome.end != accepted) throw not_judged("the command ", word(outcome.end), ": ", outcome.words);
    if (!fs::is_regular_file(written_)) throw not_judged("the command ended with exit code 0, but wrote no file");
    std::string wrong;
    try {
      File program = files::open_file(written_, {.budget = budget_, .map = false});
      const std::string is = signature(hosts::valid_program(program)), should = signature(plain);
      if (is == should) return program;
      wrong = concat("its method forward is ", is, ", but must be ", should);
    } catch (const Fault& fault) {
      wrong = text::sentence(fault);
    }
    throw not_judged("the command wrote no program of the part: ", wrong);
  }

  verdict::Record judge(const std::vector<Value>& inputs, const std::shared_ptr<const RightGraphs>& right) {
    scenarios::Scenario scenario{.id = "part"};
    scenario.script = [&] {
      scenarios::Step call{.method = "forward", .inputs = inputs};
      call.judge = is_within(right);
      return scenarios::Script{{written_, {}}, {scenarios::load(), std::move(call)}};
    };
    scenarios::Stage stage({std::move(scenario)}, runtime_, time_limit_);
    verdict::Record judged;
    stage.judge(stage.blocks(), [&](const verdict::Record& record) { judged = record; });
    judged.message = judged.message.substr(0, judged.message.find('\n'));
    return judged;
  }

  const PlainCutter cutter_;
  const int most_;
  testee::Runtime& runtime_;
  const sandbox::TimeLimit time_limit_;
  const Budget budget_;
  const files::TemporaryFolder folder_;
  const fs::path written_ = folder_ / "built.pte";  // by the command
  const std::unique_ptr<loaders::IsolatedLoader> command_;
  BuiltPart found_;
};

}  // namespace

BuiltPart first_wrong_part(const PlainCall& plain, const BuildCommand& command, testee::Runtime& runtime,
                           const sandbox::TimeLimit& time_limit, const Budget& budget) {
  try {
    return Search(plain, command, runtime, time_limit, budget).run();
  } catch (const Fault& fault) {
    if (fault.rule != "delegate.build") throw;
    return {.message = fault.message};
  }
}

}  // namespace assay::delegates

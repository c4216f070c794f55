#include "conformance/scenarios/play.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>

#include "conformance/cases/tensors.h"
#include "conformance/files/compare.h"
#include "conformance/files/file.h"
#include "conformance/files/same.h"
#include "conformance/hosts/host.h"
#include "conformance/sandbox/child.h"
#include "conformance/sandbox/death.h"
#include "conformance/sandbox/misconduct.h"
#include "conformance/scenarios/expectation.h"
#include "conformance/text/digest.h"
#include "conformance/text/literal.h"
#include "reference/fault.h"

namespace assay::scenarios {
namespace {

constexpr Int shown_elements = 8;

std::string described(const Tensor& t) {
  return describe(t) + (cases::is_contiguous(t) ? "" : concat(" in dim order ", t.dim_order));
}

std::string in_words(const std::vector<Value>& values) {
  std::string all;
  for (const Value& v : values) {
    const Tensor* t = std::get_if<Tensor>(&v);
    all += (all.empty() ? "" : ", ") + (t ? described(*t) : text::literal(v, shown_elements));
  }
  return all;
}

std::string in_words(const Step& step) {
  const std::string which = step.instance == 0 ? "" : concat(" program ", step.instance);
  switch (step.what) {
    case Step::Do::load:
      return "load" + which;
    case Step::Do::unload:
      return "unload" + which;
    case Step::Do::ask:
      return "ask " + step.request;
    case Step::Do::select:
      return concat("set the inputs of ", step.method, '(', in_words(step.inputs), ')');
    case Step::Do::execute:
      return concat("set again and execute ", step.method, '(', in_words(step.inputs), ')');
    case Step::Do::call:
      return concat("call", which, which.empty() ? " " : ", ", step.method, '(', in_words(step.inputs), ')');
  }
  return {};
}

void tell(std::string line) {
  line += '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

bool takes_instances(const Script& script) {
  return std::ranges::any_of(script.steps, [](const Step& step) { return step.instance > 0; });
}

bool reorders(const Script& script) { return std::ranges::any_of(script.steps, &Step::reordered); }

verdict::Record record_of(const Scenario& scenario, std::string_view testee) {
  verdict::Record r;
  r.testee = testee, r.operator_name = scenario.group.empty() ? name(scenario.kind) : scenario.group,
  r.case_id = scenario.id;
  r.dtypes = scenario.dtypes, r.layouts = scenario.layouts;
  r.rule = scenario.rule, r.valid = scenario.valid, r.slices = scenario.slices, r.promised = scenario.promised;
  return r;
}

class Player {
 public:
  Player(const Script& script, testee::Runtime& runtime) : script_(script), runtime_(runtime) {}

  // Returns whether the next step is to be played.
  bool play(const Step& step) {
    StepResult result;
    judge::Judgement next;
    const std::vector<Value> inputs = step.inputs;
    try {
      result = done(step);
    } catch (const testee::NotAsked& not_asked) {
      next = unsupported(not_asked.message);
    } catch (const sandbox::Misconduct& misconduct) {
      next.verdict = verdict::Verdict::fail, next.failure = misconduct.failure, next.message = misconduct.sentence;
    } catch (const std::exception& thrown) {  // an exception would end a host that does not expect it
      next.verdict = verdict::Verdict::crash, next.failure = verdict::Class::abort,
      next.message = concat("throws: ", thrown.what());
    }
    if (next.verdict == verdict::Verdict::pass && step.judge) next = judged(step, result);
    if (step.what == Step::Do::load || step.what == Step::Do::unload) called_.erase(step.instance);
    if (!result.outputs.empty()) called_.emplace(step.instance, Called{step.method, result.outputs});
    if (next.verdict == verdict::Verdict::pass && !std::ranges::equal(inputs, step.inputs, files::same))
      next.verdict = verdict::Verdict::fail, next.failure = verdict::Class::changes_input,
      next.message = "changes an input";
    answer_ +=
        concat(name(result.reply.outcome), ' ', verdict::name(next.verdict), ' ', verdict::name(next.failure), '\n');
    const bool is_good = verdict::is_right(next.verdict);
    if (next.verdict != verdict::Verdict::pass) judgement_ = std::move(next);
    return is_good && (step.what != Step::Do::load || result.reply.outcome == Outcome::ok);
  }

  // The judgement of the step that ended the case. If no step ended it, the last judgement that is not `pass`.
  const judge::Judgement& judgement() const { return judgement_; }
  // A digest of the outcomes alone, since threads may add in another order and round differently.
  std::uint64_t answer() const { return text::digest(answer_); }

 private:
  // If the outputs are wrong, the message begins with the sign that they show.
  judge::Judgement judged(const Step& step, const StepResult& result) const {
    judge::Judgement judgement = step.judge(result);
    const bool is_wrong = result.reply.outcome == Outcome::ok && step.judge.refused.empty();
    if (!verdict::is_failure(judgement.verdict) || !is_wrong) return judgement;
    if (const Sign* sign = sign_of(step, result)) judgement.message = concat(sign->words, ": ", judgement.message);
    return judgement;
  }

  const Sign* sign_of(const Step& step, const StepResult& result) const {
    const auto is_right = [](const StepJudge& judge, const StepResult& r) {
      return judge && judge(r).verdict == verdict::Verdict::pass;
    };
    StepResult reversed = result;
    std::ranges::reverse(reversed.outputs);
    if (result.outputs.size() > 1 && is_right(step.judge, reversed)) return &sign::reversed;
    if (is_right(step.stale, result)) return &sign::first_value;
    if (has_elements_of_another(step, result.outputs)) return &sign::other_output;
    const auto [began, end] = called_.equal_range(step.instance);
    const Called* last = nullptr;  // the last call of the same method
    for (auto at = began; at != end; ++at)
      if (at->second.method == step.method) last = &at->second;
    if (began == end) return nullptr;
    if (is_right(of_initial_state(step), result))
      return std::prev(end)->second.method == step.method ? &sign::lost_state : &sign::lost_beside;
    return last && std::ranges::equal(last->outputs, result.outputs, files::same) ? &sign::former_results : nullptr;
  }

  // Whether a wrong output has the elements of another output, which is right.
  static bool has_elements_of_another(const Step& step, const std::vector<Value>& outputs) {
    const std::vector<Value>& right = step.judge.outputs;
    if (right.size() != outputs.size()) return false;
    const auto is_right = [&](std::size_t i) {
      return files::compare(outputs[i], right[i], {step.judge.rtol, step.judge.atol}).agrees();
    };
    for (std::size_t i = 0; i < outputs.size(); ++i)
      for (std::size_t j = 0; j < outputs.size(); ++j) {
        const Tensor *a = std::get_if<Tensor>(&outputs[i]), *b = std::get_if<Tensor>(&outputs[j]);
        if (i != j && a && b && !a->bytes.empty() && a->bytes == b->bytes && !is_right(i) && is_right(j)) return true;
      }
    return false;
  }

  // Judges results of a call by those of a new instance. Null if the reference does not know them.
  StepJudge of_initial_state(const Step& step) const {
    const sandbox::StoppedClock clock;
    try {
      hosts::Host reference(hosts::valid_program(files::open_file(script_.program.program),
                                                 files::open_data_files(script_.program.data)));
      return gives(reference.call(step.method, step.inputs), {step.judge.rtol, step.judge.atol});
    } catch (const Fault&) {
      return {};
    }
  }

  StepResult done(const Step& step) {
    StepResult result;
    if (loaded_.size() <= step.instance) loaded_.resize(step.instance + 1);
    auto& program = loaded_[step.instance];
    if (step.what == Step::Do::unload) program.reset();
    if (step.what == Step::Do::load) program = runtime_.load(script_.program, result.reply);
    if (step.what == Step::Do::ask)
      result.reply = runtime_.ask(step.request, script_.program, step.method, step.inputs);
    if (step.what == Step::Do::select) result.reply = program->select(step.method, step.inputs);
    if (step.what == Step::Do::execute) result.reply = program->execute(step.inputs, result.outputs);
    if (step.what == Step::Do::call) result.reply = program->call(step.method, step.inputs, result.outputs);
    return result;
  }

  const Script& script_;
  testee::Runtime& runtime_;
  // An answered call of a program since it was loaded.
  struct Called {
    std::string method;
    std::vector<Value> outputs;
  };

  std::vector<std::unique_ptr<testee::TesteeProgram>> loaded_;
  std::multimap<std::size_t, Called> called_;  // by the index of the loaded program
  judge::Judgement judgement_;
  std::string answer_;
};

// The reference may take longer to know the right results than the testee may take to compute them.
Script script_of(const Scenario& scenario) {
  const sandbox::StoppedClock clock;
  return scenario.script();
}

judge::Judgement play(const Script& script, testee::Runtime& runtime, verdict::Record& r, std::uint64_t& answer) {
  if (takes_instances(script) && !runtime.has_instances())
    return unsupported(concat(runtime.name(), " takes one program at a time"));
  if (reorders(script) && !runtime.takes_dim_orders())
    return unsupported(concat(runtime.name(), " takes only inputs of the dim orders that the program declares"));
  Player player(script, runtime);
  for (const Step& step : script.steps) {
    r.inputs.push_back({std::to_string(r.inputs.size()), in_words(step)});
    tell(concat(r.inputs.back().name, ": ", r.inputs.back().text));
    if (player.play(step)) continue;
    if (verdict::is_failure(player.judgement().verdict)) r.valid = step.valid;
    break;
  }
  answer = player.answer();
  judge::Judgement j = player.judgement();
  if (!j.message.empty()) j.message = concat(r.inputs.back().text, ": ", j.message);
  return j;
}

}  // namespace

runner::Judged play(const Scenario& scenario, testee::Runtime& runtime, runner::Detail detail) {
  const Script script = script_of(scenario);
  runtime.begin(scenario.id);
  const auto begin = std::chrono::steady_clock::now();
  runner::Judged judged{record_of(scenario, runtime.name()), 0, false};
  verdict::Record& r = judged.record;
  const judge::Judgement j = play(script, runtime, r, judged.answer);
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  judged.spoilt = j.verdict == verdict::Verdict::crash;
  r.verdict = j.verdict, r.failure = j.failure, r.bound = j.bound, r.message = j.message;
  if (!j.rule.empty()) r.rule = j.rule;
  if (!j.bound.empty()) r.distance = j.distance;
  if (r.verdict == verdict::Verdict::pass && detail != runner::Detail::all) r.inputs.clear();
  return judged;
}

runner::Judged lost(const Scenario& scenario, std::string_view testee, const sandbox::TaskResult& death) {
  runner::Judged judged{record_of(scenario, testee), 0, true};
  judged.record.verdict = sandbox::verdict_on_death(death), judged.record.failure = sandbox::class_of_death(death);
  judged.record.message = sandbox::words_of_death(death);
  judged.answer = text::digest(concat(verdict::name(judged.record.verdict), death.text));
  return judged;
}

}  // namespace assay::scenarios

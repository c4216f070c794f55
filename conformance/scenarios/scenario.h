#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/judge/judge.h"
#include "conformance/testee/runtime.h"

// Scenarios: the steps that a runtime under test does with programs, and the expected results. spec/runtime_suite.md
// defines the terms.
namespace assay::scenarios {

// The kinds of scenarios, in the order in which they are judged.
enum class ScenarioKind : std::uint8_t {
  recorded,
  reload,
  instances,
  arenas,
  sizes,
  inputs,
  dim_orders,
  set_again,
  operators,
  files,
  requests
};

struct ScenarioKindRow {
  ScenarioKind kind;
  std::string_view name, sentence;
  // The circumstance of a failure that occurs in this kind but in none of the earlier kinds; empty for the program
  // itself.
  std::string_view where;
};

inline constexpr std::array scenario_kinds = std::to_array<ScenarioKindRow>({
    {ScenarioKind::recorded, "recorded",
     "The recorded calls of a program, made in order, give the results of eager PyTorch.", ""},
    {ScenarioKind::reload, "reload",
     "A program that was called, unloaded and loaded again starts with its initial state.",
     "once a program is loaded again"},
    {ScenarioKind::instances, "instances",
     "A program that is loaded twice has two separate states; calls alternate between them.",
     "once a program is loaded twice"},
    {ScenarioKind::arenas, "arenas",
     "Methods give the same results with shared planned memories as with separate ones.",
     "where methods share planned memories"},
    {ScenarioKind::sizes, "sizes",
     "Each size that may change takes its smallest, a middle and its largest value; larger sizes are refused.",
     "at other sizes than those of the first call"},
    {ScenarioKind::inputs, "inputs",
     "A call with wrong inputs or of a missing method is refused, and the next call is answered.",
     "behind a call that is refused"},
    {ScenarioKind::dim_orders, "dim_orders",
     "An input of another dim order than the program declares is converted or refused.",
     "with an input of another dim order than the program declares"},
    {ScenarioKind::set_again, "set_again",
     "An input that is set again, before or after an execution, has its new value.", "with an input that is set again"},
    {ScenarioKind::operators, "operators", "A program of one instruction gives the result of its operator.", ""},
    {ScenarioKind::files, "files",
     "A broken file is refused, a file of the same meaning gives the same results, and a file of another meaning does "
     "no harm.",
     "with a file that was changed"},
    {ScenarioKind::requests, "requests",
     "Requests that do not concern programs, such as PING, get the answers that the protocol requires.",
     "when it is asked beside programs"},
});
constexpr std::string_view name(ScenarioKind kind) { return scenario_kinds[static_cast<std::size_t>(kind)].name; }

// The program or operator of a case: "kv_cache" of "sizes/kv_cache:forward".
std::string_view subject_of(std::string_view id);

// The result of a step on a runtime.
struct StepResult {
  testee::Reply reply;
  std::vector<Value> outputs;  // the outputs of an answered call
};

// The expected result of a step: a judge, which may be null, and the same expectation as text and numbers for readers.
struct StepJudge {
  std::function<judge::Judgement(const StepResult&)> judge = {};
  std::string refused = {};                      // the reason for the expected refusal; empty if an answer is expected
  bool may_refuse = false;                       // a refusal is right, too
  std::vector<Value> outputs = {};               // the expected outputs; empty if any outputs are right
  double rtol = 0, atol = 0;                     // the tolerance of elements
  std::vector<Value> lowest = {}, highest = {};  // bounds of the outputs, which replace the tolerance

  explicit operator bool() const { return static_cast<bool>(judge); }
  judge::Judgement operator()(const StepResult& result) const { return judge(result); }
};

struct Step {
  // `select` selects a method and sets its inputs; `execute` sets them again and executes. `call` does all of it.
  enum class Do : std::uint8_t { load, call, select, execute, unload, ask };

  Do what = Do::call;
  std::size_t instance =
      0;  // the index of the loaded program; programs are numbered in the order in which they are loaded
  std::string method = {};
  std::vector<Value> inputs = {};
  std::string request = {};  // for `ask`: the request about the program, with this call
  bool reordered = false;    // an input has another dim order than the program declares
  bool valid = true;         // an answer is expected
  StepJudge judge = {};      // if null, any result is right if nothing is damaged
  StepJudge stale = {};      // of `execute`: judges the results of the inputs that were set first
};

// The script ends after the first step that does not pass, and after a load that is refused.
struct Script {
  testee::LoadSettings program;
  std::vector<Step> steps;
  std::shared_ptr<const void> owner = {};  // owns the files that `program` names
};

struct Scenario {
  std::string id;  // "recorded/kv_cache"
  ScenarioKind kind = ScenarioKind::recorded;
  std::string group = {};  // a group within the kind that is counted separately: "files T13"
  std::string rule = {};   // the rule that the file breaks
  bool valid = true;       // every step expects an answer
  std::vector<std::string> slices = {"exported"};
  bool promised = true;
  std::vector<std::string> dtypes = {}, layouts = {};  // as in a Record
  std::function<Script()> script = {};                 // creates the script when the scenario is played
};

}  // namespace assay::scenarios

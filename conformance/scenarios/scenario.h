#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/judge/judge.h"
#include "conformance/testee/runtime.h"

// What is done with programs on a runtime under test, and what is to come of it. spec/runtime_suite.md defines the
// words.
namespace assay {

// What cases are made of, in the order in which they are judged.
enum class ScenarioKind : std::uint8_t {
  recorded,
  reload,
  instances,
  arenas,
  sizes,
  inputs,
  operators,
  files,
  requests
};

struct ScenarioKindRow {
  ScenarioKind kind;
  std::string_view name, sentence;
  std::string_view where;  // something is wrong of which the kinds before say nothing; empty: in the program itself
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
     "Methods that share their planned memories give the same results as without sharing.",
     "where methods share planned memories"},
    {ScenarioKind::sizes, "sizes",
     "Open sizes take their smallest value, their largest and one between; a call beyond them is refused.",
     "at other sizes than those of the first call"},
    {ScenarioKind::inputs, "inputs",
     "A call with wrong inputs, or of a missing method, is refused, and the next call is answered.",
     "behind a call that is refused"},
    {ScenarioKind::operators, "operators", "A program of one instruction gives the result of its operator.", ""},
    {ScenarioKind::files, "files",
     "A broken file is refused, a file of equal meaning is answered, and any other file does no harm.",
     "with a file that was changed"},
    {ScenarioKind::requests, "requests", "Each request beside programs that a testee offers is answered.",
     "when it is asked beside programs"},
});
constexpr std::string_view name(ScenarioKind kind) { return scenario_kinds[static_cast<std::size_t>(kind)].name; }

// The program or operator of a case: "kv_cache" of "sizes/kv_cache:forward".
std::string_view subject_of(std::string_view id);

// What a runtime did with a step.
struct StepResult {
  Reply reply;
  std::vector<Value> outputs;  // of a call that was answered
};

// What is to come of a step: of a judge, which may have none, and in words and numbers for who reads it.
struct StepJudge {
  std::function<Judgement(const StepResult&)> judge = {};
  std::string refused = {};                      // why it is to be refused; empty: it is to be answered
  std::vector<Value> outputs = {};               // that it gives; empty: any
  double rtol = 0, atol = 0;                     // how far elements may be off
  std::vector<Value> lowest = {}, highest = {};  // instead, between what they may be

  explicit operator bool() const { return static_cast<bool>(judge); }
  Judgement operator()(const StepResult& result) const { return judge(result); }
};

struct Step {
  enum class Do : std::uint8_t { load, call, unload, ask };

  Do what = Do::call;
  std::size_t instance = 0;  // which of the programs: they are loaded, and named, from 0 on
  std::string method = {};
  std::vector<Value> inputs = {};
  std::string request = {};  // ask: what, of the program with this call
  bool valid = true;         // it is to be answered
  StepJudge judge = {};      // none: anything may come of it but harm
};

// The steps come to an end behind the first that is no pass, and behind a load that is refused.
struct Script {
  LoadSettings program;
  std::vector<Step> steps;
  std::shared_ptr<const void> owner = {};  // of what `program` names
};

struct Scenario {
  std::string id;  // "recorded/kv_cache"
  ScenarioKind kind = ScenarioKind::recorded;
  std::string group = {};  // of its kind, which is counted by itself: "files T13"
  std::string rule = {};   // that its file breaks
  bool valid = true;       // all of it is to be answered
  std::vector<std::string> slices = {"exported"};
  bool promised = true;
  std::vector<std::string> dtypes = {}, layouts = {};  // as a Record has them
  std::function<Script()> script = {};                 // made where it is played
};

}  // namespace assay

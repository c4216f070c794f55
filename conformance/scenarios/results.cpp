#include "conformance/scenarios/results.h"

#include <csignal>
#include <map>
#include <variant>

#include "conformance/sandbox/child.h"
#include "conformance/testee/binaries.h"
#include "conformance/text/json.h"
#include "conformance/text/malformed.h"
#include "conformance/text/printable.h"
#include "conformance/text/read_line.h"

namespace assay::scenarios {
namespace {

constexpr std::string_view results_rule = "results";

using StatedEnd = std::variant<Outcome, sandbox::Lost>;

StatedEnd end_of(const std::string& word) {
  if (word == "answered") return Outcome::ok;
  if (word == "refused") return Outcome::invalid;
  if (word == "unsupported") return Outcome::unsupported;
  if (word == "exhausted") return Outcome::exhausted;
  if (word == "crashed")
    return sandbox::Lost{sandbox::TaskResult::End::crashed, SIGSEGV, "crashed with no word of why"};
  if (word == "hung") return sandbox::Lost{sandbox::TaskResult::End::timed_out, 0, "did not end, as the results say"};
  text::malformed(results_rule, "a step ", text::Quoted{word},
                  " is none of answered, refused, unsupported, exhausted, crashed, hung");
}

std::string string_at(const text::Json& json, const char* key) {
  const auto found = json.find(key);
  text::well_formed(found != json.end() && found->is_string(), results_rule, "the key \"", key,
                    "\" must have a string");
  return found->get<std::string>();
}

const text::Json& list_at(const text::Json& json, const char* key) {
  const auto found = json.find(key);
  text::well_formed(found != json.end() && found->is_array(), results_rule, "the key \"", key, "\" must have a list");
  return *found;
}

Value value_in(const text::Json& json) { return text::value_of(json, json.contains("string") ? "str" : "Scalar"); }

// What a file of results states about a step.
struct StatedStep {
  StatedEnd end;
  std::string message;
  std::vector<Value> outputs;
};

StatedStep step_in(const text::Json& json) {
  StatedStep step{end_of(string_at(json, "is")), json.contains("message") ? string_at(json, "message") : "", {}};
  if (json.contains("outputs"))
    for (const text::Json& output : list_at(json, "outputs")) step.outputs.push_back(value_in(output));
  return step;
}

// The results of the current case. Each step takes the next one.
class Results {
 public:
  explicit Results(const std::filesystem::path& file) {
    text::each_line(file.string(), results_rule, [this](const std::string& line) { add(line); });
    if (name_.empty())
      text::malformed(results_rule, text::printable(file.string()), " has no line {\"results\": NAME}");
  }

  const std::string& name() const { return name_; }
  void begin(std::string_view id) { id_ = id, step_ = 0; }

  testee::Reply next(std::vector<Value>* outputs) {
    const auto found = cases_.find(id_);
    if (found == cases_.end()) throw testee::NotAsked(concat("there is no result of ", id_));
    const text::Json all = text::parse_json(found->second);
    const text::Json& steps = all.at("steps");
    if (step_ >= steps.size()) throw testee::NotAsked(concat("there is no result of step ", step_, " of ", id_));
    StatedStep step = step_in(steps[step_++]);
    if (const auto* lost = std::get_if<sandbox::Lost>(&step.end)) throw *lost;
    if (outputs) *outputs = std::move(step.outputs);
    return {std::get<Outcome>(step.end), std::move(step.message)};
  }

 private:
  // Reads each value once to check it, so that `next` meets no wrong line.
  void add(const std::string& line) {
    const text::Json json = text::parse_json(line);
    if (json.is_object() && json.contains("results")) return void(name_ = string_at(json, "results"));
    text::well_formed(json.is_object() && json.contains("case") && json.contains("steps"), results_rule,
                      "the line is neither {\"results\": NAME} nor {\"case\": ID, \"steps\": [...]}");
    for (const text::Json& step : list_at(json, "steps")) static_cast<void>(step_in(step));
    cases_[string_at(json, "case")] = line;
  }

  std::string name_, id_;
  std::size_t step_ = 0;
  std::map<std::string, std::string, std::less<>> cases_;
};

class TakenProgram final : public testee::TesteeProgram {
 public:
  explicit TakenProgram(Results& results) : results_(results) {}
  testee::Reply call(const std::string&, std::span<const Value>, std::vector<Value>& outputs) override {
    return results_.next(&outputs);
  }

 private:
  Results& results_;
};

class ResultsRuntime final : public testee::Runtime {
 public:
  explicit ResultsRuntime(const std::filesystem::path& file) : file_(file), results_(file) {}
  std::string_view name() const override { return results_.name(); }
  std::vector<std::pair<std::string, std::string>> facts() const override {
    return {{"file " + file_.filename().string(), testee::digest_of_file(file_)}};
  }
  void begin(std::string_view id) override { results_.begin(id); }
  std::unique_ptr<testee::TesteeProgram> load(const testee::LoadSettings&, testee::Reply& reply) override {
    reply = results_.next(nullptr);
    return reply.outcome == Outcome::ok ? std::make_unique<TakenProgram>(results_) : nullptr;
  }

 private:
  std::filesystem::path file_;
  Results results_;
};

}  // namespace

std::unique_ptr<testee::Runtime> make_results(const std::filesystem::path& file) {
  return std::make_unique<ResultsRuntime>(file);
}

}  // namespace assay::scenarios

#include "conformance/scenarios/results.h"

#include <csignal>
#include <fstream>
#include <map>

#include "conformance/sandbox/child.h"
#include "conformance/testee/binaries.h"
#include "conformance/text/json.h"
#include "conformance/text/malformed.h"

namespace assay::scenarios {
namespace {

Outcome outcome_of(const std::string& word) {
  if (word == "answered") return Outcome::ok;
  if (word == "refused") return Outcome::invalid;
  if (word == "unsupported") return Outcome::unsupported;
  if (word == "exhausted") return Outcome::exhausted;
  if (word == "crashed") throw sandbox::Lost{sandbox::TaskResult::End::crashed, SIGSEGV, "crashed with no word of why"};
  if (word == "hung") throw sandbox::Lost{sandbox::TaskResult::End::timed_out, 0, "did not end, as the results say"};
  text::malformed("results", "a step \"", word,
                  "\" is none of answered, refused, unsupported, exhausted, crashed, hung");
}

Value value_in(const text::Json& json) { return text::value_of(json, json.contains("string") ? "str" : "Scalar"); }

// The results of the current case. Each step takes the next one.
class Results {
 public:
  explicit Results(const std::filesystem::path& file) {
    std::ifstream lines(file);
    if (!lines) text::malformed("results", file.string(), " cannot be read");
    for (std::string line; std::getline(lines, line);) add(line);
    if (name_.empty()) text::malformed("results", file.string(), " has no line {\"results\": NAME}");
  }

  const std::string& name() const { return name_; }
  void begin(std::string_view id) { id_ = id, step_ = 0; }

  testee::Reply next(std::vector<Value>* outputs) {
    const auto found = cases_.find(id_);
    if (found == cases_.end()) throw testee::NotAsked(concat("there is no result of ", id_));
    const text::Json all = text::parse_json(found->second);
    const text::Json& steps = all.at("steps");
    if (step_ >= steps.size()) throw testee::NotAsked(concat("there is no result of step ", step_, " of ", id_));
    const text::Json& step = steps[step_++];
    testee::Reply reply{outcome_of(step.at("is").get<std::string>()), step.value("message", "")};
    if (outputs && step.contains("outputs"))
      for (const text::Json& output : step["outputs"]) outputs->push_back(value_in(output));
    return reply;
  }

 private:
  void add(const std::string& line) {
    const text::Json json = text::parse_json(line);
    if (json.is_object() && json.contains("results")) return void(name_ = json["results"].get<std::string>());
    if (!json.is_object() || !json.contains("case") || !json.contains("steps") || !json["steps"].is_array())
      text::malformed("results", "a line is neither {\"results\": NAME} nor {\"case\": ID, \"steps\": [...]}");
    cases_[json["case"].get<std::string>()] = line;
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

#include "conformance/scenarios/results.h"

#include <csignal>
#include <fstream>
#include <map>

#include "conformance/sandbox/child.h"
#include "conformance/testee/binaries.h"
#include "conformance/text/json.h"
#include "conformance/text/malformed.h"

namespace assay {
namespace {

Outcome outcome_of(const std::string& word) {
  if (word == "answered") return Outcome::ok;
  if (word == "refused") return Outcome::invalid;
  if (word == "unsupported") return Outcome::unsupported;
  if (word == "exhausted") return Outcome::exhausted;
  if (word == "crashed") throw Lost{TaskResult::End::crashed, SIGSEGV, "crashed with no word of why"};
  if (word == "hung") throw Lost{TaskResult::End::timed_out, 0, "did not end, as the results say"};
  malformed("results", "a step \"", word, "\" is none of answered, refused, unsupported, exhausted, crashed, hung");
}

Value value_in(const Json& json) { return value_of(json, json.contains("string") ? "str" : "Scalar"); }

// The results of the current case. Each step takes the next one.
class Results {
 public:
  explicit Results(const std::filesystem::path& file) {
    std::ifstream lines(file);
    if (!lines) malformed("results", file.string(), " cannot be read");
    for (std::string line; std::getline(lines, line);) add(line);
    if (name_.empty()) malformed("results", file.string(), " has no line {\"results\": NAME}");
  }

  const std::string& name() const { return name_; }
  void begin(std::string_view id) { id_ = id, step_ = 0; }

  Reply next(std::vector<Value>* outputs) {
    const auto found = cases_.find(id_);
    if (found == cases_.end()) throw NotAsked(text("there is no result of ", id_));
    const Json all = parse_json(found->second);
    const Json& steps = all.at("steps");
    if (step_ >= steps.size()) throw NotAsked(text("there is no result of step ", step_, " of ", id_));
    const Json& step = steps[step_++];
    Reply reply{outcome_of(step.at("is").get<std::string>()), step.value("message", "")};
    if (outputs && step.contains("outputs"))
      for (const Json& output : step["outputs"]) outputs->push_back(value_in(output));
    return reply;
  }

 private:
  void add(const std::string& line) {
    const Json json = parse_json(line);
    if (json.is_object() && json.contains("results")) return void(name_ = json["results"].get<std::string>());
    if (!json.is_object() || !json.contains("case") || !json.contains("steps") || !json["steps"].is_array())
      malformed("results", "a line is neither {\"results\": NAME} nor {\"case\": ID, \"steps\": [...]}");
    cases_[json["case"].get<std::string>()] = line;
  }

  std::string name_, id_;
  std::size_t step_ = 0;
  std::map<std::string, std::string, std::less<>> cases_;
};

class TakenProgram final : public TesteeProgram {
 public:
  explicit TakenProgram(Results& results) : results_(results) {}
  Reply call(const std::string&, std::span<const Value>, std::vector<Value>& outputs) override {
    return results_.next(&outputs);
  }

 private:
  Results& results_;
};

class ResultsRuntime final : public Runtime {
 public:
  explicit ResultsRuntime(const std::filesystem::path& file) : file_(file), results_(file) {}
  std::string_view name() const override { return results_.name(); }
  std::vector<std::pair<std::string, std::string>> facts() const override {
    return {{"file " + file_.filename().string(), digest_of_file(file_)}};
  }
  void begin(std::string_view id) override { results_.begin(id); }
  std::unique_ptr<TesteeProgram> load(const LoadSettings&, Reply& reply) override {
    reply = results_.next(nullptr);
    return reply.outcome == Outcome::ok ? std::make_unique<TakenProgram>(results_) : nullptr;
  }

 private:
  std::filesystem::path file_;
  Results results_;
};

}  // namespace

std::unique_ptr<Runtime> make_results(const std::filesystem::path& file) {
  return std::make_unique<ResultsRuntime>(file);
}

}  // namespace assay

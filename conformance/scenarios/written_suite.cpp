#include "conformance/scenarios/written_suite.h"

#include "conformance/files/file.h"
#include "conformance/text/digest.h"
#include "conformance/text/json.h"

namespace assay::scenarios {
namespace {

text::Json values(const std::vector<Value>& all) {
  text::Json list = text::Json::array();
  for (const Value& v : all) list.push_back(text::to_json(v, "Scalar"));
  return list;
}

std::string_view word(Step::Do what) {
  switch (what) {
    case Step::Do::load:
      return "load";
    case Step::Do::unload:
      return "unload";
    case Step::Do::ask:
      return "ask";
    case Step::Do::select:
      return "select";
    case Step::Do::execute:
      return "execute";
    case Step::Do::call:
      break;
  }
  return "call";
}

// Writes "answered" with the outputs, "refused" with the reason, or "either", with outputs that an answer must have.
void tell(text::Json& step, const StepJudge& judge) {
  if (!judge) return void(step["expected"] = "either");
  step["expected"] = judge.may_refuse ? "either" : judge.refused.empty() ? "answered" : "refused";
  if (!judge.refused.empty()) step["despite"] = judge.refused;
  if (judge.outputs.empty()) return;
  step["outputs"] = values(judge.outputs);
  if (judge.lowest.empty())
    step["rtol"] = judge.rtol, step["atol"] = judge.atol;
  else
    step["lowest"] = values(judge.lowest), step["highest"] = values(judge.highest);
}

text::Json json_of(const Step& step) {
  text::Json json{{"do", word(step.what)}, {"instance", step.instance}};
  if (step.what == Step::Do::call) json["method"] = step.method, json["inputs"] = values(step.inputs);
  tell(json, step.judge);
  return json;
}

}  // namespace

// The name is a digest of the contents, so that contents shared by many cases are stored once.
std::string WrittenSuite::file(const std::filesystem::path& contents, std::string_view suffix) const {
  const File file = files::open_file(contents);
  const std::string name = concat(text::digits_of(text::digest(file.bytes)), suffix);
  if (!std::filesystem::exists(folder_ / name)) files::write_file(folder_ / name, file.bytes);
  return name;
}

void WrittenSuite::add(const Scenario& scenario) {
  const Script script = scenario.script();
  text::Json json{{"case", scenario.id}, {"program", file(script.program.program, ".pte")}};
  if (!scenario.rule.empty()) json["rule"] = scenario.rule;
  for (const auto& data : script.program.data) json["data"].push_back(file(data, ".ptd"));
  if (script.program.share_arenas) json["share_arenas"] = true;
  for (const Step& step : script.steps) json["steps"].push_back(json_of(step));
  manifest_ << text::line_of(json) << '\n';
}

}  // namespace assay::scenarios

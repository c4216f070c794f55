#include "bench/results.h"

namespace assay::bench {
namespace {

text::Json spread_json(const std::vector<double>& values) {
  const Spread s = spread_of(values);
  return {{"median", s.median}, {"p25", s.p25}, {"p75", s.p75}, {"p90", s.p90}};
}

text::Json times_json(const std::vector<double>& seconds) {
  text::Json json = spread_json(seconds);
  json["runs"] = seconds;
  return json;
}

text::Json outputs_json(const std::vector<files::Comparison>& outputs, const files::Tolerance& tolerance) {
  text::Json list = text::Json::array();
  for (const files::Comparison& c : outputs) {
    text::Json json = {{"agrees", c.agrees()}, {"distance", text::to_json(Value(c.distance), {})}};
    if (!c.agrees()) json["message"] = files::sentence(c, tolerance);
    list.push_back(std::move(json));
  }
  return list;
}

text::Json operators_json(const Measurement& m) {
  text::Json list = text::Json::array();
  for (const OperatorTime& t : operator_times(m))
    list.push_back({{"operator", t.op}, {"kernel", t.kernel}, {"steps", t.steps}, {"seconds", t.seconds}});
  return list;
}

text::Json steps_json(const std::vector<testee::EngineStep>& steps) {
  text::Json list = text::Json::array();
  for (const testee::EngineStep& s : steps)
    list.push_back({{"instruction", s.instruction}, {"operator", s.op}, {"kernel", s.kernel}, {"seconds", s.seconds}});
  return list;
}

text::Json binaries_json(const testee::Digests& binaries) {
  text::Json json = text::Json::object();
  for (const auto& [name, digest] : binaries) json[name] = digest;
  return json;
}

text::Json engine_json(const Measurement& ours, const Measurement& m, const files::Tolerance& tolerance) {
  text::Json json = {{"engine", m.contender}, {"version", m.version}};
  if (m.failure.outcome != Outcome::ok) {
    json["fails"] = {{"outcome", name(m.failure.outcome)}, {"message", m.failure.message}};
    return json;
  }
  json.update(
      text::Json{{"binaries", binaries_json(m.binaries)}, {"load", m.load}, {"first", m.first}, {"once", m.once}});
  json["memory"] = m.memory ? text::Json(*m.memory) : text::Json();
  json["alternating"] = times_json(m.alternating), json["bursts"] = times_json(m.bursts);
  if (!m.clock.empty()) json["clock"] = m.clock;
  if (const auto all = ratios(ours, m); ours.failure.outcome == Outcome::ok && !all.empty())
    json["ratio"] = spread_json(all);
  json["operators"] = operators_json(m), json["steps"] = steps_json(m.steps);
  json["outputs"] = outputs_json(m.outputs, tolerance);
  return json;
}

text::Json judged_json(const Judged& judged) {
  return {{"passes", judged.passes}, {"sentence", judged.sentence}, {"verdicts", judged.verdicts}};
}

text::Json program_json(const ProgramResult& program) {
  text::Json engines = text::Json::array();
  for (std::size_t i = 0; i < program.engines.size(); ++i) {
    engines.push_back(engine_json(program.engines.front(), program.engines[i], program.tolerance));
    if (i < program.judged.size()) engines.back()["conformance"] = judged_json(program.judged[i]);
  }
  return {{"program", program.program}, {"inputs", program.inputs_from}, {"engines", std::move(engines)}};
}

text::Json race_json(const Race& race) {
  return {{"other", race.other},
          {"alternating", {{"mean", geometric_mean(race.alternating)}, {"programs", race.alternating}}},
          {"bursts", {{"mean", geometric_mean(race.bursts)}, {"programs", race.bursts}}}};
}

}  // namespace

text::Json to_json(const Results& results) {
  text::Json programs = text::Json::array(), all_races = text::Json::array();
  for (const ProgramResult& program : results.programs) programs.push_back(program_json(program));
  for (const Race& race : races(results)) all_races.push_back(race_json(race));
  return {{"processor", results.processor}, {"threads", results.processors.size()}, {"processors", results.processors},
          {"date", results.date},           {"seconds", results.effort.seconds},    {"programs", std::move(programs)},
          {"races", std::move(all_races)}};
}

}  // namespace assay::bench

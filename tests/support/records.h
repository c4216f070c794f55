#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "conformance/verdict/summary.h"

// Records and defects as runs write them. Tests of reports change them.
namespace assay {

inline verdict::Record passing(std::string operator_name, std::string case_id = "#0") {
  verdict::Record record;
  record.testee = "executorch";
  record.operator_name = std::move(operator_name);
  record.case_id = record.operator_name + case_id;
  record.dtypes = {"float32", "float32"};
  record.layouts = {"contiguous", "channels_last"};
  record.slices = {"exported", "layouts"};
  record.distance = 0;
  record.seconds = 0.5;
  return record;
}

inline verdict::Record ending(std::string operator_name, verdict::Verdict verdict, std::string case_id = "#0") {
  verdict::Record record = passing(std::move(operator_name), std::move(case_id));
  record.verdict = verdict;
  record.distance.reset();
  return record;
}

inline verdict::Record failing(std::string operator_name, verdict::Class failure, std::string case_id = "#0") {
  verdict::Record record = passing(std::move(operator_name), std::move(case_id));
  record.verdict = verdict::Verdict::fail;
  record.failure = failure;
  record.elements = 6;
  return record;
}

// A record in which every field is set.
inline verdict::Record detailed() {
  verdict::Record record = failing("aten::_softmax.out", verdict::Class::value, "#17~dtype:0:5~size:1:0");
  record.distance = 31.4;
  record.call = "0123456789abcdef", record.features = "-20--222---------4-----";
  record.rule = "softmax.accuracy";
  record.message = "Element (1, 0) of größe 日本 is off: </script>";
  record.outs = {{"out", "float16 (2)"}};
  record.inputs = {{"self", "float16[2] [0, 1]"}, {"dim", "-1"}};
  record.expected = "[0.27, 0.73]";
  record.got = "[0.5, 0.5]";
  record.bound = "4·√K·u·B";
  record.known = true;
  return record;
}

// A defect with all of these records.
inline verdict::Defect defect_of(const std::vector<verdict::Record>& records, std::string when = "always") {
  verdict::Defect d;
  d.smallest = records.front();
  d.testee = d.smallest.testee, d.verdict = d.smallest.verdict, d.failure = d.smallest.failure;
  d.known = true;
  for (const verdict::Record& r : records) {
    d.tier = std::min(d.tier, verdict::tier_of(r)), d.promised_cases += r.promised, d.known = d.known && r.known;
    if (d.operators.empty() || d.operators.back() != r.operator_name) d.operators.push_back(r.operator_name);
    d.case_ids.push_back(r.case_id);
  }
  d.cases = records.size(), d.distance = d.smallest.distance, d.trial = {20, 20, 20, 20}, d.explained = true;
  d.when = std::move(when), d.sentence = verdict::sentence(d), d.id = d.sentence;
  return d;
}

inline verdict::Summary summary_of(const std::vector<verdict::Record>& records,
                                   const std::vector<verdict::Defect>& defects = {}) {
  return verdict::summarize(verdict::RunFile{{}, records, defects, {}, true});
}

template <typename Write>
std::string written(Write write) {
  std::ostringstream out;
  write(out);
  return out.str();
}

}  // namespace assay

#pragma once

#include <map>
#include <set>
#include <string>

#include "conformance/cases/case.h"

namespace assay {

// A list of cases: the first word of each line is an id, the rest is a reason; '#' begins a comment line. Throws Fault
// (malformed, with the given rule) if the file cannot be read.
std::set<std::string> read_case_list(const std::string& file, const std::string& rule);

// Expected failures. A reason may begin with "until 2027-01-31": the last day on which the failure is expected.
struct Waivers {
  std::set<std::string> known;
  std::map<std::string, std::string> expired;  // the last day of each expired entry, by case id
};
Waivers read_waivers(
    const std::string& file);  // those that are valid today. Throws Fault (malformed, known) also for a wrong date

// As read_list, but each id must name a case; otherwise throws as case_id_from or Corpus::make, with the file as place.
std::set<std::string> read_cases(const std::string& file, const std::string& rule, const Corpus& corpus);

}  // namespace assay

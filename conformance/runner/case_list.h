#pragma once

#include <map>
#include <set>
#include <string>

#include "conformance/cases/case.h"

namespace assay {

// A list of cases: the first word of each line is an id, the rest a reason; '#' begins a comment line. Throws Fault
// (malformed, with the given rule) where the file cannot be read.
std::set<std::string> read_case_list(const std::string& file, const std::string& rule);

// Expected failures: in such a list a reason may begin with "until 2027-01-31", the last day on which it is one.
struct Waivers {
  std::set<std::string> known;
  std::map<std::string, std::string> expired;  // by id, with their last days
};
Waivers read_waivers(const std::string& file);  // today's. Throws Fault (malformed, known) where a day is none, too

// The same, of which each must be a case: else what case_id_from or Corpus::make throws, with the file for its place.
std::set<std::string> read_cases(const std::string& file, const std::string& rule, const Corpus& corpus);

}  // namespace assay

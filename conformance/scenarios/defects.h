#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "conformance/report/defect.h"

namespace assay {

// Groups what fails on a runtime: what is refused or ends alike, by what the runtime says, numbers apart; what is
// answered wrongly, by the program or operator.
class ScenarioDefects {
 public:
  void add(const Record& record);
  std::vector<Defect> found() const;  // most serious first

 private:
  std::map<std::tuple<Verdict, Class, std::string>, Defect> defects_;
};

}  // namespace assay

#pragma once

#include <vector>

#include "conformance/verdict/defect.h"

namespace assay {

// Groups what fails on a runtime by its cause: what it says of itself where it refuses or ends, numbers apart; what it
// accepts, by what was wrong with it; what it answers wrongly, or ends in without a word, by the program or operator,
// or, where that is right as it was recorded, by what was done with it besides.
class ScenarioDefects {
 public:
  void add(const Record& record);
  std::vector<Defect> found() const;  // most serious first

 private:
  std::vector<Record> failures_;
};

}  // namespace assay

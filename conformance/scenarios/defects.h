#pragma once

#include <vector>

#include "conformance/verdict/defect.h"

namespace assay::scenarios {

// Groups the failures of a runtime by cause. A refusal or an end with a message is grouped by the message without its
// numbers. An input that is accepted although it is invalid is grouped by the fault in it. A wrong answer or a silent
// end is grouped by the program or operator; if the recorded calls of the program pass, by the kind of scenario that
// fails.
class ScenarioDefects {
 public:
  void add(const verdict::Record& record);
  std::vector<verdict::Defect> found() const;  // most serious first

 private:
  std::vector<verdict::Record> failures_;
};

}  // namespace assay::scenarios

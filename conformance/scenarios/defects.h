#pragma once

#include <vector>

#include "conformance/scenarios/scenario.h"
#include "conformance/verdict/defect.h"

namespace assay::scenarios {

// Groups the failures of a runtime by cause. A refusal or an end with a message is grouped by the message without its
// numbers. An input that is accepted although it is invalid is grouped by the fault in it. A wrong answer or a silent
// end is grouped by the program or operator; if the recorded calls of the program pass, by the kind of scenario that
// fails. Where a trait separates the calls that fail from those that pass, the trait is told instead.
class ScenarioDefects {
 public:
  // Returns the scenario of an id.
  using Find = std::function<const Scenario&(std::string_view id)>;

  explicit ScenarioDefects(Find find) : find_(std::move(find)) {}
  void add(const verdict::Record& record);
  std::vector<verdict::Defect> found() const;  // most serious first

 private:
  Find find_;
  std::vector<verdict::Record> failures_;
  std::vector<std::string> passing_;  // the ids of cases that pass
};

}  // namespace assay::scenarios

#pragma once

#include "conformance/files/compare.h"
#include "conformance/scenarios/scenario.h"

// The judges of steps.
namespace assay::scenarios {

judge::Judgement unsupported(std::string message);

StepJudge gives(std::vector<Value> outputs, const files::Tolerance& tolerance);
StepJudge gives_or_refuses(std::vector<Value> outputs, const files::Tolerance& tolerance);
StepJudge is_answered();
StepJudge is_refused(std::string why);  // "a rank that is too large"

// Judges a program whose one call is a call of the operator: the program's outputs are the outs. Operator and
// expectation must outlive the judge.
StepJudge answers(const Operator& op, std::vector<Value> arguments, std::shared_ptr<const judge::Expectation> expected,
                  judge::ArithmeticMode arithmetic, judge::Refusals allowed);

}  // namespace assay::scenarios

#pragma once

#include "conformance/files/compare.h"
#include "conformance/scenarios/scenario.h"

// Judges of steps.
namespace assay {

Judgement unsupported(std::string message);

StepJudge gives(std::vector<Value> outputs, const Tolerance& tolerance);
StepJudge is_answered();
StepJudge is_refused(std::string why);  // "a rank that is too large"

// The one call of a program is of the operator: its outputs are the outs. Both outlive it.
StepJudge answers(const Operator& op, std::vector<Value> arguments, std::shared_ptr<const Expectation> expected,
                  ArithmeticMode arithmetic, Refusals allowed);

}  // namespace assay

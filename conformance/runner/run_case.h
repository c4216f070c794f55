#pragma once

#include "conformance/cases/case.h"
#include "conformance/contract/contract.h"
#include "conformance/judge/judge.h"
#include "conformance/runner/judged.h"
#include "conformance/sandbox/probe.h"

namespace assay {

// For each out, whether any value is right, or any value of a distribution: then two answers need not be equal.
FreeOuts free_outs(const Operator& op);

// The judgement of an answer, or of a side effect of the call if that is more serious.
Judgement judge(const Operator& op, std::span<const Value> arguments, const Expectation& expected,
                const Observation& seen, ArithmeticMode arithmetic, Refusals allowed = Refusals::unsupported,
                bool has_values = true);

// Makes a case, asks the reference and the library, and judges by the contract. Throws Fault as Corpus::make does.
Judged run_case(const Corpus& corpus, Probe& probe, const Contract& contract, const CaseId& id,
                Detail detail = Detail::failures);

// The judgement of a case that crashed the library's process. Its answer is the way in which the process ended.
Judged lost_case(const Corpus& corpus, std::string_view testee, const Contract& contract, const CaseId& id,
                 const TaskResult& result, Detail detail = Detail::failures);

}  // namespace assay

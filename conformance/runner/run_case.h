#pragma once

#include "conformance/cases/case.h"
#include "conformance/contract/contract.h"
#include "conformance/judge/judge.h"
#include "conformance/runner/judged.h"
#include "conformance/sandbox/probe.h"

namespace assay {

// Of each out, whether any value in it is right, or any that a distribution has: no two answers need be equal.
FreeOuts free_outs(const Operator& op);

// The judgement on an answer, or on what the call did besides answering, where that is worse.
Judgement judge(const Operator& op, std::span<const Value> arguments, const Expectation& expected,
                const Observation& seen, ArithmeticMode arithmetic, Refusals allowed = Refusals::unsupported,
                bool has_values = true);

// Makes a case, asks the reference and the library, and judges by the contract. Throws Fault as Corpus::make does.
Judged run_case(const Corpus& corpus, Probe& probe, const Contract& contract, const CaseId& id,
                Detail detail = Detail::failures);

// The same of a case that the library did not survive. Its answer is the way in which it ended.
Judged lost_case(const Corpus& corpus, std::string_view testee, const Contract& contract, const CaseId& id,
                 const TaskResult& result, Detail detail = Detail::failures);

}  // namespace assay

#pragma once

#include "conformance/cases/case.h"
#include "conformance/contract/contract.h"
#include "conformance/judge/judge.h"
#include "conformance/runner/judged.h"
#include "conformance/sandbox/probe.h"

namespace assay::runner {

// For each out, whether any value is right, or any value of a distribution: then two answers need not be equal.
sandbox::FreeOuts free_outs(const Operator& op);

// The judgement of an answer, or of a side effect of the call if that is more serious.
judge::Judgement judge(const Operator& op, std::span<const Value> arguments, const judge::Expectation& expected,
                       const sandbox::Observation& seen, judge::ArithmeticMode arithmetic,
                       judge::Refusals allowed = judge::Refusals::unsupported, bool has_values = true);

// Makes a case, asks the reference and the library, and judges by the contract. Throws Fault as Corpus::make does.
Judged run_case(const cases::Corpus& corpus, sandbox::Probe& probe, const contract::Contract& contract,
                const cases::CaseId& id, Detail detail = Detail::failures);

// The judgement of a case that crashed the library's process. Its answer is the way in which the process ended.
Judged lost_case(const cases::Corpus& corpus, std::string_view testee, const contract::Contract& contract,
                 const cases::CaseId& id, const sandbox::TaskResult& result, Detail detail = Detail::failures);

}  // namespace assay::runner

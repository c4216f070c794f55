#pragma once

#include "conformance/cases/case.h"
#include "conformance/contract/contract.h"
#include "conformance/judge/judge.h"
#include "conformance/report/record.h"
#include "conformance/testees/child.h"
#include "conformance/testees/probe.h"

namespace assay {

// A verdict, and what it takes to compare it with another on the same call.
struct Judged {
  Record record;
  std::uint64_t answer = 0;  // a digest of all that the library did, apart from values that are free and from times
  bool spoilt = false;       // the process must do no other case
};

// Of each out, whether any value in it is right, or any that a distribution has: no two answers need be equal.
FreeOuts free_outs(const Operator& op);

// The judgement on an answer, or on what the call did besides answering, where that is worse.
Judgement judge(const Operator& op, std::span<const Value> arguments, const Expectation& expected,
                const Observation& seen, ArithmeticMode arithmetic, bool promised = true, bool has_values = true);

// Makes a case, asks the reference and the library, and judges by the contract. The record describes the call itself
// (inputs, outs, expected, got) where `always_described` or where the verdict is not pass. Throws Fault as Corpus::make
// does.
Judged run_case(const Corpus& corpus, Probe& probe, const Contract& contract, const CaseId& id,
                bool always_described = false);

// The same of a case that the library did not survive. Its answer is the way in which it ended.
Judged lost_case(const Corpus& corpus, std::string_view testee, const Contract& contract, const CaseId& id,
                 const TaskResult& result);

// The record of a call that is answered in two ways: no field holds either.
Record not_repeatable(Record record);

}  // namespace assay

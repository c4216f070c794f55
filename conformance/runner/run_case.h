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
                const Observation& seen, ArithmeticMode arithmetic, Refusals allowed = Refusals::unsupported,
                bool has_values = true);

// How much a record tells.
enum class Detail : std::uint8_t {
  outcome,   // verdict, class, rule and message alone, of a call of which the caller knows that it is promised
  failures,  // also what can be said of the case, and of a call that does not pass what it is (inputs, outs, expected,
             // got)
  all,       // that of any call
};

// Makes a case, asks the reference and the library, and judges by the contract. Throws Fault as Corpus::make does.
Judged run_case(const Corpus& corpus, Probe& probe, const Contract& contract, const CaseId& id,
                Detail detail = Detail::failures);

// The same of a case that the library did not survive. Its answer is the way in which it ended.
Judged lost_case(const Corpus& corpus, std::string_view testee, const Contract& contract, const CaseId& id,
                 const TaskResult& result, Detail detail = Detail::failures);

// The record of a call that is answered in two ways: no field holds either.
Record not_repeatable(Record record);

}  // namespace assay

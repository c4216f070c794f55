#pragma once

#include "conformance/cases/case.h"
#include "conformance/report/record.h"
#include "conformance/testees/library.h"

namespace assay {

// Makes a case, asks the reference and the library, and judges. The record describes the call itself (inputs, expected,
// got) where `always_described` or where the verdict is not pass. Throws Fault as Corpus::make does.
Record run_case(const Corpus& corpus, KernelLibrary& library, const CaseId& id, bool always_described = false);

// The record of a case that the library did not survive.
Record lost_case(const Corpus& corpus, std::string_view testee, const CaseId& id, Verdict verdict, std::string message);

}  // namespace assay

#pragma once

#include "conformance/cases/case.h"
#include "conformance/report/record.h"
#include "conformance/testees/library.h"

namespace assay {

// The most that the reference may spend on one case.
Limits case_limits();

// Makes a case, asks the reference and the library, and judges. Throws Fault as Corpus::make does.
Record run_case(const Corpus& corpus, KernelLibrary& library, const CaseId& id);

// The record of a case that the library did not survive.
Record lost_case(const Corpus& corpus, std::string_view testee, const CaseId& id, Verdict verdict, std::string message);

}  // namespace assay

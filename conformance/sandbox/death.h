#pragma once

#include "conformance/sandbox/child.h"
#include "conformance/verdict/verdict.h"

namespace assay::sandbox {

// The verdict on a child that died: `timeout` or `crash`. The class of a crash follows from the signal and from the
// last output.
verdict::Verdict verdict_on_death(const TaskResult& result);
verdict::Class class_of_death(const TaskResult& result);

// How the child ended and its last output, as one text.
std::string words_of_death(const TaskResult& result);

}  // namespace assay::sandbox

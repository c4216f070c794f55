#pragma once

#include "conformance/sandbox/child.h"
#include "conformance/verdict/verdict.h"

namespace assay {

// What ended a child: `timeout` or `crash`, and of a crash its class, by its signal and by what was said before it.
Verdict verdict_on_death(const TaskResult& result);
Class class_of_death(const TaskResult& result);

// How it ended and what was said before, as one text.
std::string words_of_death(const TaskResult& result);

}  // namespace assay

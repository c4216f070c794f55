#pragma once

#include <string>

namespace assay {

std::string machine();  // "x86_64, AMD EPYC 9R14": the architecture, and the processor if the system names it

}  // namespace assay

#pragma once

#include <string>

namespace assay {

std::string machine();  // "x86_64, AMD EPYC 9R14": its architecture, and its processor where the kernel names it

}  // namespace assay

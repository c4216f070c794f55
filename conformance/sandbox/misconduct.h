#pragma once

#include <string>

#include "conformance/verdict/verdict.h"

namespace assay::sandbox {

// Thrown by a testee's adapter: the testee answered, but did something that it must not do.
struct Misconduct {
  verdict::Class failure;
  std::string sentence;
};

}  // namespace assay::sandbox

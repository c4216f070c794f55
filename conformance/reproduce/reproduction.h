#pragma once

#include <span>
#include <string>
#include <string_view>

#include "conformance/cases/case.h"

// A case as a file that shows the failure to people who do not have assay.
namespace assay::reproduce {

enum class ReproductionKind : std::uint8_t { python, cpp, bpte, json };

struct ReproductionRow {
  ReproductionKind kind;
  std::string_view name;
  std::string_view is;
};
std::span<const ReproductionRow> reproduction_kinds();

// The kinds and the limits of each, one per line.
std::string describe_reproductions();

// The bytes of the file. A C++ program links `library`, which registers kernels with ExecuTorch, or, if it is empty,
// the official kernels. Throws Fault (unsupported, "case.as") with the reason if the kind cannot express the case.
std::string reproduction(const cases::Case& c, ReproductionKind kind, const std::string& library = {});

}  // namespace assay::reproduce

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "conformance/cases/case.h"

// A case as a file that shows it to those who do not have assay.
namespace assay {

enum class ReproductionKind : std::uint8_t { python, cpp, bpte, json };

struct ReproductionRow {
  ReproductionKind kind;
  std::string_view name;
  std::string_view is;
};
std::span<const ReproductionRow> reproduction_kinds();

// What the kinds are and what each cannot express, in lines.
std::string describe_reproductions();

// The bytes of the file. Throws Fault (unsupported, "case.as") where the kind cannot express the case, saying why.
std::string reproduction(const Case& c, ReproductionKind kind);

}  // namespace assay

#pragma once

#include <cstddef>
#include <span>

#include "format/rule.h"
#include "format/schema.h"

namespace assay::format {

// Checks the `rule` attributes of a schema: required fields must be present, and enums and unions must have known
// values. Requires `tables` that flatbuffers' verifier has accepted for the schema. The verifier does not check the
// alignment of the elements of vectors; a misaligned vector breaks the rule `structure`. Shared tables are charged once
// for each reference to them (H15), so that a walk over verified tables takes time proportional to their bytes.
void check_tables(std::span<const std::byte> tables, const Schema& schema, RuleId structure, Findings& findings);

}  // namespace assay::format

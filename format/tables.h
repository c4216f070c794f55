#pragma once

#include <cstddef>
#include <span>

#include "format/rule.h"
#include "format/schema.h"

namespace assay::format {

// Reports what the schema's `rule` attributes ask: fields that must be present and are not, enums and unions of unknown
// value. `tables` are a flatbuffer verified by the schema, but for the alignment of vectors' elements, which
// flatbuffers leaves out: `structure` is the rule that it breaks. What tables share is charged as often as it is
// referred to (H15), so that a walk over verified tables takes time proportional to their bytes.
void check_tables(std::span<const std::byte> tables, const Schema& schema, RuleId structure, Findings& findings);

}  // namespace assay::format

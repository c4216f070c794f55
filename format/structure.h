#pragma once

#include <flatbuffers/flatbuffers.h>

#include "format/check.h"
#include "format/header.h"
#include "format/schema.h"

// The structure that all kinds of files share: an identifier, and tables that are a flatbuffer of a schema.
namespace assay::format {

// Whether the file has the identifier `wanted` at byte 4. If not, reports a fault of `rule`, whose message calls the
// kind of file by `noun`.
bool has_identifier(std::span<const std::byte> head, std::string_view wanted, std::string_view noun, RuleId rule,
                    Findings& findings);

// Returns the extent if its tables are not larger than a flatbuffer can be, else nothing and a fault of `rule`.
std::optional<Extent> of_possible_size(const Extent& extent, Findings& findings, RuleId rule = "H13");

// The ids of the rules about structure, for one kind of file.
struct StructureRules {
  RuleId alignment, root, structure;
};

// Returns the root table, or null if the tables do not match the schema. `verify` is flatbuffers' verifier for the root
// table.
const void* root_of(std::span<const std::byte> tables, const Schema& schema,
                    bool (*verify)(flatbuffers::Verifier& verifier, const char* identifier),
                    const StructureRules& rules, Findings& findings);
template <class Table>
const Table* root_of(std::span<const std::byte> tables, const Schema& schema, const StructureRules& rules,
                     Findings& findings) {
  const auto verify = [](flatbuffers::Verifier& verifier, const char* identifier) {
    return verifier.VerifyBuffer<Table>(identifier);
  };
  return static_cast<const Table*>(root_of(tables, schema, verify, rules, findings));
}

}  // namespace assay::format

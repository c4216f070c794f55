#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/text/json.h"
#include "conformance/text/output.h"
#include "format/kind.h"

// The share of spec/format/rules.yaml that was checked on a file.
namespace assay::inspect {

struct Coverage {
  std::string areas;    // the first letters of the ids of the rules that apply to the file
  bool opened = false;  // the file opened, so that the rules marked `validate` could check its tables

  void add(const format::FileKind& kind) {
    for (const format::Area& area : kind.areas)
      if (areas.find(area.letter) == std::string::npos) areas += area.letter;
  }
  bool concerns(const FormatRule& rule) const { return areas.find(rule.id[0]) != std::string::npos; }
  bool asked(const FormatRule& rule) const {
    using enum FormatRule::Checked;
    return rule.checked == decode || (opened && (rule.checked == validate || rule.checked == lint));
  }
};

void write_text(const Coverage& coverage, text::Output& out);  // some lines
text::Json to_json(const Coverage& coverage);

}  // namespace assay::inspect

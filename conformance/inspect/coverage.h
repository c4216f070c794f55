#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/text/json.h"
#include "conformance/text/output.h"
#include "format/kind.h"

// How much of spec/format/rules.yaml was asked of a file.
namespace assay {

struct Coverage {
  std::string areas;    // letters with which the ids of rules that concern the file begin
  bool opened = false;  // it came so far that its tables could be looked at, by the rules marked `validate`

  void add(const format::FileKind& kind) {
    for (const format::Area& area : kind.areas) areas += area.letter;
  }
  bool concerns(const FormatRule& rule) const { return areas.find(rule.id[0]) != std::string::npos; }
  bool asked(const FormatRule& rule) const {
    return rule.checked == FormatRule::Checked::decode || (opened && rule.checked == FormatRule::Checked::validate);
  }
};

void write_text(const Coverage& coverage, Output& out);  // some lines
Json to_json(const Coverage& coverage);

}  // namespace assay

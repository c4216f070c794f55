#pragma once

#include "command/options.h"
#include "reference/xnnpack/form.h"

namespace assay::command {

inline xnnpack::Form payload_form(const std::string& word) {
  return word == "literal" ? xnnpack::Form::literal : xnnpack::Form::folded;
}

// --payload of a command.
inline void add_payload(Options& options, std::string& form) {
  options
      .add("--payload", form,
           "Computes XNNPACK delegates by this form of their graph: 'folded', as XNNPACK changes the graph when it "
           "loads it, or 'literal', node by node")
      .one_of({"folded", "literal"})
      .value("FORM")
      .shows_default();
}

}  // namespace assay::command

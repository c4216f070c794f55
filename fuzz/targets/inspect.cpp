#include "conformance/inspect/describe.h"
#include "fuzz/attached.h"
#include "fuzz/printed.h"
#include "fuzz/target.h"

// Attacks assay inspect.
namespace assay::fuzz {

void attack_inspect(Input input) {
  const auto parts = split(input);
  const auto open_within = [&](const Budget& budget) {
    return inspect::Opened(borrowed(parts.first), files_of(parts.second), budget);
  };
  printed(input.size(), [&](text::Output& out) {
    const inspect::Opened opened = open_within(out.budget());
    inspect::write_text(opened.described(), out);
  });
  check_printed_json(input.size(), [&](text::JsonOutput& out, const Budget& budget) {
    const inspect::Opened opened = open_within(budget);
    inspect::write_json(opened.described(), out);
  });
}

}  // namespace assay::fuzz

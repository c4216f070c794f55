#include "conformance/inspect/check.h"

#include "fuzz/attached.h"
#include "fuzz/printed.h"
#include "fuzz/target.h"

// assay check.
namespace assay::fuzz {

void attack_check(Input input) {
  const auto parts = split(input);
  const auto check_within = [&](const Budget& budget) {
    return inspect::check(borrowed(parts.first), files_of(parts.second), budget);
  };
  printed(input.size(), [&](text::Output& out) { inspect::write_text(check_within(out.budget()), out); });
  check_printed_json(input.size(), [&](text::JsonOutput& out, const Budget& budget) {
    inspect::write_json(check_within(budget), out);
  });
}

}  // namespace assay::fuzz

#include "conformance/adapters/optimized/selection.h"

#include "fuzz/folder.h"
#include "fuzz/printed.h"
#include "fuzz/target.h"

// A selection of kernels, as assay select --only reads it.
namespace assay::fuzz {

void attack_selection(Input input) {
  static const Folder folder;
  const std::string file = folder.with("selection.yaml", input).string();
  printed(input.size(), [&](text::Output&) {
    const adapters::Selection selection = adapters::read_selection(file);
    std::ostringstream written;
    adapters::write(written, selection);
    const std::string text = std::move(written).str();
    const std::string again = folder.with("again.yaml", std::as_bytes(std::span(text))).string();
    must(adapters::read_selection(again) == selection, "same", "a selection reads back as another one");
    adapters::require_within(selection, selection, again);
  });
}

}  // namespace assay::fuzz

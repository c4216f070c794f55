#include "conformance/runner/case_list.h"

#include "conformance/text/printable.h"
#include "fuzz/folder.h"
#include "fuzz/printed.h"
#include "fuzz/target.h"

// A list of expected failures, as --known reads it.
namespace assay::fuzz {

void attack_case_list(Input input) {
  static const Folder folder;
  const std::string file = folder.with("known.txt", input).string();
  printed(input.size(), [&](text::Output& out) {
    const runner::Waivers waivers = runner::read_waivers(file);
    for (const std::string& id : waivers.known) out.print("{}\n", text::printable(id));
    for (const auto& [id, day] : waivers.expired) out.print("{} until {}\n", text::printable(id), text::printable(day));
    must(waivers.known.size() + waivers.expired.size() >= runner::read_case_list(file, "known").size(), "same",
         "an id of the list is neither known nor expired");
  });
}

}  // namespace assay::fuzz

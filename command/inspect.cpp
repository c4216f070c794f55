#include <memory>

#include "command/command.h"
#include "command/faults.h"
#include "command/limits.h"
#include "command/output_file.h"
#include "command/print.h"
#include "conformance/files/file.h"
#include "conformance/inspect/describe.h"

namespace assay::command {
namespace {

struct InspectCommand {
  std::string file;
  std::optional<std::string> method;
  std::vector<std::filesystem::path> data;
  std::string html_file;
  Budget::Limits limits;
  bool json = false, map = true;
};

int show(const InspectCommand& r) {
  const files::Access access{Budget(r.limits), r.map};
  const Budget::Scope scope(access.budget, "the description");
  const inspect::Opened file(files::open_file(r.file, access), files::open_data_files(r.data, access), access.budget);
  inspect::Described described = file.described();
  described.method = r.method;
  if (!r.html_file.empty()) {
    OutputFile page(r.html_file);
    text::Output out(&page.stream(), access.budget);
    inspect::write_html(described, out);
    page.finish();
  } else if (r.json) {
    print_json(access.budget, [&](text::JsonOutput& out) { inspect::write_json(described, out); });
  } else {
    text::Output out(&std::cout, access.budget);
    inspect::write_text(described, out);
  }
  return exit_code(Outcome::ok);
}

void define_inspect(Options& options) {
  const auto r = std::make_shared<InspectCommand>();
  options
      .add("FILE", r->file,
           "Describes this .pte, .ptd or .bpte file or XNNPACK payload; an invalid file is described as far as it can "
           "be read")
      .required();
  options.add("--method", r->method, "Describes only this method").value("METHOD");
  options.add_each("--data", r->data, "FILE", "Loads the program with this .ptd file");
  options.flag("--json", r->json, "Prints JSON");
  options.add("--html", r->html_file, "Writes a web page to FILE, with the graph of each XNNPACK payload as a table")
      .value("FILE");
  add_limits(options, r->limits);
  add_no_map(options, r->map);
  options.details(
      "%0, %1 and so on are the values of the method. A picture of each planned memory shows the bytes and the "
      "lifetime of\neach tensor. A name that has characters other than letters, digits and . : _ - / is in quotes. "
      "Only the first 200\nbytes of a name are printed.");
  options.action([r] { return refusals_as_json(r->json, [&] { return show(*r); }); });
}

const Registered registered_inspect({"inspect",
                                     Group::programs,
                                     "Describes a program: its methods, memory over time, and instructions",
                                     define_inspect,
                                     {{"assay inspect model.pte", "describes the whole program"},
                                      {"assay inspect model.pte --method forward", "describes one method"}}});

}  // namespace
}  // namespace assay::command

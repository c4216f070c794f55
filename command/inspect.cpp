#include <memory>

#include "command/command.h"
#include "command/faults.h"
#include "command/limits.h"
#include "command/print.h"
#include "conformance/files/file.h"
#include "conformance/inspect/describe.h"

namespace assay {
namespace {

struct InspectCommand {
  std::string file;
  std::optional<std::string> method;
  std::vector<std::filesystem::path> data;
  Budget::Limits limits;
  bool json = false, map = true;
};

int show(const InspectCommand& r) {
  const Access access{Budget(r.limits), r.map};
  const Budget::Scope scope(access.budget, "the description");
  const Opened file(open_file(r.file, access), open_data_files(r.data, access), access.budget);
  Described described = file.described();
  described.method = r.method;
  if (r.json) {
    print_json(access.budget, [&](JsonOutput& out) { write_json(described, out); });
  } else {
    Output out(&std::cout, access.budget);
    write_text(described, out);
  }
  return exit_code(Outcome::ok);
}

void define_inspect(Options& options) {
  const auto r = std::make_shared<InspectCommand>();
  options.add("FILE", r->file, "A .pte, .ptd or .bpte file; a file that is not valid is shown as far as it can be read")
      .required();
  options.add("--method", r->method, "Only this method");
  options.add_each("--data", r->data, "FILE", "A .ptd file with data that the program wants");
  options.flag("--json", r->json, "Print JSON");
  add_limits(options, r->limits);
  add_no_map(options, r->map);
  options.details(
      "%n is a value of the method. A picture of planned memory shows which tensor is where, and when. A name is shown "
      "in\nquotes if it has characters beside letters, digits and . : _ - /, and is cut behind 200 bytes.");
  options.action([r] { return refusals_as_json(r->json, [&] { return show(*r); }); });
}

const Registered registered_inspect({"inspect",
                                     Group::programs,
                                     "Shows what is in a program: methods, memory over time, instructions",
                                     define_inspect,
                                     {{"assay inspect model.pte", "all of it"},
                                      {"assay inspect model.pte --method forward", "one method"}}});

}  // namespace
}  // namespace assay

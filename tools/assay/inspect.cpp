#include <memory>

#include "conformance/files/file.h"
#include "conformance/inspect/describe.h"
#include "tools/assay/faults.h"
#include "tools/assay/limits.h"
#include "tools/assay/print.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

struct InspectCommand {
  std::string file;
  std::optional<std::string> method;
  std::vector<std::filesystem::path> data;
  Budget::Limits limits;
  bool json = false, map = true;
};

void show(const InspectCommand& r) {
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
}

}  // namespace

void add_inspect(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("inspect", "Shows what is in a program");
  const auto r = std::make_shared<InspectCommand>();
  command
      ->add_option("FILE", r->file,
                   "A .pte, .ptd or .bpte file; one that is not valid is shown as far as it can be read")
      ->required();
  command->add_option("--method", r->method, "Only this method");
  command->add_option("--data", r->data, "A .ptd file with data that the program wants; once for each")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command->add_flag("--json", r->json, "Print JSON");
  add_limits(*command, r->limits);
  add_no_map(*command, r->map);
  command->footer(
      "%n is a value of the method. Of planned memory a picture shows which tensor is where, and when. Names are shown "
      "in\nquotes where they are not of letters, digits and . : _ - / only, and are cut behind 200 "
      "bytes.\n\nExample:\n  "
      "assay inspect model.pte --method forward");
  command->callback([r] { refusals_as_json(r->json, [&] { show(*r); }); });
}

}  // namespace assay

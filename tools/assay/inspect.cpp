#include <iostream>
#include <memory>

#include "conformance/programs/describe.h"
#include "conformance/programs/file.h"
#include "tools/assay/faults.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

struct Request {
  std::string file, method;
  std::vector<std::filesystem::path> data;
  bool json = false;
};

void keep_only(const std::string& method, FileFacts& facts) {
  std::string names;
  for (const MethodFacts& m : facts.methods) names += (names.empty() ? "" : ", ") + m.name;
  if (std::erase_if(facts.methods, [&](const MethodFacts& m) { return m.name != method; }); facts.methods.empty())
    throw Fault(Outcome::invalid, "G3", text("there is no method \"", method, "\"; there are: ", names));
}

void show(const Request& r) {
  FileFacts facts = describe(read_file(r.file), read_data(r.data));
  if (!r.method.empty()) keep_only(r.method, facts);
  std::cout << (r.json ? line_of(to_json(facts)) + '\n' : to_text(facts));
}

}  // namespace

void add_inspect(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("inspect", "Shows what is in a program");
  const auto r = std::make_shared<Request>();
  command
      ->add_option("FILE", r->file,
                   "A .pte, .ptd or .bpte file; one that is not valid is shown as far as it can be read")
      ->required();
  command->add_option("--method", r->method, "Only this method");
  command->add_option("--data", r->data, "A .ptd file with data that the program wants; once for each")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command->add_flag("--json", r->json, "Print JSON");
  command->footer(
      "%n is a value of the method. Of planned memory a picture shows which tensor is where, and when.\n\nExample:\n  "
      "assay inspect model.pte --method forward");
  command->callback([r] { refusals_as_json(r->json, [&] { show(*r); }); });
}

}  // namespace assay

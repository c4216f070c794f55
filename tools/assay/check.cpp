#include <iostream>
#include <memory>

#include "conformance/programs/check.h"
#include "conformance/programs/file.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

struct Request {
  std::string file;
  std::vector<std::filesystem::path> data;
  bool json = false;
};

int show_check(const Request& r) {
  const std::vector<std::byte> file = read_file(r.file);
  const CheckReport report = check(file, read_data(r.data));
  std::cout << (r.json ? line_of(to_json(report)) + '\n' : to_text(report));
  return exit_code(report.faults.empty() ? Outcome::ok : report.faults.front().outcome);
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("check", "Says whether a program keeps the rules of its format, or every one that it breaks");
  const auto r = std::make_shared<Request>();
  command->add_option("FILE", r->file, "A .pte, .ptd or .bpte file")->required();
  command->add_option("--data", r->data, "A .ptd file that the program is to be loaded with; once for each")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command->add_flag("--json", r->json, "Print JSON");
  command->footer(
      "The rules are those of spec/format/rules.yaml. The exit code is that of the first fault.\n\nExample:\n  assay "
      "check model.pte --data weights.ptd");
  command->callback([r, &exit_code] { exit_code = show_check(*r); });
}

}  // namespace assay

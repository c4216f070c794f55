#include <charconv>
#include <memory>

#include "reference/fault.h"
#include "command/kernel_run.h"
#include "command/libraries.h"
#include "command/subcommands.h"

namespace assay {
namespace {

// CLI11 alone takes -1 for the largest number.
CLI::Validator whole_number() {
  return {[](const std::string& given) {
            std::uint64_t value = 0;
            const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
            const bool fits = error == std::errc{} && end == given.data() + given.size();
            return fits ? std::string() : text(given, " is no whole number below 2^64");
          },
          "UINT"};
}

}  // namespace

Deciding add_kernel_options(CLI::App& command, KernelRequest& r) {
  return {
      command
          .add_option("--operators", r.suite.operators,
                      "Only operators that match, such as 'add*,aten::mul.out'; a name alone means all its overloads")
          ->check([](const std::string& given) {
            return given.empty() ? "an empty pattern names no operator" : std::string();
          }),
      command.add_option("--seed", r.suite.seed, "Of the mutated calls")->capture_default_str()->check(whole_number()),
      command.add_option("--mutations", r.suite.mutations, "Mutated calls for each operator")
          ->capture_default_str()
          ->check(CLI::Range(0, 1'000'000)),
      command.add_option("--shuffle", r.suite.shuffle, "Judge in another order, drawn from this seed")
          ->check(whole_number()),
      command
          .add_option("--timeout", r.suite.timeout_seconds,
                      "Seconds of processor time that one case may take; of the wall, where a testee is another "
                      "process or machine")
          ->capture_default_str()
          ->check(CLI::Range(1, 3600)),
      command.add_flag("--thorough", r.suite.thorough, thorough_help),
      command.add_option("--golden", r.golden,
                         "Folder of recorded calls [golden/operators of the checkout or installation]"),
      command.add_option("--contract", r.contract, contract_help),
      command.add_option("--mustpass", r.run.mustpass,
                         "File of cases that must pass, an id at the beginning of each line; they are judged in any "
                         "case"),
      command.add_option("--cases", r.cases, "Judge the cases of this list alone")->check(CLI::ExistingFile),
  };
}

void add_kernels(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("kernels", "Judges the kernels of a testee by the reference");
  const auto r = std::make_shared<KernelRequest>();
  command->add_option("TESTEE", r->run.testee, testee_help)->required();
  const Deciding deciding = add_kernel_options(*command, *r);
  add_workers(*command, r->suite.workers);
  const RunOptions options = add_run_options(*command, r->run);
  CLI::Option* defect =
      command
          ->add_option("--defect", r->defect,
                       "Judge the cases of this defect of the baseline alone, to see whether it is mended")
          ->needs(options.baseline);
  add_part(*command, r->part, options.lines)->excludes(defect);
  command->footer(
      "Exit code 0: no failure of a promised call but the known ones, 1: other failures, a known one passed, or a case "
      "that must pass did not, 5: nothing was judged, as no valid call was answered.\n\nExample:\n  assay "
      "kernels executorch --operators 'add*,mul' --html report.html");
  command->callback([r, deciding, &exit_code] {
    r->part.options = given(deciding);
    exit_code = KernelRun(*r).judge();
  });
}

}  // namespace assay

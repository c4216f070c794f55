#include <memory>

#include "command/libraries.h"
#include "command/runtime_run.h"
#include "command/subcommands.h"

namespace assay {

Deciding add_runtime_options(CLI::App& command, RuntimeRequest& r) {
  return {
      command
          .add_option("--programs", r.programs,
                      "Only cases of programs and operators that match, such as 'dynamic_*,aten::add*', or with these "
                      "ids, such as 'recorded/*'")
          ->check([](const std::string& given) {
            return given.empty() ? "an empty pattern names no program" : std::string();
          }),
      command
          .add_option(
              "--timeout", r.timeout,
              "Seconds of processor time that one case may take; of the wall, where a testee is another process")
          ->capture_default_str()
          ->check(CLI::Range(1, 3600)),
      command.add_option("--golden", r.golden,
                         "Folder of recorded calls, beside which are recorded programs [golden/operators of the "
                         "checkout or installation]"),
  };
}

void add_runtime(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("runtime", "Judges a runtime by programs and what is done with them");
  const auto r = std::make_shared<RuntimeRequest>();
  command->add_option("TESTEE", r->run.testee, runtime_help)->required();
  const Deciding deciding = add_runtime_options(*command, *r);
  add_workers(*command, r->workers);
  const RunOptions options = add_run_options(*command, r->run);
  add_part(*command, r->part, options.lines);
  command->footer(
      "spec/runtime_suite.md says what the cases are. Exit code 0: no failure but the known ones, 1: other failures, "
      "or "
      "a known one passed, 5: nothing was judged, as no program was run.\n\nExamples:\n  assay runtime executorch "
      "--html "
      "report.html\n  assay runtime --programs 'recorded/*' -- python3 mine.py");
  command->callback([r, deciding, &exit_code] {
    r->part.options = given(deciding);
    exit_code = RuntimeRun(*r).judge();
  });
}

}  // namespace assay

#include <sstream>
#include <stdexcept>

#include "conformance/report/html.h"
#include "conformance/report/junit.h"
#include "conformance/report/markdown.h"
#include "conformance/report/sarif.h"
#include "conformance/report/table.h"
#include "conformance/verdict/compare.h"
#include "conformance/verdict/facts.h"
#include "fuzz/printed.h"
#include "fuzz/target.h"

// A run file, as assay report and assay compare read it.
namespace assay::fuzz {
namespace {

// Throws the Faults of the command.
verdict::RunFile read(Input input) try {
  std::istringstream lines(std::string(reinterpret_cast<const char*>(input.data()), input.size()));
  verdict::RunFile run = verdict::read_run(lines);
  if (const std::string wrong = verdict::miscounted(run); !wrong.empty())
    throw Fault(Outcome::malformed, "run.counts", wrong);
  return run;
} catch (const std::invalid_argument& error) {
  throw Fault(Outcome::malformed, "run.line", error.what());
}

using Write = void (*)(std::ostream&, const verdict::Summary&, const verdict::Facts&);

std::string written(Write write, const verdict::RunFile& run) {
  std::ostringstream out;
  write(out, verdict::summarize(run), verdict::facts_of_header(run.header));
  return std::move(out).str();
}

}  // namespace

void attack_run_file(Input input) {
  constexpr Write table = [](std::ostream& out, const verdict::Summary& summary, const verdict::Facts&) {
    report::write_table(out, summary);
  };
  for (const Write write : {table, Write(report::write_markdown)})
    printed(input.size(), [&](text::Output& out) { out.write(written(write, read(input))); });
  printed(input.size(), [&](text::Output&) {
    const verdict::RunFile run = read(input);
    check_json(written(report::write_sarif, run));
    written(report::write_html, run), written(report::write_junit, run);
    must(!verdict::compare(run, run).is_worse(), "same", "a run is worse than itself");
  });
}

}  // namespace assay::fuzz

#include "command/report_files.h"

#include <algorithm>

#include "conformance/report/html.h"
#include "conformance/report/junit.h"
#include "conformance/report/markdown.h"
#include "conformance/report/sarif.h"

namespace assay {
namespace {

struct Form {
  const char *option, *help;
  void (*write)(std::ostream&, const Summary&, const Facts&);
};

constexpr auto forms = std::to_array<Form>({
    {"--html", "Writes the report as a web page to FILE", write_html},
    {"--junit", "Writes the report as JUnit XML to FILE", write_junit},
    {"--sarif", "Writes the report as SARIF 2.1.0 to FILE", write_sarif},
    {"--markdown", "Writes the report as Markdown, for a comment on a pull request, to FILE", write_markdown},
});

}  // namespace

ReportFiles::ReportFiles() : names_(forms.size()) {}

void ReportFiles::add_options(Options& options) {
  for (std::size_t i = 0; i < forms.size(); ++i) options.add(forms[i].option, names_[i], forms[i].help).value("FILE");
}

bool ReportFiles::empty() const { return std::ranges::all_of(names_, &std::string::empty); }

void ReportFiles::open() {
  for (const std::string& name : names_) files_.push_back(name.empty() ? nullptr : std::make_unique<OutputFile>(name));
}

void ReportFiles::write(const Summary& summary, const Facts& facts) {
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (!files_[i]) continue;
    forms[i].write(files_[i]->stream(), summary, facts);
    files_[i]->finish();
  }
}

}  // namespace assay

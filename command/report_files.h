#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command/options.h"
#include "command/output_file.h"
#include "conformance/verdict/facts.h"
#include "conformance/verdict/summary.h"

namespace assay {

// The reports that the options --html, --junit, --sarif and --markdown request.
class ReportFiles {
 public:
  ReportFiles();

  void add_options(Options& options);
  bool empty() const;

  // Opens the files, so that a file that cannot be written is refused before the work. Throws Fault, as `write` does.
  void open();
  void write(const Summary& summary, const Facts& facts);

 private:
  std::vector<std::string> names_;  // the names of the files, in the order of the forms; empty if not requested
  std::vector<std::unique_ptr<OutputFile>> files_;
};

}  // namespace assay

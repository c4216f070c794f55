#include "conformance/report/run_file.h"

#include <fmt/format.h>

#include <stdexcept>

#include "conformance/report/fields.h"

namespace assay {

RunFile read_run(std::istream& lines) {
  RunFile run;
  std::string line;
  for (std::uint64_t number = 1; std::getline(lines, line) && !lines.eof(); ++number) {
    try {
      if (line.starts_with(R"({"header":)"))
        run.header = line;
      else if (line.starts_with(R"({"defect":)"))
        run.defects.push_back(defect_from_json_line(line));
      else if (line.starts_with(R"({"footer":)"))
        run.complete = fields::parsed(line)["footer"].value("complete", false);
      else
        run.records.push_back(from_json_line(line));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("line {}: {}", number, error.what()));
    }
  }
  return run;
}

}  // namespace assay

#include "conformance/verdict/run_file.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "conformance/text/digest.h"
#include "conformance/verdict/fields.h"

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
        run.footer = line, run.complete = fields::parsed(line)["footer"].value("complete", false);
      else
        run.records.push_back(from_json_line(line));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("line {}: {}", number, error.what()));
    }
  }
  return run;
}

void VerdictsDigest::add(const Record& r) {
  sum_ += digest(fmt::format("{} {} {}", r.case_id, name(r.verdict), name(r.failure)));
}

std::string VerdictsDigest::text() const { return digits_of(sum_); }

std::string verdicts_digest(const RunFile& run) {
  VerdictsDigest all;
  for (const Record& r : run.records) all.add(r);
  return all.text();
}

std::string miscounted(const RunFile& run) {
  if (run.footer.empty()) return {};
  std::map<std::string, std::size_t> counted{{"cases", run.records.size()}};
  for (const Record& r : run.records) ++counted[std::string(name(r.verdict))];
  const fields::Json footer = fields::parsed(run.footer)["footer"];
  const auto wrong = [&](const fields::Json& said, const std::string& key, std::string_view where) {
    const std::size_t count = counted[key];
    if (!said.contains(key) || said[key] == count) return std::string();
    return fmt::format("its {} says {} {}, but there are {}", where, fields::dumped(said[key]), key, count);
  };
  for (const auto& [key, value] : footer.items())
    if (key != "complete" && key != "seconds" && key != "verdicts")
      if (std::string sentence = wrong(footer, key, "footer"); !sentence.empty()) return sentence;
  const std::string found = verdicts_digest(run);
  if (footer.value("verdicts", found) != found)
    return fmt::format("its footer says that the digest of its verdicts is {}, but that is {}",
                       fields::dumped(footer["verdicts"]), found);
  if (!run.complete || run.header.empty()) return {};
  return wrong(fields::parsed(run.header)["header"], "cases", "header");
}

}  // namespace assay

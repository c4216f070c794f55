#include "conformance/verdict/run_file.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <stdexcept>

#include "conformance/text/digest.h"
#include "conformance/text/read_line.h"
#include "conformance/verdict/facts.h"
#include "conformance/verdict/fields.h"

namespace assay::verdict {

namespace {

fields::Json object_under(std::string_view key, const std::string& line) {
  fields::Json object = fields::parsed(line)[key];
  if (!object.is_object()) fields::refuse(key, "an object", object);
  return object;
}

void set_header(RunFile& run, const std::string& line) {
  static_cast<void>(facts_of_header(line));
  run.header = line;
}

void set_footer(RunFile& run, const std::string& line) {
  const fields::Json object = object_under("footer", line);
  fields::Reader reader(object);
  reader.optional("complete", run.complete);
  reader.optional("untried", run.untried);
  run.footer = line;
}

void add_line(RunFile& run, const std::string& line) {
  if (line.starts_with(R"({"header":)"))
    set_header(run, line);
  else if (line.starts_with(R"({"defect":)"))
    run.defects.push_back(defect_from_json_line(line));
  else if (line.starts_with(R"({"footer":)"))
    set_footer(run, line);
  else
    run.records.push_back(from_json_line(line));
}

}  // namespace

RunFile read_run(std::istream& lines) {
  RunFile run;
  std::set<std::string, std::less<>> cases;
  std::string line;
  std::uint64_t number = 1;
  try {
    for (; text::read_line(lines, line) && line.ends_with('\n'); ++number) {
      line.pop_back();
      const std::size_t records = run.records.size();
      add_line(run, line);
      if (run.records.size() > records && !cases.insert(run.records.back().case_id).second)
        throw std::invalid_argument(fmt::format("an earlier line is of the same case, {}", run.records.back().case_id));
    }
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("line {}: {}", number, error.what()));
  }
  return run;
}

void VerdictsDigest::add(const Record& r) {
  sum_ += text::digest(fmt::format("{} {} {}", r.case_id, name(r.verdict), name(r.failure)));
}

std::string VerdictsDigest::text() const { return text::digits_of(sum_); }

std::string verdicts_digest(const RunFile& run) {
  VerdictsDigest all;
  for (const Record& r : run.records) all.add(r);
  return all.text();
}

std::string miscounted(const RunFile& run) {
  if (run.footer.empty()) return {};
  std::map<std::string, std::size_t> counted{{"cases", run.records.size()}};
  for (const Record& r : run.records) ++counted[std::string(name(r.verdict))];
  const fields::Json footer = object_under("footer", run.footer);
  const auto wrong = [&](const fields::Json& said, const std::string& key, std::string_view where) {
    const std::size_t count = counted[key];
    if (!said.contains(key) || said[key] == count) return std::string();
    return fmt::format("its {} says {} {}, but there are {}", where, fields::dumped(said[key]), key, count);
  };
  for (const auto& [key, value] : footer.items())
    if (key != "complete" && key != "seconds" && key != "verdicts" && key != "untried")
      if (std::string sentence = wrong(footer, key, "footer"); !sentence.empty()) return sentence;
  const std::string found = verdicts_digest(run);
  if (footer.contains("verdicts") && footer["verdicts"] != found)
    return fmt::format("its footer says that the digest of its verdicts is {}, but that is {}",
                       fields::dumped(footer["verdicts"]), found);
  if (!run.complete || run.header.empty()) return {};
  return wrong(object_under("header", run.header), "cases", "header");
}

}  // namespace assay::verdict

#include "conformance/runner/case_list.h"

#include <fmt/chrono.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <vector>

#include "conformance/text/read_line.h"
#include "reference/fault.h"

namespace assay::runner {
namespace {

struct Listed {
  std::string id, reason;
};

std::vector<Listed> read_list(const std::string& file, const std::string& rule) {
  std::vector<Listed> list;
  text::each_line(file, rule, [&](const std::string& line) {
    if (line.empty() || line.starts_with('#')) return;
    const std::size_t space = line.find(' ');
    list.push_back({line.substr(0, space), space == std::string::npos ? "" : line.substr(space + 1)});
  });
  return list;
}

// The date at the beginning of a reason; empty if there is none.
std::string day_in(const Listed& listed, const std::string& file) {
  constexpr std::string_view until = "until ";
  if (!listed.reason.starts_with(until)) return {};
  const std::string day = listed.reason.substr(until.size(), std::string_view("2027-01-31").size());
  int year, month, number;
  char rest;
  if (std::sscanf(day.c_str(), "%4d-%2d-%2d%c", &year, &month, &number, &rest) == 3 &&
      (std::chrono::year(year) / month / number).ok() && day == fmt::format("{:04}-{:02}-{:02}", year, month, number))
    return day;
  Fault fault(Outcome::malformed, "known",
              concat("of ", listed.id, " the day is \"", day, "\", but must be such as 2027-01-31"));
  fault.place = file;
  throw fault;
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

std::set<std::string> read_case_list(const std::string& file, const std::string& rule) {
  std::set<std::string> cases;
  for (Listed& listed : read_list(file, rule)) cases.insert(std::move(listed.id));
  return cases;
}

Waivers read_waivers(const std::string& file) {
  Waivers waivers;
  for (const Listed& listed : read_list(file, "known")) {
    const std::string day = day_in(listed, file);
    if (day.empty() || today() <= day)
      waivers.known.insert(listed.id);
    else
      waivers.expired.emplace(listed.id, day);
  }
  return waivers;
}

std::set<std::string> read_cases(const std::string& file, const std::string& rule, const cases::Corpus& corpus) {
  std::set<std::string> cases = read_case_list(file, rule);
  try {
    for (const std::string& id : cases) static_cast<void>(corpus.make(cases::case_id_from(id)));
  } catch (Fault& fault) {
    fault.place = file;
    throw;
  }
  return cases;
}

}  // namespace assay::runner

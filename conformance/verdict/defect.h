#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/verdict/record.h"

namespace assay::verdict {

// The share of the drawn calls that a trial must classify rightly, and the least number of drawn calls.
constexpr double convincing = 0.95;
constexpr double likely = 0.8;  // the share from which on an explanation is told, as one of most such calls
constexpr std::uint64_t fewest_drawn = 8;

// How well an explanation predicts failures: the counts of calls that were drawn to test it.
struct Trial {
  std::uint64_t drawn = 0, alike = 0;  // drawn calls that the explanation covers, and those among them that fail alike
  std::uint64_t differing = 0,
                spared =
                    0;  // drawn calls that differ from these in one condition, and those among them that do not fail

  bool convinces(double share) const;  // both shares reach `share`, if enough calls could be drawn
  Trial& operator+=(const Trial& other);
  bool operator==(const Trial&) const = default;
};

// One cause of failures: cases that fail alike.
struct Defect {
  std::string id;  // depends on what the defect is, and is the same in every run
  std::string testee;
  Tier tier = Tier::none;  // the tier of its most serious case
  Verdict verdict = Verdict::fail;
  Class failure = Class::none;
  std::string does;      // what the testee does, in the plural, as "ignore alpha"; empty: what `failure` says. Only the
                         // sentence of it is written to files
  std::string when;      // "whenever self has NaN"
  std::string sentence;  // the subject that fails, how it fails and when
  std::vector<std::string>
      ways;  // alternatives in the words of `when`, the most frequent first; empty if there is only one
  std::vector<std::string> operators;  // sorted
  std::uint64_t cases = 0;             // the number of its cases
  std::uint64_t promised_cases = 0;    // the number of failing cases that the contract promises
  std::optional<double> distance;      // the largest distance of a result, in units of its bound
  Trial trial;
  bool explained = false;  // a trial confirms the explanation
  bool known = false;      // each of its cases is a listed expected failure
  std::vector<std::string> case_ids;
  Record smallest;                      // the simplest call that was found
  std::vector<std::string> neighbours;  // sentences about similar calls that the testee answers rightly
  std::string command;  // the shell command that makes this call; empty in lines of old runs, which know only the case

  bool promised() const { return promised_cases > 0; }
  bool operator==(const Defect&) const = default;
};

// "gives results of wrong sizes": what a testee does in a call with this verdict and class.
std::string_view effect(Verdict verdict, Class failure);

// "24 operators abort whenever a tensor is uint16": `defect.sentence`, made from its other fields.
std::string sentence(const Defect& defect, std::string_view many = "operators");

// One word for how the calls fail: their class, or the verdict if it is enough.
std::string_view kind(const Defect& defect);

// "up to 31.4 times the bound"; empty if no distance is known.
std::string how_far(const Defect& defect);

// The shell command that makes the smallest call again. It is printable: a control character in a command of a stranger
// cannot begin another line.
std::string repro_line(const Defect& defect);

// Why the defect does not change the exit code; empty if it does.
std::string_view excuse(const Defect& defect);

// Orders by severity, then by the number of cases.
bool is_more_serious(const Defect& a, const Defect& b);

// The JSON object of a defect, fields in the order above.
nlohmann::ordered_json to_json(const Defect& defect);

// `{"defect":{…}}`, and the reverse, as from_json_line.
std::string to_json_line(const Defect& defect);
Defect defect_from_json_line(std::string_view line);

}  // namespace assay::verdict

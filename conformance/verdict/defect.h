#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/verdict/record.h"

namespace assay {

// A trial convinces by so much of the calls that were drawn, if they are enough.
constexpr double convincing = 0.95;
constexpr std::uint64_t fewest_drawn = 8;

/// How a sentence about when calls fail fared with calls that were drawn to try it.
struct Trial {
  std::uint64_t drawn = 0, alike = 0;       ///< that it speaks of, and those that fail alike
  std::uint64_t differing = 0, spared = 0;  ///< that differ from these in one of its words, and those that do not

  bool convinces(double share) const;  ///< so much of both, if enough could be drawn
  Trial& operator+=(const Trial& other);
  bool operator==(const Trial&) const = default;
};

/// What makes cases fail that fail alike.
struct Defect {
  std::string id;  ///< of what it is, not of where it stands
  std::string testee;
  Tier tier = Tier::none;  ///< of its most serious case
  Verdict verdict = Verdict::fail;
  Class failure = Class::none;
  std::string when;                    ///< "whenever self has NaN"
  std::string sentence;                ///< who does what, and when
  std::vector<std::string> ways;       ///< each in words as `when`, that of most cases first; none: there is one
  std::vector<std::string> operators;  ///< sorted
  std::uint64_t cases = 0;             ///< that fail for it
  std::uint64_t promised_cases = 0;    ///< of these, inside of the contract
  std::optional<double> distance;      ///< of the farthest, in units of its bound
  Trial trial;
  bool explained = false;  ///< by a trial that convinces
  bool known = false;      ///< each of its cases is a listed expected failure
  std::vector<std::string> case_ids;
  Record smallest;      ///< the simplest call that was found
  std::string command;  ///< that makes it again; empty in lines of old runs, which know the case alone

  bool promised() const { return promised_cases > 0; }
  bool operator==(const Defect&) const = default;
};

/// "24 operators abort whenever a tensor is uint16": `defect.sentence`, from its other fields.
std::string sentence(const Defect& defect, std::string_view many = "operators");

/// One word for how its calls fail: their class, or the verdict where that says it all.
std::string_view kind(const Defect& defect);

/// "up to 31.4 times the bound", empty where no number says it.
std::string how_far(const Defect& defect);

/// The shell command that makes its smallest call again.
std::string repro_line(const Defect& defect);

/// Why it does not count for the exit code, empty where it does.
std::string_view excuse(const Defect& defect);

/// Most serious first, then those with most cases.
bool is_more_serious(const Defect& a, const Defect& b);

/// The JSON object of a defect, fields in the order above.
nlohmann::ordered_json to_json(const Defect& defect);

/// `{"defect":{…}}`, and back, as from_json_line.
std::string to_json_line(const Defect& defect);
Defect defect_from_json_line(std::string_view line);

}  // namespace assay

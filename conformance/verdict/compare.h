#pragma once

#include <istream>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "conformance/verdict/run_file.h"

// What changed from one run to another.
namespace assay {

// The verdict of a run on a case.
struct CaseVerdict {
  Verdict verdict = Verdict::pass;
  Class failure = Class::none;
  Tier tier = Tier::none;
};
std::string text(const CaseVerdict& ruling);  // "pass", "fail (nan)"

// A run that later runs are compared with.
class Baseline {
 public:
  explicit Baseline(const RunFile& run);
  explicit Baseline(std::istream& lines);  // throws as read_run

  const CaseVerdict* find(const std::string& case_id) const;  // null if the run did not judge the case

  // True if the case fails, is not a listed failure, and in this run did not fail, failed less seriously, or was not
  // judged.
  bool is_new(const Record& record) const;

 private:
  std::unordered_map<std::string, CaseVerdict> rulings_;
};

struct Change {
  std::string case_id;
  std::optional<CaseVerdict> before;
  CaseVerdict after;
  bool promised = true;
};

struct Difference {
  std::string name, before, after;  // a fact of the run headers; a value is empty where its header lacks the fact
};

struct Changes {
  std::vector<Difference> settings;
  std::vector<std::string> cut_off;  // "before", "after": the runs that did not end
  std::vector<Change> fresh;         // new failures, as Baseline defines them
  std::vector<Change> mended;        // failures that pass now
  std::vector<Change> given_up;      // cases that were answered and are unsupported now
  std::vector<std::string> only_before, only_after;
  std::vector<Defect> fresh_defects;   // defects that were not there before, with a new failure
  std::vector<Defect> mended_defects;  // defects that are gone, with a case that is mended

  bool is_worse() const;  // a promised call is among the new failures
};

// Matches cases by their ids, so that the testees' names may differ.
Changes compare(const RunFile& before, const RunFile& after);

}  // namespace assay

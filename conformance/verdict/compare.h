#pragma once

#include <istream>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "conformance/verdict/run_file.h"

/// What changed from one run to another.
namespace assay {

/// What a run says of a case.
struct CaseVerdict {
  Verdict verdict = Verdict::pass;
  Class failure = Class::none;
  Tier tier = Tier::none;
};
std::string text(const CaseVerdict& ruling);  ///< "pass", "fail (nan)"

/// A run that later ones are held to.
class Baseline {
 public:
  explicit Baseline(const RunFile& run);
  explicit Baseline(std::istream& lines);  ///< throws as read_run

  const CaseVerdict* find(const std::string& case_id) const;  ///< none: the run did not judge it

  /// It fails and is not listed, and here it did not fail, was less serious, or was not judged.
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
  std::string name, before, after;  ///< of a fact in the headers, empty where it is not in one
};

struct Changes {
  std::vector<Difference> settings;
  std::vector<std::string> cut_off;  ///< "before", "after": runs that did not end
  std::vector<Change> fresh;         ///< failures that are new, as Baseline has it
  std::vector<Change> mended;        ///< failures that pass now
  std::vector<Change> given_up;      ///< what was answered and is unsupported now
  std::vector<std::string> only_before, only_after;
  std::vector<Defect> fresh_defects;   ///< not there before, with a case that is fresh
  std::vector<Defect> mended_defects;  ///< not there any more, with a case that is mended

  bool is_worse() const;  ///< something promised is fresh
};

/// Cases are compared by their ids, so that the testees need not have one name.
Changes compare(const RunFile& before, const RunFile& after);

}  // namespace assay

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conformance/corrupt/corruption.h"
#include "conformance/loaders/isolated_loader.h"
#include "conformance/verdict/stated_defects.h"

// Judges a loader: a record for each file, a defect for each error, a count for each rule. spec/loader.md defines the
// terms.
namespace assay::loaders {

// The id of a case: the program that the file was made from ("" for the cases of rules) and the name of the change.
std::string case_of(const std::string& program, const std::string& name);

// `control`: whether the loader accepts the file without faults.
verdict::Record record_of(std::string_view testee, const std::string& program, const corrupt::Attempt& attempt,
                          const LoadOutcome& load_outcome, bool control);

// Groups files that fail in the same way, by rule and by the changed place.
class LoaderDefects {
 public:
  LoaderDefects();
  void add(const verdict::Record& record);
  std::vector<verdict::Defect> found() const;  // most serious first

 private:
  verdict::StatedDefects defects_;
};

// For each rule, the number of files that break this rule first, by outcome; and the number of files of the cases of
// rules that just meet the rule.
class EndsOfFiles {
 public:
  void add(const verdict::Record& record);
  std::string markdown() const;

 private:
  using Counts = std::map<std::string, std::size_t>;
  using Rules = std::map<std::string, Counts>;
  static std::string table(const Rules& rules);

  Rules broken_, met_;
  Counts verdicts_;
};

}  // namespace assay::loaders

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conformance/corrupt/corruption.h"
#include "conformance/loaders/taker.h"
#include "conformance/verdict/stated_defects.h"

// What is said of a loader: of each file, of what it did wrong, of each rule. spec/loader.md has the words.
namespace assay {

// The id of a case: of which program the file was made, "" for the cases of rules, and what it is called.
std::string case_of(const std::string& program, const std::string& name);

// `control`: whether the loader accepts the file that has nothing wrong.
Record record_of(std::string_view testee, const std::string& program, const corrupt::Attempt& attempt,
                 const LoadOutcome& load_outcome, bool control);

// Groups files that go wrong in the same way, by rule and by what was changed.
class LoaderDefects {
 public:
  LoaderDefects();
  void add(const Record& record);
  std::vector<Defect> found() const;  // most serious first

 private:
  StatedDefects defects_;
};

// How many files whose first broken rule this is came to which end.
class EndsOfFiles {
 public:
  void add(const Record& record);
  std::string markdown() const;

 private:
  using Counts = std::map<std::string, std::size_t>;
  std::map<std::string, Counts> rules_;
  Counts verdicts_;
};

}  // namespace assay

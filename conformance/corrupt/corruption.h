#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/corrupt/cases.h"
#include "conformance/corrupt/change.h"
#include "conformance/corrupt/expectation.h"

// Files for a loader to take that are wrong in one place, or at the boundary of a rule.
namespace assay::corrupt {

struct Attempt {
  std::string name;     // of all that are made of one file: "execution_plan.0.name:length=huge", "G2.1-breaks"
  std::string subject;  // what is tried, wherever: "ExecutionPlan.name:length=huge", "G2"
  std::string control;  // the name of a file that a loader takes for which this one means anything; "": the original
  Files files;
  Expectation expectation;
};

// What can be made of one file, by one change in one place. Each is made when it is asked for.
class Corruptions {
 public:
  // A program with its data files, a data file or a bundle, which keep every rule; of places that are alike at most so
  // many, or all. Throws Fault.
  explicit Corruptions(Bytes file, std::vector<Bytes> data = {}, std::size_t places = 0);

  const Original& original() const { return original_; }
  const std::vector<Site>& sites() const { return sites_; }

  // Each that is another file, until `take` returns false.
  using Take = std::function<bool(const Attempt&)>;
  void each(const Take& take) const;
  // The same with the names alone, of those too that are the file itself.
  using TakeName = std::function<void(const Site& site, std::string_view change)>;
  void each_name(const TakeName& take) const;

  std::vector<std::string> names() const;  // of each that is another file

  std::optional<Attempt> find(std::string_view name) const;
  // The first that breaks this rule and no other, or else with others.
  std::optional<Attempt> that_breaks(std::string_view rule) const;

 private:
  std::optional<Bytes> changed(const Site& site, std::string_view change) const;  // none: that is the file itself
  std::optional<Attempt> attempt(const Site& site, std::string_view change) const;

  Original original_;
  Corrupter corrupter_;
  std::vector<Site> sites_;
};

// The cases of rules: first the file that keeps it, which is the control of the one that breaks it.
void each_case(const Corruptions::Take& take);

}  // namespace assay::corrupt

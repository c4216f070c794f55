#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/corrupt/cases.h"
#include "conformance/corrupt/change.h"
#include "conformance/corrupt/expectation.h"

// Files for a loader: with one change in one place, or at the boundary of a rule.
namespace assay::corrupt {

struct Attempt {
  std::string name;     // unique among the files made of one file: "execution_plan.0.name:length=huge", "G2.1-breaks"
  std::string subject;  // the change without its place: "ExecutionPlan.name:length=huge", "G2"
  std::string
      control;  // the name of a file; this one tells something only of a loader that accepts it. "": the original
  Files files;
  Expectation expectation;
};

// The files that can be made of one file by one change in one place. Each is made when it is requested.
class Corruptions {
 public:
  // A file that keeps every rule; a program with its data files. At most `places` of the places that are alike are
  // changed; 0 means all of them. Throws Fault.
  explicit Corruptions(Bytes file, std::vector<Bytes> data = {}, std::size_t places = 0);

  const Original& original() const { return original_; }
  const std::vector<Site>& sites() const { return sites_; }

  // Each file that differs from the original, until `take` returns false.
  using Take = std::function<bool(const Attempt&)>;
  void each(const Take& take) const;
  // The names alone, even of files that equal the original.
  using TakeName = std::function<void(const Site& site, std::string_view change)>;
  void each_name(const TakeName& take) const;

  std::vector<std::string> names() const;  // the name of each file that differs from the original

  std::optional<Attempt> find(std::string_view name) const;
  // The first file that breaks this rule alone; if there is none, the first that breaks it.
  std::optional<Attempt> that_breaks(std::string_view rule) const;

 private:
  std::optional<Bytes> changed(const Site& site, std::string_view change) const;  // empty if it equals the original
  std::optional<Attempt> attempt(const Site& site, std::string_view change) const;

  Original original_;
  Corrupter corrupter_;
  std::vector<Site> sites_;
};

// The cases of rules: first the file that keeps the rule, which is the control of the file that breaks it.
void each_case(const Corruptions::Take& take);
// The same for the rules of payloads: programs with a delegate. A loader without the delegate's backend reads no
// payload.
void each_payload_case(const Corruptions::Take& take);

}  // namespace assay::corrupt

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "conformance/verdict/defect.h"

namespace assay::verdict {

// Defects of testees whose failures state their own cause: failures of one verdict, class and cause form one defect.
// Used for runtimes and loaders.
class StatedDefects {
 public:
  using IsSimpler = bool (*)(const Record& a, const Record& b);

  // `who` is the subject of the sentences, as "the runtime". Of equally simple cases the first is shown.
  StatedDefects(std::string_view who, IsSimpler is_simpler) : who_(who), is_simpler_(is_simpler) {}

  void add(const Record& record, Class failure, const std::string& when);
  std::vector<Defect> found() const;  // most serious first

 private:
  std::string who_;
  IsSimpler is_simpler_;
  std::map<std::tuple<Verdict, Class, std::string>, Defect> defects_;
};

}  // namespace assay::verdict

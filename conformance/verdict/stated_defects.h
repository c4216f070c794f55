#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "conformance/verdict/defect.h"

namespace assay::verdict {

// How a failure of such a testee is told. Failures of one verdict with an equal cause form one defect.
struct StatedCause {
  Class failure = Class::none;
  std::string does = {};  // as Defect::does
  // As Defect::when, from the narrowest to the broadest. Causes of one kind have equal last items and equally many
  // items. The first item of which a kind has only a few is told.
  std::vector<std::string> when = {""};
};

// Defects of testees whose failures state their own cause: runtimes and loaders.
class StatedDefects {
 public:
  using IsSimpler = bool (*)(const Record& a, const Record& b);

  // `who` is the subject of the sentences, as "the runtime". Of equally simple cases the first is shown.
  StatedDefects(std::string_view who, IsSimpler is_simpler) : who_(who), is_simpler_(is_simpler) {}

  void add(const Record& record, const StatedCause& cause);
  std::vector<Defect> found() const;  // most serious first

 private:
  using Key = std::tuple<Verdict, Class, std::string, std::vector<std::string>>;  // does, when

  void join(std::map<Key, Defect>& all, const Key& key, Defect one) const;
  std::map<Key, Defect> joined() const;

  std::string who_;
  IsSimpler is_simpler_;
  std::map<Key, Defect> defects_;
};

}  // namespace assay::verdict

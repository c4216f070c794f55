#pragma once

#include <map>
#include <optional>
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
  // Facts of the case, from the narrowest to the broadest, such as the field that its file changes. Of a defect, the
  // first fact that all cases share is told, else the first that most cases share; cases without facts do not count.
  std::vector<std::string> facts = {};
  std::optional<Verdict> verdict = {};  // if it is told as another one than that of the case
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
  struct Joined {
    Defect defect;
    std::vector<std::map<std::string, std::size_t>> facts;  // of each level, with their cases
  };

  void join(std::map<Key, Joined>& all, const Key& key, Joined one) const;
  std::map<Key, Joined> joined() const;

  std::string who_;
  IsSimpler is_simpler_;
  std::map<Key, Joined> defects_;
};

}  // namespace assay::verdict

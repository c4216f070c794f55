#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "conformance/verdict/defect.h"

namespace assay {

// How a failure of such a testee is told. Failures of one verdict with an equal cause form one defect.
struct StatedCause {
  Class failure = Class::none;
  std::string does = {};     // as Defect::does
  std::string when = {};     // as Defect::when
  std::string broadly = {};  // the same for all causes of a kind, which are one defect if there are many of them
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
  struct Stated {
    Defect defect;
    std::string broadly;
  };
  using Key = std::tuple<Verdict, Class, std::string, std::string>;  // does, when

  void join(Defect& all, Defect one) const;
  std::map<Key, Defect> joined(const std::map<Key, Stated>& fine) const;

  std::string who_;
  IsSimpler is_simpler_;
  std::map<Key, Stated> defects_;
};

}  // namespace assay

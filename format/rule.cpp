#include "format/rule.h"

namespace assay::format {

bool Findings::stands(RuleId rule, bool unreadable, const Place& place, std::initializer_list<Part> sentence) {
  if (count_ < most_) {
    Text text;
    for (const Part& part : sentence) text.add(part);
    if (!tell_(listener_, {*rule, unreadable ? Outcome::malformed : rule->outcome, place, text.view()})) return false;
  }
  ++count_;
  return true;
}

}  // namespace assay::format

#include "format/rule.h"

namespace assay::format {

void Place::write(Text& to) const {
  if (outer) outer->write(to);
  if (name.empty()) return;
  if (!to.view().empty()) to.add(", ");
  to.add(quoted ? Part(Quoted{name}) : Part(name));
  if (index >= 0) to.add(' ').add(index);
}

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

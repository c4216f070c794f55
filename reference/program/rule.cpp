#include "reference/program/rule.h"

namespace assay {

std::string text_of(const Place& place) {
  format::Text text;
  place.write(text);
  return std::string(text.view());
}

bool FaultList::tell(void* list, const format::Finding& f) {
  static_cast<FaultList*>(list)->faults_.emplace_back(f.outcome, std::string(f.rule.id), std::string(f.message),
                                                      text_of(f.place));
  return true;
}

std::ostream& format::operator<<(std::ostream& out, const Quoted& text) { return out << Text().add(text).view(); }

}  // namespace assay

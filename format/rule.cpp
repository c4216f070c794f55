#include "format/rule.h"

namespace assay::format {

void Place::write(Text& to) const {
  if (outer) outer->write(to);
  if (name.empty()) return;
  if (!to.view().empty()) to.add(", ");
  quoted ? to.add(Quoted{name}) : to.add(name);
  if (index >= 0) to.add(' ').add(index);
}

}  // namespace assay::format

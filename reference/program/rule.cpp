#include "reference/program/rule.h"

namespace assay {

std::string Place::text() const {
  std::string before = outer ? outer->text() : "";
  if (name.empty()) return before;
  if (!before.empty()) before += ", ";
  before += name;
  return index < 0 ? before : before + " " + std::to_string(index);
}

}  // namespace assay

#include "optimized/runtime/fault.h"

#include <algorithm>
#include <cstddef>

namespace assay::optimized {
namespace {

template <std::size_t N>
void copy(std::string_view text, char (&to)[N]) {
  const std::size_t n = std::min(text.size(), N - 1);
  std::copy_n(text.data(), n, to);
  to[n] = 0;
}

}  // namespace

void Fault::set(Outcome o, std::string_view r, std::string_view p, std::string_view m) {
  outcome = o;
  copy(r, rule), copy(p, place), copy(m, message);
}

bool refuse(Fault& fault, format::RuleId rule, const format::Place& place,
            std::initializer_list<format::Part> sentence) {
  format::Text where, what;
  place.write(where);
  for (const format::Part& part : sentence) what.add(part);
  fault.set(rule->outcome, rule->id, where.view(), what.view());
  return false;
}

bool refuse(Fault& fault, format::RuleId rule, const format::Place& place, std::string_view sentence) {
  return refuse(fault, rule, place, {format::Part(sentence)});
}

format::Findings first_finding(Fault& fault) {
  const auto tell = [](void* to, const format::Finding& f) {
    format::Text place;
    f.place.write(place);
    static_cast<Fault*>(to)->set(f.outcome, f.rule.id, place.view(), f.message);
    return true;
  };
  return format::Findings(tell, &fault, 1);
}

}  // namespace assay::optimized

#include "optimized/runtime/fault.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace assay::optimized {
namespace {

void copy(std::string_view text, std::span<char> to) {
  const std::size_t n = std::min(text.size(), to.size() - 1);
  std::memcpy(to.data(), text.data(), n);
  to[n] = 0;
}

}  // namespace

Fault::Fault() { std::memset(this, 0, sizeof *this); }
static_assert(static_cast<int>(Outcome::ok) == 0);

void Fault::set(Outcome o, std::string_view r, std::string_view p, std::string_view m) {
  outcome = o;
  copy(r, rule), copy(p, place), copy(m, message);
}

void Fault::add_place(format::Text& outer) {
  if (place[0]) outer.add(", ").add(static_cast<const char*>(place));
  copy(outer.view(), place);
}

bool refuse(Fault& fault, format::RuleId rule, const format::Place& place,
            std::initializer_list<format::Part> sentence) {
  format::Text where, what;
  place.write(where);
  for (const format::Part& part : sentence) what.add(part);
  fault.set(rule->outcome, rule->id, where.view(), what.view());
  return false;
}

bool refuse(Fault& fault, format::RuleId rule, const format::Place& place, const char* sentence) {
  return refuse(fault, rule, place, {format::Part(sentence)});
}

bool refuse(Fault& fault, format::RuleId rule, const char* sentence) { return refuse(fault, rule, nowhere, sentence); }

bool refuse(Fault& fault, Outcome outcome, const char* reason, const char* sentence) {
  fault.set(outcome, reason, "", sentence);
  return false;
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

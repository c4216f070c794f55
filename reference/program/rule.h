#pragma once

#include <new>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "format/rule.h"
#include "reference/fault.h"

// What is found wrong with a program, by the rules of spec/format/rules.yaml, as faults.
namespace assay {

using format::Place;
using format::RuleId;

std::string text_of(const Place& place);  // "plan 0, value 3"

// One thing that is wrong: for a function that stops at the first, to throw.
template <class... Parts>
Fault broken(RuleId rule, const Place& place, const Parts&... sentence) {
  return Fault(rule->outcome, std::string(rule->id), text(sentence...), text_of(place));
}

// All that is wrong, as far as findings tell it.
class FaultList {
 public:
  FaultList() : findings_(tell, this) {}
  FaultList(const FaultList&) = delete;
  FaultList& operator=(const FaultList&) = delete;

  format::Findings& findings() { return findings_; }
  bool none() const { return findings_.none(); }
  std::uint64_t more() const { return findings_.count() - faults_.size(); }
  std::vector<Fault> take() { return std::move(faults_); }

 private:
  static bool tell(void* list, const format::Finding& finding);

  std::vector<Fault> faults_;
  format::Findings findings_;
};

// A value, or the reasons why there is none.
template <class T>
struct Result {
  std::optional<T> value;
  std::vector<Fault> faults;
  std::uint64_t more = 0;  // how many faults there are besides

  explicit operator bool() const { return value.has_value(); }
  T& operator*() { return *value; }
  const T& operator*() const { return *value; }
  T* operator->() { return &*value; }
  const T* operator->() const { return &*value; }
};

template <class T>
Result<T> refused(FaultList& list) {
  const std::uint64_t more = list.more();
  return {std::nullopt, list.take(), more};
}

using Refusal = std::optional<Fault>;  // none: it is done

// What f throws as a fault, or for want of memory, as a value.
template <class F>
Refusal refusal_of(F f) {
  try {
    try {
      f();
      return {};
    } catch (Fault& fault) {
      return std::move(fault);
    }
  } catch (const std::bad_alloc&) {
    return Fault(Outcome::exhausted, "limits.memory", "no memory left");  // short enough to need none
  }
}

// What `make` returns, or the fault that ends it.
template <class T, class F>
Result<T> unless_refused(F make) {
  Result<T> result;
  Refusal refused = refusal_of([&] {
    result.faults.reserve(1);
    result = make();
  });
  if (refused) result.faults.push_back(std::move(*refused));
  return result;
}

namespace format {
std::ostream& operator<<(std::ostream& out, const Quoted& text);
}

}  // namespace assay

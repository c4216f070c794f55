#pragma once

#include <new>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "format/rule.h"
#include "reference/fault.h"

// Turns each format::Finding (a file breaks a rule of spec/format/rules.yaml) into a Fault.
namespace assay {

using format::Place;
using format::RuleId;

std::string text_of(const Place& place);  // a text such as "plan 0, value 3"

// Makes a fault to throw, for a function that stops at the first fault.
template <class... Parts>
Fault broken(RuleId rule, const Place& place, const Parts&... sentence) {
  return Fault(rule->outcome, std::string(rule->id), concat(sentence...), text_of(place));
}

// Collects the faults that are reported to findings(), up to the limit of findings().
class FaultList {
 public:
  FaultList() : findings_(tell, this) {}
  FaultList(const FaultList&) = delete;
  FaultList& operator=(const FaultList&) = delete;

  format::Findings& findings() { return findings_; }
  bool none() const { return findings_.none(); }
  // The number of faults beyond the limit.
  std::uint64_t more() const { return findings_.count() - faults_.size(); }
  std::vector<Fault> take() { return std::move(faults_); }

 private:
  static bool tell(void* list, const format::Finding& finding);

  std::vector<Fault> faults_;
  format::Findings findings_;
};

// A value, or the faults that explain why there is no value.
template <class T>
struct Result {
  std::optional<T> value;
  std::vector<Fault> faults;
  std::uint64_t more = 0;  // the number of faults that are not in `faults`

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

using Refusal = std::optional<Fault>;  // empty on success

// Runs f and returns the fault that f throws. std::bad_alloc is returned as a fault with the rule limits.memory.
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
    return Fault(Outcome::exhausted, "limits.memory",
                 "no memory left");  // std::string stores this text without allocation
  }
}

// Returns the result of `make`, or the fault that `make` throws.
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

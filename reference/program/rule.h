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
  static void tell(void* list, const format::Finding& finding);

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

// What `make` returns, or the fault of a budget, or of memory that is not there, that ends it.
template <class T>
Result<T> unless_exhausted(auto make) {
  try {
    return make();
  } catch (const Fault& f) {
    return {std::nullopt, {f}};
  } catch (const std::bad_alloc&) {
    return {std::nullopt, {broken("V4", {}, "there is no memory for it")}};
  }
}

namespace format {
std::ostream& operator<<(std::ostream& out, const Quoted& text);
}

}  // namespace assay

#include <reference/program/rule.h>

#include <iostream>

// Collects the findings of a check as faults with rule and place.
int main() {
  assay::FaultList list;
  const assay::Place plan{nullptr, "plan", 0}, value{&plan, "value", 3};
  list.findings().check(2 <= 16, "T4", value, "its rank is ", 2);
  list.findings().check(17 <= 16, "T4", value, "its rank is ", 17);
  const std::vector<assay::Fault> faults = list.take();
  std::cout << faults.front().rule << ", " << faults.front().place << ": " << faults.front().message << '\n';
  return faults.size() == 1 && faults.front().place == "plan 0, value 3" ? 0 : 1;
}

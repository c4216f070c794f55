#include <reference/fault.h>

#include <iostream>

// A fault has the rule that it breaks, and one sentence with the reason.
int main() {
  try {
    throw assay::Fault(assay::Outcome::unsupported, "mine.rank", assay::concat("there are no kernels of rank ", 17));
  } catch (const assay::Fault& fault) {
    std::cerr << fault.rule << ": " << fault.message << '\n';
    return fault.message == "there are no kernels of rank 17" ? 0 : 1;
  }
}

#include <reference/fault.h>

#include <iostream>

// Whoever refuses says by which rule, and why in one sentence.
int main() {
  try {
    throw assay::Fault(assay::Outcome::unsupported, "mine.rank", assay::text("there are no kernels of rank ", 17));
  } catch (const assay::Fault& fault) {
    std::cerr << fault.rule << ": " << fault.message << '\n';
    return fault.message == "there are no kernels of rank 17" ? 0 : 1;
  }
}

#pragma once

#include <memory>

#include "reference/program/decoded.h"
#include "reference/xnnpack/form.h"

namespace assay::xnnpack {

bool has_payloads(const ProgramFile& program);  // whether a method has an XNNPACK delegate

// The program with the calls of operators that compute each XNNPACK delegate in place of the calls of the delegate. It
// has no XNNPACK delegates, and the constants of their payloads are constants of the program. Other delegates stay.
// Inputs, outputs and state of the program keep their values and their memory. The new tensors have memory in one more
// planned memory, and are bounded if an argument of the delegate is not static.
//
// The object is the bytes of a .pte file that are not written yet, so that weights are copied only once: from the
// bytes of `program`, which must live as long as the object, into the file.
class Undelegated {
 public:
  // Faults: the rules of payloads (area X), with the delegate and the node as their place; limits.memory.
  Undelegated(const ValidProgram& program, Form form, const Budget& budget);
  ~Undelegated();

  std::size_t size() const;                     // of the file
  void write(std::span<std::byte> file) const;  // requires size() bytes

  struct Parts;

 private:
  std::unique_ptr<Parts> parts_;
};

Bytes undelegated(const ValidProgram& program, Form form, const Budget& budget);  // the file

}  // namespace assay::xnnpack

#include <reference/runtime/runtime.h>
#include <reference/xnnpack/form.h>

// Runs the graphs of XNNPACK delegates as their payloads state them, without the changes that XNNPACK makes.
int main() {
  assay::RuntimeOptions options;
  if (options.payload_form != assay::xnnpack::Form::folded) return 1;
  options.payload_form = assay::xnnpack::Form::literal;
  return 0;
}

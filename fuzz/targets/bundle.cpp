#include "conformance/programs/calls.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"

// assay run of a bundle: its cases are called and compared.
namespace assay::fuzz {
namespace {

void run_case(Input program, const ProgramCall& call) {
  Host host(program, {}, limited_options());
  const CallResult result = run_call(host, call);
  check_text(result.mismatch, most_output);
  for (const Comparison& c : result.comparisons) check_text(sentence(c, call.tolerance), most_output);
}

}  // namespace

void attack_bundle(Input input) {
  const Measured measured(heap_for(input.size()), 4 * most_seconds);
  const auto bundle = decode_bundle(input);
  if (!bundle) return;
  try {
    std::size_t most_cases = 8;
    for (const ProgramCall& call : calls_of(*bundle))
      if (most_cases > 0) --most_cases, run_case(std::as_bytes(std::span(bundle->program)), call);
  } catch (const Fault& refused) {
    check_text(text(refused.place, refused.message), most_output);
  }
}

}  // namespace assay::fuzz

#include "conformance/hosts/calls.h"
#include "fuzz/printed.h"
#include "fuzz/target.h"

// assay run of a bundle: its cases are called and compared, each on a program loaded afresh.
namespace assay::fuzz {

void attack_bundle(Input input) {
  printed(input.size(), [&](Output& out) {
    const BundleFile bundle = value_or_throw(open_bundle(borrowed(input)));
    const ValidProgram program = valid_program(program_of(bundle));
    each_call(bundle, bundle_tolerance, [&](const ProgramCall& call) {
      Host host(program, options_for(out.budget()));
      const CallResult result = run_call(host, call);
      out.print("{}\n", printable(result.mismatch));
      for (const Comparison& c : result.comparisons) out.print("{}\n", printable(sentence(c, call.tolerance)));
    });
  });
}

}  // namespace assay::fuzz

#include "conformance/hosts/calls.h"
#include "fuzz/printed.h"
#include "fuzz/target.h"

// assay run of a bundle: its cases are called and compared, each on a program loaded afresh.
namespace assay::fuzz {

void attack_bundle(Input input) {
  printed(input.size(), [&](text::Output& out) {
    const BundleFile bundle = inspect::value_or_throw(open_bundle(borrowed(input)));
    const ValidProgram program = hosts::valid_program(program_of(bundle));
    hosts::each_call(bundle, hosts::bundle_tolerance, [&](const hosts::ProgramCall& call) {
      hosts::Host host(program, options_for(out.budget()));
      const hosts::CallResult result = hosts::run_call(host, call);
      out.print("{}\n", text::printable(result.mismatch));
      for (const files::Comparison& c : result.comparisons)
        out.print("{}\n", text::printable(files::sentence(c, call.tolerance)));
    });
  });
}

}  // namespace assay::fuzz

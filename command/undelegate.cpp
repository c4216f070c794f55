#include "reference/xnnpack/undelegate.h"

#include <filesystem>
#include <memory>

#include "command/command.h"
#include "command/limits.h"
#include "command/output_file.h"
#include "command/payload_form.h"
#include "conformance/hosts/host.h"
#include "conformance/hosts/program_at_path.h"

// assay undelegate: the same program without XNNPACK delegates.
namespace assay::command {
namespace {

struct UndelegateCommand {
  std::string program, output, payload = "folded";
  std::vector<std::filesystem::path> data;
  Budget::Limits limits;
  bool map = true;
};

int undelegate(const UndelegateCommand& r) {
  const files::Access access{Budget(r.limits), r.map};
  const Budget::Scope scope(access.budget, "the program");
  const File program = hosts::program_in_file(files::open_file(r.program, access));
  const ValidProgram valid = hosts::valid_program(program, files::open_data_files(r.data, access));
  const Bytes plain = xnnpack::undelegated(valid, payload_form(r.payload), access.budget);
  OutputFile out(r.output);
  out.stream().write(reinterpret_cast<const char*>(plain.data()), static_cast<std::streamsize>(plain.size()));
  out.finish();
  return exit_code(Outcome::ok);
}

void define_undelegate(Options& options) {
  const auto r = std::make_shared<UndelegateCommand>();
  options.add("PROGRAM", r->program, "Reads this .pte or .bpte file").required().existing_file();
  options.add_each("--data", r->data, "FILE", "Loads the program with this .ptd file");
  options.add("-o", r->output, "Writes the program to PLAIN.pte").required().value("PLAIN.pte");
  add_payload(options, r->payload);
  add_limits(options, r->limits);
  add_no_map(options, r->map);
  options.details(
      R"(The new program calls operators of the specification where the program calls an XNNPACK delegate: Core ATen
operators and operators of quantized_decomposed. Sums of 8-bit products are computed in float64, in which they are
exact, so that an 8-bit result has the same bits as that of XNNPACK's 8-bit kernels. Weights of 8 bits stay weights of
8 bits. Weights that PROGRAM finds in a .ptd file become constants of the new program. Other delegates stay.

assay run, bench, explain and select do the same in memory if the optimized runtime is asked to run a program with
XNNPACK delegates. For a device, write the file once and deploy it.

Exit code 5 means that assay does not know the meaning of a node; the message names the node.

)");
  options.action([r] { return undelegate(*r); });
}

const Registered registered_undelegate({"undelegate",
                                        Group::programs,
                                        "Writes a program that computes the work of XNNPACK delegates by operators",
                                        define_undelegate,
                                        {{"assay undelegate model.pte -o plain.pte",
                                          "writes the program without delegates"},
                                         {"assay run plain.pte --input x.npy --with executorch --against reference",
                                          "compares the official runtime's own kernels with the reference"}}});

}  // namespace
}  // namespace assay::command

#include "conformance/hosts/calls.h"
#include "conformance/files/npy.h"
#include "fuzz/folder.h"
#include "fuzz/printed.h"
#include "fuzz/target.h"

// A calls.json, in a folder with one file of numbers, x.npy.
namespace assay::fuzz {

void attack_calls(Input input) {
  static const Folder folder;
  static const auto numbers = folder.with("x.npy", files::encode_npy(make(DType::float32, {2, 3})));
  const auto file = folder.with("calls.json", input);
  printed(input.size(), [&](text::Output& out) {
    const hosts::ProgramCalls calls = hosts::read_calls(file, {out.budget()});
    out.print("{} calls\n{}", calls.calls.size(), text::printable(calls.description));
  });
}

}  // namespace assay::fuzz

#include "conformance/contract/read_contract.h"
#include "fuzz/folder.h"
#include "fuzz/printed.h"
#include "fuzz/target.h"

// A contract, as --contract reads it.
namespace assay::fuzz {

void attack_contract(Input input) {
  static const Folder folder;
  const auto file = folder.with("contract.yaml", input);
  printed(input.size(), [&](text::Output&) { static_cast<void>(contract::read_contract(file.string())); });
}

}  // namespace assay::fuzz

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "fuzz/mutator/random.h"

// The targets of attacks. A target takes any bytes. An oracle that does not hold ends the process.
namespace assay::fuzz {

using Input = std::span<const std::byte>;

struct Target {
  std::string_view name;
  void (*run)(Input input);
  void (*mutate)(std::string& input, const std::string& other, Random& random);
};

std::span<const Target> targets();
const Target* find_target(std::string_view name);  // null if the target does not exist

// The targets in fuzz/targets/, one per file.
void attack_decode(Input);
void attack_rules(Input);
void attack_check(Input);
void attack_inspect(Input);
void attack_run(Input);
void attack_data(Input);
void attack_bundle(Input);
void attack_loader(Input);
void attack_call(Input);
void attack_oracle(Input);
void attack_literal(Input);
void attack_npy(Input);
void attack_calls(Input);
void attack_run_file(Input);
void attack_case_list(Input);
void attack_contract(Input);
void attack_optimized(Input);
void attack_packed(Input);
void attack_payload(Input);
void attack_results(Input);
void attack_selection(Input);

}  // namespace assay::fuzz

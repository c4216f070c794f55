#include "fuzz/target.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "fuzz/attached.h"
#include "fuzz/mutator/bytes.h"
#include "fuzz/mutator/call_mutator.h"
#include "fuzz/mutator/file_mutator.h"

namespace assay::fuzz {
namespace {

void change_bytes(std::string& input, const std::string&, Random& random) { mutate_bytes(input, random); }
void change_request(std::string& input, const std::string&, Random& random) { mutate_request(input, random); }

// Changes the packed constants behind the program; once in eight times it changes the whole file.
void change_packed(std::string& input, const std::string& other, Random& random) {
  if (random.one_in(8)) return mutate_file(input, other, random);
  const auto [program, packed] = split(std::as_bytes(std::span(input)));
  const auto text_of = [](auto bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  std::string changed = text_of(packed);
  mutate_bytes(changed, random);
  input = attach(text_of(program), changed);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void change_json(std::string& input, const std::string&, Random& random) { mutate_json(input, random); }

// Changes a line of a file that has one JSON text on each line; once in eight times it copies a line of another file.
void change_lines(std::string& input, const std::string& other, Random& random) {
  auto lines = lines_of(input);
  const auto others = lines_of(other);
  if (lines.empty() || random.one_in(8)) return mutate_bytes(input, random);
  std::string& line = random.of(lines);
  if (!others.empty() && random.one_in(8))
    line = random.of(others);
  else
    mutate_json(line, random);
  input.clear();
  for (const std::string& l : lines) input += l + '\n';
}

constexpr Target every_target[] = {
    {"decode", attack_decode, mutate_file},
    {"check", attack_check, mutate_file},
    {"rules", attack_rules, mutate_file},
    {"inspect", attack_inspect, mutate_file},
    {"run", attack_run, mutate_file},
    {"data", attack_data, mutate_file},
    {"bundle", attack_bundle, mutate_file},
    {"loader", attack_loader, mutate_file},
    {"call", attack_call, change_request},
    {"oracle", attack_oracle, change_json},
    {"literal", attack_literal, change_bytes},
    {"npy", attack_npy, change_bytes},
    {"calls", attack_calls, change_json},
    {"optimized", attack_optimized, mutate_file},
    {"packed", attack_packed, change_packed},
    {"payload", attack_payload, mutate_file},
    {"run_file", attack_run_file, change_lines},
    {"contract", attack_contract, change_bytes},
    {"case_list", attack_case_list, change_bytes},
    {"results", attack_results, change_lines},
    {"selection", attack_selection, change_bytes},
};

}  // namespace

std::span<const Target> targets() { return every_target; }

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(every_target, name, &Target::name);
  return found == std::end(every_target) ? nullptr : found;
}

}  // namespace assay::fuzz

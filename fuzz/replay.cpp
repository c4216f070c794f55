#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <vector>

#include "conformance/files/file.h"
#include "fuzz/target.h"

// fuzz_replay TARGET MUTANTS PATH...: attacks a target with files, or with all files of folders, then with MUTANTS
// mutants of them, which are the same in each run. If an oracle does not hold, it ends as the fuzzer does; the input is
// the last one that it printed.
int main(int argc, char** argv) {
  using namespace assay;
  namespace fs = std::filesystem;
  const fuzz::Target* target = argc > 1 ? fuzz::find_target(argv[1]) : nullptr;
  const std::string_view number = argc > 2 ? argv[2] : "";
  std::uint64_t mutants = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), mutants);
  if (!target || argc < 4 || error != std::errc() || end != number.data() + number.size())
    return std::cerr << "usage: fuzz_replay TARGET MUTANTS PATH...\n", 2;
  std::vector<fs::path> files;
  for (int i = 3; i < argc; ++i) {
    if (!fs::is_directory(argv[i]))
      files.emplace_back(argv[i]);
    else
      for (const auto& entry : fs::directory_iterator(argv[i])) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<std::string> inputs;
  for (const fs::path& file : files) {
    std::cout << file.string() << std::endl;
    const auto opened = open_file(file);
    target->run(opened.bytes);
    inputs.emplace_back(reinterpret_cast<const char*>(opened.bytes.data()), opened.bytes.size());
  }
  for (std::uint64_t i = 0; i < mutants && !inputs.empty(); ++i) {
    fuzz::Random random(i);
    std::string mutant = random.of(inputs);
    const std::string& other = random.of(inputs);
    std::cout << "mutant " << i << std::endl;
    target->mutate(mutant, other, random);
    target->run(std::as_bytes(std::span(mutant)));
  }
  std::cout << inputs.size() << " inputs, " << mutants << " mutants: no oracle reports a fault\n";
  return inputs.empty();
}

#include <filesystem>
#include <iostream>

#include "conformance/programs/file.h"
#include "fuzz/target.h"

// fuzz_replay TARGET PATH...: attacks a target with files, or all files of folders. Ends as the fuzzer does where an
// oracle does not hold; the file is the last that was named.
int main(int argc, char** argv) {
  using namespace assay;
  namespace fs = std::filesystem;
  const fuzz::Target* target = argc > 1 ? fuzz::find_target(argv[1]) : nullptr;
  if (!target || argc < 3) return std::cerr << "usage: fuzz_replay TARGET PATH...\n", 2;
  std::size_t count = 0;
  const auto attack = [&](const fs::path& file) {
    std::cout << file.string() << std::endl;
    target->run(read_file(file));
    ++count;
  };
  for (int i = 2; i < argc; ++i) {
    if (!fs::is_directory(argv[i]))
      attack(argv[i]);
    else
      for (const auto& entry : fs::directory_iterator(argv[i])) attack(entry.path());
  }
  std::cout << count << " inputs, and every oracle held\n";
  return count > 0 ? 0 : 1;
}

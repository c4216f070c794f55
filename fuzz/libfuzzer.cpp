#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fuzz/target.h"

// The interface of libFuzzer, which AFL++ provides, too: ASSAY_FUZZ_TARGET=NAME fuzzer CORPUS...
namespace {

using namespace assay::fuzz;

const Target* attacked = nullptr;

// Stores the input if it fits; otherwise keeps the previous data.
std::size_t put(const std::string& input, std::uint8_t* data, std::size_t size, std::size_t most) {
  if (input.size() > most || input.empty()) return size;
  std::memcpy(data, input.data(), input.size());
  return input.size();
}
std::string text_of(const std::uint8_t* data, std::size_t size) { return {reinterpret_cast<const char*>(data), size}; }

// One of the last inputs, as a source of parts.
std::string another(const std::string& input, Random& random) {
  static std::string last[16];
  std::string& place = random.of(last);
  const std::string other = place.empty() ? input : place;
  if (random.one_in(4)) place = input;
  return other;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("ASSAY_FUZZ_TARGET");
  attacked = name ? find_target(name) : nullptr;
  if (attacked) return 0;
  std::fputs("fuzzer: ASSAY_FUZZ_TARGET must be one of", stderr);
  for (const Target& t : targets()) std::fprintf(stderr, " %s", t.name.data());
  std::fputs("\n", stderr);
  std::exit(2);
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  Random random(seed);
  if (random.one_in(8)) return LLVMFuzzerMutate(data, size, most);
  std::string input = text_of(data, size);
  attacked->mutate(input, another(input, random), random);
  return put(input, data, size, most);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* a, std::size_t a_size, const std::uint8_t* b,
                                                 std::size_t b_size, std::uint8_t* out, std::size_t most,
                                                 unsigned seed) {
  Random random(seed);
  std::string input = text_of(a, a_size);
  attacked->mutate(input, text_of(b, b_size), random);
  return put(input, out, 0, most);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  attacked->run(std::as_bytes(std::span(data, size)));
  return 0;
}

#include "fuzz/oracle.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

// g++ does not provide the sanitizers' header that declares these functions.
extern "C" {
std::size_t __sanitizer_get_allocated_size(const volatile void* block);
int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void*, std::size_t),
                                              void (*released)(const volatile void*));
}

namespace assay::fuzz {
namespace {

// The length of the first character of a UTF-8 text; 0 means no valid character, or a control character.
std::size_t leading_printable(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return first == '\n' || (first >= ' ' && first != 0x7F) ? 1 : 0;
  const std::size_t length = first >= 0xF0 && first < 0xF5   ? 4
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xC2 && first < 0xE0 ? 2
                                                             : 0;
  for (std::size_t i = 1; i < length; ++i)
    if (byte(i) >> 6 != 2) return 0;
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool outside = (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
  const bool control = first == 0xC2 && byte(1) < 0xA0;
  return overlong || outside || control ? 0 : length;
}

// The bytes of the heap in use, and their peak since the last query. Only a measured thread counts, since libFuzzer has
// threads of its own.
thread_local bool is_measured = false;
std::size_t in_use = 0, most_in_use = 0;

void count_allocation(const volatile void*, std::size_t bytes) {
  if (!is_measured) return;
  in_use += bytes;
  most_in_use = std::max(most_in_use, in_use);
}
void count_release(const volatile void* block) {
  if (is_measured && block) in_use -= std::min(in_use, __sanitizer_get_allocated_size(block));
}

}  // namespace

void found(std::string_view oracle, const std::string& sentence) {
  std::fprintf(stderr, "oracle %.*s: %s\n", static_cast<int>(oracle.size()), oracle.data(), sentence.c_str());
  std::abort();
}

void check_text(std::string_view text, Int most) {
  must(std::ssize(text) <= most, "output", text.size(), " bytes are printed, but at most ", most, " are allowed");
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = leading_printable(rest);
    must(length > 0, "text", "byte ", text.size() - rest.size(), " of the output is ",
         static_cast<int>(static_cast<unsigned char>(rest[0])), ", which is not a byte of UTF-8 text");
    rest.remove_prefix(length);
  }
}

void check_json(std::string_view text) {
  must(Json::accept(text), "json", "the output is not JSON: ", text.substr(0, 200));
}

Measured::Measured(std::size_t bytes, double seconds) : bytes_(bytes), seconds_(seconds), start_(std::clock()) {
  static const bool counting = __sanitizer_install_malloc_and_free_hooks(count_allocation, count_release) != 0;
  must(counting, "memory", "allocations cannot be counted");
  in_use = most_in_use = 0;
  is_measured = true;
}

Measured::~Measured() {
  is_measured = false;
  const double seconds = static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
  must(most_in_use <= bytes_, "memory", most_in_use, " bytes were in use at once, but at most ", bytes_,
       " are allowed");
  must(seconds <= seconds_, "work", seconds, " seconds passed, but at most ", seconds_, " are allowed");
}

}  // namespace assay::fuzz

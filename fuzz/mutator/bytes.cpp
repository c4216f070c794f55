#include "fuzz/mutator/bytes.h"

#include <cstring>

namespace assay::fuzz {
namespace {

// Overwrites an integer of 1 to 8 bytes.
void change_number(std::string& bytes, std::size_t at, Random& random) {
  const std::size_t size = std::min(std::size_t{1} << random.below(4), bytes.size() - at);
  std::int64_t number = 0;
  std::memcpy(&number, bytes.data() + at, size);
  number = another_number(number, random);
  std::memcpy(bytes.data() + at, &number, size);
}

}  // namespace

void mutate_bytes(std::string& bytes, Random& random) {
  const std::size_t at = random.below(bytes.size() + 1),
                    some = random.few(std::min<std::size_t>(bytes.size() - at, 64));
  const std::string piece = bytes.substr(random.below(bytes.size() + 1), some);
  switch (random.below(6)) {
    case 0:
      bytes.erase(at, some);
      break;
    case 1:
      bytes.insert(at, piece);
      break;
    case 2:
      bytes.replace(at, piece.size(), piece);
      break;
    case 3:
      bytes.insert(at, 1, static_cast<char>(random.bits()));
      break;
    default:
      if (at < bytes.size()) change_number(bytes, at, random);
  }
}

}  // namespace assay::fuzz

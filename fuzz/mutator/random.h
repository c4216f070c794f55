#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace assay::fuzz {

// The random source of the mutators. The same seed gives the same choices.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(engine_() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  auto& of(auto& choices) { return choices[below(std::size(choices))]; }
  // Mostly 1, rarely more, at most n.
  std::size_t few(std::size_t n) { return one_in(4) ? below(n + 1) : n < 1 ? n : 1; }

 private:
  std::mt19937_64 engine_;
};

// A number at the limit of a check, or a neighbour of `now`.
std::int64_t another_number(std::int64_t now, Random& random);
double another_real(double now, Random& random);

}  // namespace assay::fuzz

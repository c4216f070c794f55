#include "conformance/sandbox/entropy.h"

#include <random>

namespace {

std::uint64_t& state() {
  static std::uint64_t number = 1;
  return number;
}

}  // namespace

void assay::sandbox::seed_entropy(std::uint64_t seed) { state() = seed; }

// Replaces the standard library's function.
std::random_device::result_type std::random_device::_M_getval() {
  std::uint64_t x = state() += 0x9e3779b97f4a7c15u;  // splitmix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return static_cast<result_type>(x >> 32);
}

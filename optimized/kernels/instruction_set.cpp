#include "optimized/kernels/instruction_set.h"

#include <atomic>
#include <iterator>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace assay::kernels {

#if defined(__x86_64__)

namespace {

// Whether the kernel of the system lets this process use the registers of AMX. The call is that of arch_prctl(2) with
// ARCH_REQ_XCOMP_PERM for the state component of the tiles.
bool may_use_tiles() {
#if defined(__linux__)
  constexpr long arch_prctl = 158, request = 0x1023, tiles = 18;
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(arch_prctl), "D"(request), "S"(tiles) : "rcx", "r11", "memory");
  return result == 0;
#else
  return false;
#endif
}

// What the machine answers, which is asked only once: in a virtual machine, cpuid takes as long as a small convolution.
class Answer {
 public:
  template <class Ask>
  bool operator()(Ask ask) {
    if (known_.load(std::memory_order_relaxed) == 0) known_.store(ask() ? 1 : -1, std::memory_order_relaxed);
    return known_.load(std::memory_order_relaxed) > 0;
  }

 private:
  std::atomic<signed char> known_{0};
};

bool has_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;  // bits 24 and 25 of EDX of leaf 7.0 are AMX-TILE and AMX-INT8
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 24 & 3) == 3 && may_use_tiles();
}

// Whether the machine converts float16: bit 29 of ECX of leaf 1. Each compiler that we use can ask for the other bits
// by name.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) && (c >> 29 & 1) != 0;
}

bool has_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;  // bit 4 of EAX of leaf 7.1
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1) != 0;
}

constinit Answer f16c, amx, avx_vnni;

}  // namespace

bool has_vnni(InstructionSet set) {
  if (!is_supported(set)) return false;
  if (set == InstructionSet::amx) return true;
  if (set == InstructionSet::avx512) return __builtin_cpu_supports("avx512vnni");
  return set == InstructionSet::avx2 && avx_vnni(has_avx_vnni);
}

bool is_compiled(InstructionSet set) { return set <= InstructionSet::amx; }

bool is_supported(InstructionSet set) {
  const bool sse4 =
      __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2");
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && f16c(has_f16c);
  const auto avx512 = [&] {
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  };
  switch (set) {
    case InstructionSet::sse4:
      return sse4;
    case InstructionSet::avx2:
      return avx2;
    case InstructionSet::avx512:
      return avx512();
    case InstructionSet::amx:
      return avx512() && __builtin_cpu_supports("avx512vnni") && amx(has_amx);
    case InstructionSet::neon:
    case InstructionSet::portable:
      return false;
  }
  return false;
}

#else

#if defined(__ARM_NEON)
constexpr auto only = InstructionSet::neon;
#else
constexpr auto only = InstructionSet::portable;
#endif

bool is_compiled(InstructionSet set) { return set == only; }
bool is_supported(InstructionSet set) { return is_compiled(set); }
bool has_vnni(InstructionSet) { return false; }
#endif

std::optional<InstructionSet> find_instruction_set(std::string_view name) {
  for (std::size_t i = 0; i < std::size(instruction_sets); ++i)
    if (name == instruction_sets[i].name) return static_cast<InstructionSet>(i);
  return {};
}

std::optional<InstructionSet> best_instruction_set() {
  for (std::size_t i = std::size(instruction_sets); i-- > 0;)
    if (const auto set = static_cast<InstructionSet>(i); is_supported(set)) return set;
  return {};
}

}  // namespace assay::kernels

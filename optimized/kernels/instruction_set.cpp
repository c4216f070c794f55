#include "optimized/kernels/instruction_set.h"

#include <initializer_list>

namespace assay::kernels {

#if defined(__x86_64__)

bool is_supported(InstructionSet set) {
  const bool sse4 =
      __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2");
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  switch (set) {
    case InstructionSet::sse4:
      return sse4;
    case InstructionSet::avx2:
      return avx2;
    case InstructionSet::avx512:
      return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    case InstructionSet::neon:
      return false;
  }
  return false;
}

InstructionSet best_instruction_set() {
  for (const InstructionSet set : {InstructionSet::avx512, InstructionSet::avx2})
    if (is_supported(set)) return set;
  return InstructionSet::sse4;
}

#else

bool is_supported(InstructionSet set) { return set == InstructionSet::neon; }
InstructionSet best_instruction_set() { return InstructionSet::neon; }

#endif

}  // namespace assay::kernels

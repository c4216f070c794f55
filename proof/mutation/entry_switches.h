#pragma once

#include <array>

#include "proof/mutation/mutant.h"
#include "reference/dtype.h"
#include "reference/words/rules.h"

// The switches in mutated wrappers of entries (entries.py).
namespace assay::mutation {

// What a limit is off by: 1 in the mutant of this number, -1 in the next.
inline Int off_by(int mutant) { return Int{on(mutant)} - Int{on(mutant + 1)}; }

// The dtypes that recorded calls have.
inline constexpr std::array set_dtypes{DType::boolean, DType::uint8,     DType::int8,      DType::int16,
                                       DType::int32,   DType::int64,     DType::uint16,    DType::uint32,
                                       DType::uint64,  DType::float16,   DType::bfloat16,  DType::float32,
                                       DType::float64, DType::complex32, DType::complex64, DType::complex128};

// The set; in the mutant `first + k` with the k-th of set_dtypes added or removed.
inline DTypeSet changed_set(int first, DTypeSet set) {
  const int k = active - first;
  return k >= 0 && k < std::ssize(set_dtypes) ? set ^ sets::of(set_dtypes[static_cast<std::size_t>(k)]) : set;
}

}  // namespace assay::mutation

namespace assay::wrappers {
using mutation::changed_set;
using mutation::off_by;
using mutation::on;
}  // namespace assay::wrappers

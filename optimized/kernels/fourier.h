#pragma once

#include <cstddef>

#include "optimized/kernels/instruction_set.h"

// Discrete Fourier transforms of several lines of complex points at once.
namespace assay::kernels {

// Writes the real parts, then the imaginary parts of e^(sign 2 pi i j / n) for each j below n. T is float or double.
template <class T>
void make_roots(std::size_t n, int sign, T* roots);

// The points of some lines, as rows with an element of each line: the real parts of point 0, its imaginary parts, the
// real parts of point 1, and so on. Both memories hold 2 n rows and are overwritten. A transform returns the memory
// that has its results, which are multiplied by `scale`.
template <class T>
struct FourierLines {
  std::size_t n, lines;
  const T* roots;
  T *points, *memory;
  T scale;
};

// Copies n pairs of neighbours to two rows, and back.
template <class T>
void split_pairs(InstructionSet, const T* pairs, std::size_t n, T* first, T* second);
template <class T>
void join_pairs(InstructionSet, const T* first, const T* second, std::size_t n, T* pairs);

// Transforms n points: result k is the sum of the points j times root j k mod n.
template <class T>
T* transform(InstructionSet, const FourierLines<T>&);

// Transforms n real points, which are n rows; n is even. The results are the first n / 2 + 1.
template <class T>
T* transform_reals(InstructionSet, const FourierLines<T>&);

// Transforms n points of which point n - k is the conjugate of point k; n is even. The points are the first n / 2 + 1.
// The results are real: n rows.
template <class T>
T* transform_to_reals(InstructionSet, const FourierLines<T>&);

}  // namespace assay::kernels

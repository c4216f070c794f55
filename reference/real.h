#pragma once

// The number type in which formulas are computed. proof/precision compiles the reference with another type.
namespace assay {

// Holds each value of every floating dtype, so that reads are exact and only a store rounds.
using Real = double;

// A sum. `+=` adds one addend, and the order of the additions is the order in which the code calls it.
template <class T>
using Sum = T;

}  // namespace assay

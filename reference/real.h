#pragma once

// The number type in which formulas are computed. proof/precision compiles the reference with another type.
namespace assay {

// Holds each value of every floating dtype, so that reads are exact and only a store rounds.
using Real = double;

// The type of a sum. Addends are added one after another by `+=`, in the order of the code.
template <class T>
using Sum = T;

}  // namespace assay

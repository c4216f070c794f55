#pragma once

// The number in which formulas are computed. proof/precision compiles the reference with another.
namespace assay {

using Real = double;  // every floating dtype: exact on the way in, rounded once on the way out

// A sum of addends that `+=` takes one after another, in this order.
template <class T>
using Sum = T;

}  // namespace assay

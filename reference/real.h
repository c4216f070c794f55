#pragma once

// The number type in which formulas are computed. proof/precision compiles the reference with another type.
namespace assay {

using Real = double;  // holds every floating dtype: reads are exact, a store rounds once

// A sum whose addends `+=` adds one after another, in this order.
template <class T>
using Sum = T;

}  // namespace assay

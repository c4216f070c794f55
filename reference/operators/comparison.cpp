#include "operators/comparison.gen.h"

namespace assay {

Int operators::eq(Real self, Real other) { return self == other; }
Int operators::eq(Int self, Int other) { return self == other; }
Int operators::eq(Complex self, Complex other) { return self == other; }
Int operators::ne(Real self, Real other) { return self != other; }
Int operators::ne(Int self, Int other) { return self != other; }
Int operators::ne(Complex self, Complex other) { return self != other; }
Int operators::lt(Real self, Real other) { return self < other; }
Int operators::lt(Int self, Int other) { return self < other; }
Int operators::le(Real self, Real other) { return self <= other; }
Int operators::le(Int self, Int other) { return self <= other; }
Int operators::gt(Real self, Real other) { return self > other; }
Int operators::gt(Int self, Int other) { return self > other; }
Int operators::ge(Real self, Real other) { return self >= other; }
Int operators::ge(Int self, Int other) { return self >= other; }

}  // namespace assay

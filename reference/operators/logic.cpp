#include "operators/logic.gen.h"

namespace assay {

Int operators::logical_not(Real x) { return x == 0; }
Int operators::logical_not(Int x) { return x == 0; }
Int operators::logical_not(Complex x) { return x == Complex(); }
Int operators::logical_and(Real self, Real other) { return self != 0 && other != 0; }
Int operators::logical_and(Int self, Int other) { return self != 0 && other != 0; }
Int operators::logical_and(Complex self, Complex other) { return self != Complex() && other != Complex(); }
Int operators::logical_or(Real self, Real other) { return self != 0 || other != 0; }
Int operators::logical_or(Int self, Int other) { return self != 0 || other != 0; }
Int operators::logical_or(Complex self, Complex other) { return self != Complex() || other != Complex(); }
Int operators::logical_xor(Real self, Real other) { return (self != 0) != (other != 0); }
Int operators::logical_xor(Int self, Int other) { return (self != 0) != (other != 0); }
Int operators::logical_xor(Complex self, Complex other) { return (self != Complex()) != (other != Complex()); }

Int operators::bitwise_not(Int x, const Rounding& round) { return x ^ round(Int{-1}); }
Int operators::bitwise_and(Int self, Int other) { return self & other; }
Int operators::bitwise_or(Int self, Int other) { return self | other; }
Int operators::bitwise_xor(Int self, Int other) { return self ^ other; }

Int operators::bitwise_left_shift(Int self, Int other) {
  const bool leaves_nothing = other < 0 || other >= 64;
  return leaves_nothing ? 0 : static_cast<Int>(static_cast<Bits>(self) << other);
}
Int operators::bitwise_right_shift(Int self, Int other) {
  const bool leaves_sign = other < 0 || other >= 64;
  return self >> (leaves_sign ? 63 : other);
}

Element operators::where(Int condition, Element self, Element other) { return condition ? self : other; }
Element operators::masked_fill(Element self, Int mask, Element value) { return mask ? value : self; }

}  // namespace assay

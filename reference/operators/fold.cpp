#include "operators/fold.gen.h"

#include "reference/words/window.h"

namespace assay {
namespace {

Real plus(Real a, Real b) { return a + b; }
Int plus(Int a, Int b) { return wrapping_add(a, b); }
Complex plus(Complex a, Complex b) { return a + b; }

template <class T>
void fold(Array<T>& out, const Array<T>& self, const Ints& kernel_size, const Ints& dilation, const Ints& padding,
          const Ints& stride) {
  const int rank = self.sizes.size();
  const WindowAxis down = window_axis(0, kernel_size, stride, padding, dilation),
                   right = window_axis(1, kernel_size, stride, padding, dilation);
  const Int width = right.places(out.sizes[rank], false);
  Int flat = 0;
  for (const Dims& i : indices(self.sizes)) {
    const Int cell = i[rank - 2], place = i[rank - 1];
    Dims at = i;
    at[rank - 2] = cell / (down.kernel * right.kernel);
    at[rank - 1] = down.start(place / width) + cell / right.kernel % down.kernel * down.dilation;
    at.push_back(right.start(place % width) + cell % right.kernel * right.dilation);
    if (inside(out.sizes, at)) out(at) = plus(out(at), self[flat]);
    ++flat;
  }
}

}  // namespace

void operators::col2im(Array<Real>& out, const Array<Real>& self, const Ints& kernel_size, const Ints& dilation,
                       const Ints& padding, const Ints& stride) {
  fold(out, self, kernel_size, dilation, padding, stride);
}
void operators::col2im(Array<Complex>& out, const Array<Complex>& self, const Ints& kernel_size, const Ints& dilation,
                       const Ints& padding, const Ints& stride) {
  fold(out, self, kernel_size, dilation, padding, stride);
}
void operators::col2im(Array<Int>& out, const Array<Int>& self, const Ints& kernel_size, const Ints& dilation,
                       const Ints& padding, const Ints& stride) {
  fold(out, self, kernel_size, dilation, padding, stride);
}

}  // namespace assay

#include <reference/tensor.h>

// Copies the values to another layout and another dtype.
int main() {
  assay::Tensor x = assay::make(assay::DType::float32, {2, 2});
  assay::Array<assay::Real> values(x.sizes);
  values.data = {1, 2, 3, 4.5};
  assay::write(values, x);
  const assay::Tensor columns = assay::arranged(x, {1, 0});
  const assay::Tensor integers = assay::cast(x, assay::DType::int32);
  return assay::read<assay::Real>(columns).data == values.data && assay::read<assay::Int>(integers)[3] == 4 ? 0 : 1;
}

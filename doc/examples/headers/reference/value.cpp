#include <reference/value.h>

#include <iostream>

// Turns a number into an argument, and into a tensor without dimensions.
int main() {
  const assay::Scalar number = assay::Int{300};
  const assay::Tensor tensor = assay::tensor_of(number);
  using assay::operator<<;
  std::cout << assay::describe(tensor) << " of " << number << '\n';
  return assay::fits(number, assay::DType::int16) && !assay::fits(number, assay::DType::uint8) &&
                 assay::item(tensor) == number
             ? 0
             : 1;
}

#include <reference/call.h>

#include <iostream>

// Makes a call that is answered, and one that a rule refuses.
int main() {
  assay::Tensor x = assay::make(assay::DType::float32, {3}), y = assay::make(assay::DType::float32, {2});
  assay::write(assay::Array<assay::Real>(assay::Dims{3}), x);
  const assay::Operator& add = *assay::find_operator("aten::add.out");
  std::vector<assay::Value> good{x, x, assay::Int{1}, {}}, bad{x, y, assay::Int{1}, {}};
  const assay::Answer answered = assay::call(add, good), refused = assay::call(add, bad);
  std::cout << assay::describe(std::get<assay::Tensor>(good.back())) << '\n' << refused.message << '\n';
  return answered.outcome == assay::Outcome::ok && refused.outcome == assay::Outcome::invalid ? 0 : 1;
}

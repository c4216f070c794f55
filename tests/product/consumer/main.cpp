#include <cstdio>

#include "reference/call.h"

int main() {
  assay::Tensor zero = assay::make(assay::DType::int32, {});
  std::vector<assay::Value> arguments{zero, zero, assay::Int{1}, {}};
  const assay::Answer answer = assay::call(*assay::find_operator("aten::add.out"), arguments);
  std::printf("%s, %td operators\n", assay::name(answer.outcome).data(), assay::operator_table().size());
}

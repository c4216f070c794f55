#include <reference/operator.h>

#include <iostream>

// Prints what the entry of an operator states.
int main() {
  const assay::Operator& op = *assay::find_operator("aten::add.out");
  std::cout << op.schema << '\n' << op.math << '\n';
  for (const assay::Rule& rule : op.rules) std::cout << rule.id << ": " << rule.sentence << '\n';
  return op.outs() == 1 && !op.rules.empty() ? 0 : 1;
}

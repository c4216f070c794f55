// Builds programs for the backend "OpaqueBackend" of faulty_backend.cpp: opaque_builder PLAIN.pte OUT.pte. The program
// has one delegate, whose payload is the plain program. ASSAY_UNBUILT names an operator that it refuses to build.

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "format/names.h"
#include "reference/program/build.h"
#include "reference/program/taken.h"

using namespace assay;

namespace {

Bytes read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(all));
  return {bytes.begin(), bytes.end()};
}

Bytes built(const Bytes& plain, const pte::ExecutionPlanT& method) {
  ProgramBuilder program;
  program.constants();
  PlanBuilder plan = program.method();
  std::vector<PlanBuilder::Index> arguments;
  const auto declare = [&](const std::vector<std::int32_t>& values, std::vector<std::int32_t>& list) {
    for (const std::int32_t i : values) {
      const pte::TensorT& t = *method.values[static_cast<std::size_t>(i)]->val.AsTensor();
      constexpr std::uint64_t apart = 1 << 16;
      const std::uint64_t offset = apart * arguments.size();
      arguments.push_back(plan.planned(static_cast<DType>(t.scalar_type), t.sizes, 1, offset));
      list.push_back(arguments.back());
    }
  };
  declare(method.inputs, plan.plan().inputs), declare(method.outputs, plan.plan().outputs);
  plan.delegate_call(0, arguments);
  plan.delegate("OpaqueBackend", pte::DataLocation::SEGMENT, program.segment(plain));
  return program.bytes();
}

}  // namespace

int main(int, char** words) {
  const Bytes plain = read(words[1]);
  const Program program = taken(decode_program(plain));
  const pte::ExecutionPlanT& method = *program.tables.execution_plan.front();
  const char* unbuilt = std::getenv("ASSAY_UNBUILT");
  for (const auto& instruction : method.chains[0]->instructions)
    if (const auto* call = instruction->instr_args.AsKernelCall())
      if (unbuilt && method.operators[static_cast<std::size_t>(call->op_index)]->name == unbuilt)
        return std::cerr << "cannot lower " << unbuilt << '\n', 1;
  const Bytes bytes = built(plain, method);
  std::ofstream out(words[2], std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return out.good() ? 0 : 1;
}

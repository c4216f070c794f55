#include "conformance/corrupt/complete.h"

#include "conformance/corrupt/sample.h"

namespace assay::corrupt {
namespace {

constexpr std::size_t alignment = 128;

void describe(Sample& s) {
  s.plan().container_meta_type->encoded_inp_str = "inputs";
  s.plan().container_meta_type->encoded_out_str = "outputs";
  pte::FrameT& frame = *s.plan().chains[0]->stacktrace[0]->items[0];
  frame.filename = "model.py", frame.name = "forward", frame.context = "x + y";
  s.plan().chains[0]->inputs = {s.at.x}, s.plan().chains[0]->outputs = {s.at.out};
}

// The method has inputs of each type of number.
void take_numbers(Sample& s) {
  const std::int32_t real = s.at.string + 1;
  s.plan().inputs.insert(s.plan().inputs.end(), {s.at.boolean, real});
  auto& inputs = s.suite().test_cases[0]->inputs;
  for (int i = 0; i < 2; ++i) inputs.push_back(std::make_unique<bpte::ValueT>());
  inputs[2]->val.Set(bpte::BoolT{});
  inputs[3]->val.Set(bpte::DoubleT{});
}

Sample complete_sample() {
  Sample s;
  describe(s), take_numbers(s);
  return s;
}

// Constants in constant_buffer, as in programs before 1.0.
Bytes with_constant_buffer() {
  Sample s = complete_sample();
  auto& buffer = s.program.tables.constant_buffer;
  for (int i = 0; i < 2; ++i) buffer.push_back(std::make_unique<pte::BufferT>());
  buffer[1]->storage.resize(16);
  s.program.tables.constant_segment = nullptr;
  return encode(s.program, alignment, true);
}

Bytes plain_program() {
  Sample s;
  describe(s);
  s.make_plain();
  s.tensor(s.at.external).extra_tensor_info = nullptr;
  return encode(s.program, alignment, true);
}

}  // namespace

std::vector<CompleteFile> complete_files() {
  const Sample s = complete_sample();
  return {{&format::program_kind, encode(s.program, alignment, true)},
          {&format::program_kind, with_constant_buffer()},
          {&format::data_kind, encode(s.data, alignment, true)},
          {&format::bundle_kind, s.encoded_bundle(true)}};
}

std::vector<SampleProgram> sample_programs() {
  return {{"sample:plain", plain_program()},
          {"sample:complete", encode(complete_sample().program, alignment, true)},
          {"sample:old", with_constant_buffer()}};
}

}  // namespace assay::corrupt

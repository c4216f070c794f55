#include <gmock/gmock.h>

#include <functional>
#include <iostream>
#include <map>

#include "bundled_program_bfbs_generated.h"
#include "flat_tensor_bfbs_generated.h"
#include "format/check.h"
#include "format/header.h"
#include "format_reasons.gen.h"
#include "program_bfbs_generated.h"
#include "reference/program/memory.h"
#include "tests/programs.h"
#include "tests/required_fields.h"
#include "tests/rules_shown.h"

// For each rule of spec/format/rules.yaml that is checked while decoding or validating: a case that meets it, at its
// boundary, and one that breaks it.
namespace assay {
namespace {

using Faults = std::vector<Fault>;
using format::load;

template <class T>
std::unique_ptr<T> copy(const std::unique_ptr<T>& from) {
  return std::make_unique<T>(*from);
}

// -- changes of tables -----------------------------------------------------------------------------------------------

// All that is wrong with the sample's files, as they are read: data files, the program with them, the bundle.
Faults faults_of(const Sample& s) {
  const auto data = open_data(in_memory(encode(s.data)));
  if (!data) return data.faults;
  if (auto faults = faults_of(*data); !faults.empty()) return faults;
  const auto program = open_program(in_memory(encode(s.program)));
  if (!program) return program.faults;
  const auto valid = validate(*program, {*data});
  if (!valid) return valid.faults;
  const auto bundle = open_bundle(in_memory(s.encoded_bundle()));
  return bundle ? faults_of(*bundle, *valid) : bundle.faults;
}

// A rule, and where in this file its case stands.
struct CaseOf {
  // clang 14 lacks std::source_location with the library of g++.
  CaseOf(const char* id, int here = __builtin_LINE()) : rule(find_format_rule(id)->id), line(here) {}
  std::string_view rule;
  int line;
};

struct TableCase {
  CaseOf rule;
  std::function<void(Sample&)> meets, breaks;
};

template <class T>
T& last_instruction(Sample& s, T value) {
  s.instructions().push_back(std::make_unique<pte::InstructionT>());
  auto& arguments = s.instructions().back()->instr_args;
  arguments.Set(std::move(value));
  return *static_cast<T*>(arguments.value);
}

auto move(std::int32_t from, std::int32_t to) {
  pte::MoveCallT m;
  m.move_from = from, m.move_to = to;
  return m;
}
auto jump(std::int32_t condition, std::int32_t destination) {
  pte::JumpFalseCallT j;
  j.cond_value_index = condition, j.destination_instruction = destination;
  return j;
}
auto free_of(std::int32_t value) {
  pte::FreeCallT f;
  f.value_index = value;
  return f;
}

// A second value like one that there is.
std::int32_t another(Sample& s, std::int32_t value) {
  s.plan().values.push_back(copy(s.plan().values[static_cast<std::size_t>(value)]));
  return static_cast<std::int32_t>(s.plan().values.size()) - 1;
}

std::int32_t values(Sample& s) { return static_cast<std::int32_t>(s.plan().values.size()); }
pte::KernelCallT& kernel_call(Sample& s) { return *s.instructions()[0]->instr_args.AsKernelCall(); }
pte::DelegateCallT& delegate_call(Sample& s) { return *s.instructions()[1]->instr_args.AsDelegateCall(); }
Bytes& constants(Sample& s) { return s.program.segments[s.program.tables.constant_segment->segment_index]; }
std::vector<std::uint64_t>& constant_offsets(Sample& s) { return s.program.tables.constant_segment->offsets; }
pte::SubsegmentOffsetsT& initial_values(Sample& s) { return *s.program.tables.mutable_data_segments[0]; }
std::vector<std::int32_t>& tensors(Sample& s) {
  return s.plan().values[static_cast<std::size_t>(s.at.tensors)]->val.AsTensorList()->items;
}
std::vector<std::int32_t>& optionals(Sample& s) {
  return s.plan().values[static_cast<std::size_t>(s.at.optionals)]->val.AsOptionalTensorList()->items;
}
std::vector<std::int64_t>& integers(Sample& s) {
  return s.plan().values[static_cast<std::size_t>(s.at.integers)]->val.AsIntList()->items;
}
ptd::TensorLayoutT& spare(Sample& s) { return *s.data.tables.named_data[1]->tensor_layout; }
bpte::TensorT& bundled(Sample& s) { return *s.suite().test_cases[0]->inputs[0]->val.AsTensor(); }
std::uint32_t segments(Sample& s) { return static_cast<std::uint32_t>(s.program.segments.size()); }

void shape(pte::TensorT& t, DType dtype, std::vector<std::int32_t> sizes) {
  t.scalar_type = static_cast<std::int8_t>(dtype);
  t.sizes = std::move(sizes);
  t.dim_order.clear();
  for (std::size_t d = 0; d < t.sizes.size(); ++d) t.dim_order.push_back(static_cast<std::uint8_t>(d));
}

// The constants as old programs hold them.
void into_constant_buffer(Sample& s, std::size_t bytes) {
  auto& buffer = s.program.tables.constant_buffer;
  for (int i = 0; i < 2; ++i) buffer.push_back(std::make_unique<pte::BufferT>());
  buffer[1]->storage.resize(bytes);
  s.program.tables.constant_segment = nullptr;
}

void second_external(Sample& s, std::vector<std::int32_t> sizes) {
  s.data.tables.named_data.erase(s.data.tables.named_data.begin());
  s.second().values.push_back(copy(s.plan().values[static_cast<std::size_t>(s.at.external)]));
  shape(*s.second().values.back()->val.AsTensor(), DType::float32, std::move(sizes));
}

void second_initial_values(Sample& s, std::uint32_t segment) {
  s.program.tables.mutable_data_segments.push_back(copy(s.program.tables.mutable_data_segments[0]));
  s.program.tables.mutable_data_segments.back()->segment_index = segment;
  s.program.tables.mutable_data_segments.back()->offsets = {0};
}

void memory_device(Sample& s, std::int32_t memory) { s.plan().non_const_buffer_device[0]->buffer_idx = memory; }

void second_device(Sample& s, std::int32_t memory) {
  s.plan().non_const_buffer_device.push_back(copy(s.plan().non_const_buffer_device[0]));
  s.plan().non_const_buffer_device[1]->buffer_idx = memory;
}

void at_device(Sample& s, pte::DeviceType device) {
  s.tensor(s.at.late).extra_tensor_info = std::make_unique<pte::ExtraTensorInfoT>();
  s.tensor(s.at.late).extra_tensor_info->device_type = device;
}

// A program of nothing but an entry of named data, and of segments that are to be added.
void named_data_alone(Sample& s) {
  s.bundle.method_test_suites.clear();
  auto named = std::move(s.program.tables.named_data);
  s.program = Program();
  s.program.tables.named_data = std::move(named);
  s.program.tables.named_data[0]->segment_index = 0;
}

constexpr Int largest = std::numeric_limits<Int>::max();

const TableCase table_cases[] = {
    {"H14", [](Sample& s) { s.program.tables.version = 0; }, [](Sample& s) { s.program.tables.version = 1; }},

    {"G2", [](Sample& s) { s.second().name = "forwards"; }, [](Sample& s) { s.second().name = "forward"; }},
    {"G2", [](Sample& s) { s.second().name = "a"; }, [](Sample& s) { s.second().name = ""; }},
    {"G4", [](Sample& s) { into_constant_buffer(s, 16); },
     [](Sample& s) { s.program.tables.constant_buffer.push_back(std::make_unique<pte::BufferT>()); }},
    {"G5",
     [](Sample& s) {
       s.program.segments.push_back(constants(s)), s.program.tables.constant_segment->segment_index = segments(s) - 1;
     },
     [](Sample& s) { s.program.tables.constant_segment->segment_index = segments(s); }},
    {"G8", [](Sample& s) { constant_offsets(s).push_back(constant_offsets(s).back()); },
     [](Sample& s) {
       constant_offsets(s) = {8, 0};
     }},
    {"G9", [](Sample& s) { constants(s).push_back({}), s.tensor(s.at.weight).data_buffer_idx = 1; },
     [](Sample& s) { constants(s).pop_back(); }},
    {"G9", [](Sample& s) { constant_offsets(s).push_back(0), s.tensor(s.at.weight).data_buffer_idx = 2; },
     [](Sample& s) { s.tensor(s.at.weight).data_buffer_idx = 2; }},
    {"G10", [](Sample& s) { into_constant_buffer(s, 16); }, [](Sample& s) { into_constant_buffer(s, 15); }},
    {"G11", [](Sample& s) { named_data_alone(s), s.program.segments.emplace_back(); },
     [](Sample& s) { named_data_alone(s); }},
    {"G12",
     [](Sample& s) {
       s.program.tables.named_data.push_back(copy(s.program.tables.named_data[0])),
           s.program.tables.named_data[1]->key = "other";
     },
     [](Sample& s) { s.program.tables.named_data.push_back(copy(s.program.tables.named_data[0])); }},
    {"G12", [](Sample& s) { s.program.tables.named_data[0]->segment_index = segments(s) - 1; },
     [](Sample& s) { s.program.tables.named_data[0]->segment_index = segments(s); }},
    {"G14", [](Sample& s) { initial_values(s).offsets.push_back(8); },
     [](Sample& s) { initial_values(s).offsets.push_back(9); }},
    {"G14", [](Sample& s) { second_initial_values(s, segments(s) - 1); },
     [](Sample& s) { second_initial_values(s, segments(s)); }},
    {"G15", [](Sample& s) { s.tensor(s.at.state).extra_tensor_info = std::make_unique<pte::ExtraTensorInfoT>(); },
     [](Sample& s) {
       s.tensor(s.at.state).extra_tensor_info = std::make_unique<pte::ExtraTensorInfoT>(),
       s.tensor(s.at.state).extra_tensor_info->mutable_data_segments_idx = 1;
     }},
    {"G16", [](Sample& s) { second_initial_values(s, 0); },
     [](Sample& s) { second_initial_values(s, initial_values(s).segment_index); }},
    {"G18", [](Sample& s) { s.plan().delegates[0]->processed->index = 0; },
     [](Sample& s) { s.plan().delegates[0]->processed->index = 1; }},

    {"M2", [](Sample& s) { s.bundle.method_test_suites.clear(), s.plan().outputs.push_back(values(s) - 1); },
     [](Sample& s) { s.plan().outputs.push_back(values(s)); }},
    {"M2", [](Sample& s) { s.bundle.method_test_suites.clear(), s.plan().inputs.push_back(0); },
     [](Sample& s) { s.plan().inputs.push_back(-1); }},
    {"M4", [](Sample& s) { s.plan().non_const_buffer_sizes.push_back(0); },
     [](Sample& s) { s.plan().non_const_buffer_sizes.push_back(-1); }},
    {"M4", [](Sample& s) { s.second().non_const_buffer_sizes = {0}; },
     [](Sample& s) { s.second().non_const_buffer_sizes = {}; }},
    {"M4",
     [](Sample& s) {
       s.second().non_const_buffer_sizes = {0, largest - 1, 1};
     },
     [](Sample& s) {
       s.second().non_const_buffer_sizes = {0, largest, 1};
     }},
    {"M6", [](Sample& s) { memory_device(s, 2); }, [](Sample& s) { memory_device(s, 3); }},
    {"M6", [](Sample& s) { memory_device(s, 1); }, [](Sample& s) { memory_device(s, 0); }},
    {"M6", [](Sample& s) { second_device(s, 2); }, [](Sample& s) { second_device(s, 1); }},
    {"M10", [](Sample& s) { s.bundle.method_test_suites.clear(), s.plan().outputs[0] = s.at.string; },
     [](Sample& s) { s.plan().outputs[0] = s.at.integers; }},

    {"V3", [](Sample& s) { integers(s)[0] = s.at.none; }, [](Sample& s) { integers(s)[0] = s.at.x; }},
    {"V3", [](Sample& s) { integers(s)[0] = s.at.integer; }, [](Sample& s) { integers(s)[0] = values(s); }},
    {"V7", [](Sample& s) { tensors(s)[0] = s.at.external; }, [](Sample& s) { tensors(s)[0] = s.at.late; }},
    {"V7", [](Sample& s) { tensors(s).clear(); }, [](Sample& s) { tensors(s)[0] = s.at.none; }},
    {"V8", [](Sample& s) { optionals(s)[0] = -1; }, [](Sample& s) { optionals(s)[0] = -2; }},
    {"V8", [](Sample& s) { optionals(s)[0] = s.at.nothing; }, [](Sample& s) { optionals(s)[0] = s.at.late; }},
    {"V11", [](Sample& s) { second_external(s, {2}); }, [](Sample& s) { second_external(s, {1}); }},

    {"T1", [](Sample& s) { s.tensor(s.at.late).storage_offset = 0; },
     [](Sample& s) { s.tensor(s.at.late).storage_offset = 1; }},
    {"T2", [](Sample& s) { s.tensor(s.at.late).scalar_type = 29; },
     [](Sample& s) { s.tensor(s.at.late).scalar_type = 30; }},
    {"T2", [](Sample& s) { s.tensor(s.at.late).scalar_type = 0; },
     [](Sample& s) { s.tensor(s.at.late).scalar_type = -1; }},
    {"T4", [](Sample& s) { shape(s.tensor(s.at.late), DType::int8, std::vector<std::int32_t>(16, 1)); },
     [](Sample& s) { shape(s.tensor(s.at.late), DType::int8, std::vector<std::int32_t>(17, 1)); }},
    {"T5",
     [](Sample& s) {
       s.tensor(s.at.late).dim_order = {1, 0};
     },
     [](Sample& s) {
       s.tensor(s.at.late).dim_order = {1, 1};
     }},
    {"T5", [](Sample& s) { shape(s.tensor(s.at.late), DType::int8, {}); },
     [](Sample& s) {
       s.tensor(s.at.late).dim_order = {0, 1, 2};
     }},
    {"T6",
     [](Sample& s) {
       shape(s.tensor(s.at.late), DType::int8, {0, 2});
     },
     [](Sample& s) {
       shape(s.tensor(s.at.late), DType::int8, {-1, 2});
     }},
    {"T7",
     [](Sample& s) {
       shape(s.tensor(s.at.late), DType::int16, {0x7fffffff, 0x7fffffff});
     },
     [](Sample& s) {
       shape(s.tensor(s.at.late), DType::int32, {0x7fffffff, 0x7fffffff});
     }},
    {"T8",
     [](Sample& s) {
       shape(s.tensor(s.at.late), DType::int8, {2, 0x7fffffff});
     },
     [](Sample& s) {
       shape(s.tensor(s.at.late), DType::int8, {2, 1 << 16, 1 << 15});
     }},
    {"T9", [](Sample& s) { at_device(s, pte::DeviceType::CPU); },
     [](Sample& s) { at_device(s, pte::DeviceType::CUDA); }},
    {"T9", [](Sample& s) { s.plan().non_const_buffer_device.clear(); },
     [](Sample& s) { s.plan().non_const_buffer_device[0]->device_type = pte::DeviceType::CUDA; }},
    {"T10",
     [](Sample& s) { s.plan().non_const_buffer_sizes[2] = 16, s.tensor(s.at.out).allocation_info->memory_id = 2; },
     [](Sample& s) { s.tensor(s.at.out).allocation_info->memory_id = 3; }},
    {"T10", [](Sample& s) { s.tensor(s.at.out).allocation_info->memory_id = 1; },
     [](Sample& s) { s.tensor(s.at.out).allocation_info->memory_id = 0; }},
    {"T11", [](Sample& s) { s.plan().non_const_buffer_sizes[1] = 16; },
     [](Sample& s) { s.plan().non_const_buffer_sizes[1] = 15; }},
    {"T11",
     [](Sample& s) {
       s.tensor(s.at.out).allocation_info->memory_offset_high = 1,
       s.plan().non_const_buffer_sizes[1] = (Int{1} << 32) + 16;
     },
     [](Sample& s) {
       s.tensor(s.at.out).allocation_info->memory_offset_high = 0xffffffff,
       s.tensor(s.at.out).allocation_info->memory_offset_low = 0xfffffff0;
     }},
    {"T12",
     [](Sample& s) {
       s.plan().non_const_buffer_sizes[1] = 32, s.tensor(s.at.out).allocation_info->memory_offset_low = 4;
     },
     [](Sample& s) {
       s.plan().non_const_buffer_sizes[1] = 32, s.tensor(s.at.out).allocation_info->memory_offset_low = 2;
     }},
    {"T14", [](Sample& s) { constants(s).resize(32), constant_offsets(s)[1] = 4; },
     [](Sample& s) { constants(s).resize(32), constant_offsets(s)[1] = 2; }},
    {"T18", [](Sample& s) { s.program.segments[initial_values(s).segment_index].push_back({}); },
     [](Sample& s) { s.program.segments[initial_values(s).segment_index].pop_back(); }},
    {"T18", [](Sample& s) { s.tensor(s.at.state).data_buffer_idx = 0; },
     [](Sample& s) { s.tensor(s.at.state).data_buffer_idx = 2; }},
    {"T19", [](Sample& s) { s.tensor(s.at.external).extra_tensor_info->fully_qualified_name = "spare"; },
     [](Sample& s) { s.tensor(s.at.external).extra_tensor_info->fully_qualified_name = ""; }},
    {"T20", [](Sample& s) { s.tensor(s.at.external).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND; },
     [](Sample& s) { s.tensor(s.at.external).scalar_type = static_cast<std::int8_t>(DType::int32); }},
    {"T20", [](Sample& s) { shape(s.tensor(s.at.external), DType::float32, {2}); },
     [](Sample& s) {
       shape(s.tensor(s.at.external), DType::float32, {1, 2});
     }},
    {"T21", [](Sample& s) { s.data.tables.named_data[0]->tensor_layout = nullptr; },
     [](Sample& s) { s.data.tables.named_data[0]->tensor_layout = nullptr, s.data.segments[0].pop_back(); }},
    {"T23", [](Sample& s) { s.tensor(s.at.late).requires_grad = true; },
     [](Sample& s) { s.tensor(s.at.late).layout = 1; }},

    {"I1", [](Sample& s) { s.plan().operators.push_back(copy(s.plan().operators[0])), kernel_call(s).op_index = 2; },
     [](Sample& s) { kernel_call(s).op_index = 2; }},
    {"I1", [](Sample& s) { kernel_call(s).op_index = 0; }, [](Sample& s) { kernel_call(s).op_index = -1; }},
    {"I3", [](Sample& s) { s.plan().operators[0]->name = std::string(95, 'a'); },
     [](Sample& s) { s.plan().operators[0]->name = std::string(96, 'a'); }},
    {"I5", [](Sample& s) { s.plan().chains.push_back(std::make_unique<pte::ChainT>()); },
     [](Sample& s) { s.second().chains.clear(); }},
    {"I6", [](Sample& s) { s.plan().chains[0]->inputs = {values(s) - 1}; },
     [](Sample& s) { s.plan().chains[0]->inputs = {values(s)}; }},
    {"I6", [](Sample& s) { s.plan().chains[0]->outputs = {0}; }, [](Sample& s) { s.plan().chains[0]->outputs = {-1}; }},
    {"I8", [](Sample& s) { kernel_call(s).args[2] = values(s) - 1; },
     [](Sample& s) { kernel_call(s).args[2] = values(s); }},
    {"I13", [](Sample& s) { delegate_call(s).delegate_index = 1; },
     [](Sample& s) { delegate_call(s).delegate_index = 2; }},
    {"I13", [](Sample& s) { delegate_call(s).args[0] = 0; }, [](Sample& s) { delegate_call(s).args[0] = -1; }},
    {"I15", [](Sample& s) { last_instruction(s, jump(s.at.boolean, 0)); },
     [](Sample& s) { last_instruction(s, jump(s.at.string, 0)); }},
    {"I15",
     [](Sample& s) {
       s.tensor(s.at.out).scalar_type = static_cast<std::int8_t>(DType::boolean),
       last_instruction(s, jump(s.at.out, 0));
     },
     [](Sample& s) { last_instruction(s, jump(s.at.out, 0)); }},
    {"I16", [](Sample& s) { last_instruction(s, jump(s.at.boolean, 7)); },
     [](Sample& s) { last_instruction(s, jump(s.at.boolean, 8)); }},
    {"I16", [](Sample& s) { last_instruction(s, jump(s.at.boolean, 0)); },
     [](Sample& s) { last_instruction(s, jump(s.at.boolean, -1)); }},
    {"I18", [](Sample& s) { last_instruction(s, move(s.at.boolean, s.at.none)); },
     [](Sample& s) { last_instruction(s, move(s.at.string, s.at.none)); }},
    {"I18", [](Sample& s) { last_instruction(s, move(s.at.x, another(s, s.at.x))); },
     [](Sample& s) { last_instruction(s, move(s.at.x, s.at.state)); }},
    {"I18", [](Sample& s) { last_instruction(s, move(s.at.none, s.at.integer)); },
     [](Sample& s) { last_instruction(s, move(s.at.none, s.at.none)); }},
    {"I19", [](Sample&) {}, [](Sample& s) { last_instruction(s, free_of(s.at.integer)); }},

    {"D3", [](Sample& s) { s.plan().delegates[1]->processed->index = segments(s) - 1; },
     [](Sample& s) { s.plan().delegates[1]->processed->index = segments(s); }},

    {"F6", [](Sample& s) { s.data.tables.version = 0; }, [](Sample& s) { s.data.tables.version = 1; }},
    {"F8", [](Sample& s) { s.data.tables.named_data[1]->key = "spares"; },
     [](Sample& s) { s.data.tables.named_data[1]->key = "weight"; }},
    {"F8", [](Sample& s) { s.data.tables.named_data[1]->key = "payloads"; },
     [](Sample& s) { s.data.tables.named_data[1]->key = "payload"; }},
    {"F9", [](Sample& s) { s.data.tables.named_data[2]->segment_index = 0; },
     [](Sample& s) { s.data.tables.named_data[2]->segment_index = 3; }},
    {"F11",
     [](Sample& s) {
       spare(s).sizes = {1, 2}, spare(s).dim_order = {1, 0};
     },
     [](Sample& s) { spare(s).dim_order = {1}; }},
    {"F12", [](Sample& s) { spare(s).scalar_type = static_cast<std::int8_t>(DType::uint32); },
     [](Sample& s) { spare(s).scalar_type = 18; }},
    {"F13", [](Sample& s) { s.data.segments[1].resize(12), spare(s).sizes = {3}; },
     [](Sample& s) { s.data.segments[1].resize(9); }},

    {"B3", [](Sample& s) { s.suite().method_name = "second", s.suite().test_cases.clear(); },
     [](Sample& s) { s.suite().method_name = "third"; }},
    {"B4", [](Sample& s) { s.suite().test_cases[0]->expected_outputs.clear(); },
     [](Sample& s) { s.suite().test_cases[0]->inputs.pop_back(); }},
    {"B5", [](Sample& s) { s.suite().test_cases[0]->inputs[1]->val.Set(bpte::BoolT{}); },
     [](Sample& s) { s.suite().test_cases[0]->inputs[0]->val.Set(bpte::BoolT{}); }},
    {"B6",
     [](Sample& s) {
       bundled(s).dim_order = {1, 0};
     },
     [](Sample& s) {
       bundled(s).dim_order = {1, 1};
     }},
    {"B7", [](Sample& s) { bundled(s).data.resize(17); }, [](Sample& s) { bundled(s).data.resize(15); }},
};

// -- changes of bytes ------------------------------------------------------------------------------------------------

// What is wrong with a file's bytes.
Faults faults_in(const Bytes& file) {
  switch (file_kind(file)) {
    case FileKind::data:
      return open_data(borrowed(file)).faults;
    case FileKind::bundle:
      return open_bundle(borrowed(file)).faults;
    default:
      return open_program(borrowed(file)).faults;
  }
}

template <class T>
Bytes with(Bytes file, std::size_t at, T value) {
  std::memcpy(&file[at], &value, sizeof value);
  return file;
}
template <class T>
Bytes plus(const Bytes& file, std::size_t at, T more) {
  return with(file, at, load<T>(file, at) + more);
}

constexpr std::size_t length_at = 12, end_at = 16, base_at = 24, size_at = 32;  // of a program's header
constexpr std::size_t data_begin_at = 16, data_tables_at = 24, data_base_at = 32,
                      data_size_at = 40;  // of a data file's

Bytes program_file() { return encode(Sample().program); }
Bytes data_file() { return encode(Sample().data); }
Bytes bundle_file() { return Sample().encoded_bundle(); }

// The smallest program.
Bytes small_file(std::size_t size) {
  Bytes file = encode(Program());
  file.resize(size);
  return file;
}

// A header with 16 more bytes, the last of which is given.
Bytes longer_header(std::byte reserved) {
  Bytes file = program_file();
  file.insert(file.begin() + 40, 16, std::byte{0});
  file[55] = reserved;
  file = with(plus(file, 0, std::uint32_t{16}), length_at, std::uint32_t{48});
  return plus(plus(file, end_at, std::uint64_t{16}), base_at, std::uint64_t{16});
}

// Entries that share a key of 4096 characters.
Bytes shared_key(int entries) {
  flatbuffers::FlatBufferBuilder b;
  const auto key = b.CreateString(std::string(4096, 'k'));
  std::vector<flatbuffers::Offset<pte::NamedData>> named;
  for (int i = 0; i < entries; ++i) named.push_back(pte::CreateNamedData(b, key, 1));
  const auto plans = b.CreateVector(std::vector<flatbuffers::Offset<pte::ExecutionPlan>>());
  pte::FinishProgramBuffer(b, pte::CreateProgram(b, 0, plans, 0, 0, 0, 0, 0, b.CreateVector(named)));
  const auto bytes = std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize()));
  return {bytes.begin(), bytes.end()};
}

template <class Table>
void set(const Table& table, flatbuffers::voffset_t field, std::uint64_t value) {
  reinterpret_cast<flatbuffers::Table*>(const_cast<Table*>(&table))->SetField<std::uint64_t>(field, value, 0);
}
const pte::DataSegment& last_segment(const Bytes& file) {
  const auto* all = pte::GetProgram(file.data())->segments();
  return *all->Get(all->size() - 1);
}

Bytes last_segment_size(std::int64_t more) {
  Bytes file = program_file();
  set(last_segment(file), pte::DataSegment::VT_SIZE, static_cast<std::uint64_t>(3 + more));
  return file;
}

// Named data without bytes begin in the file's last byte that an offset can tell, or so much later.
Bytes last_segment_begin(std::uint64_t more) {
  Sample s;
  s.program.segments.back().clear();
  Bytes file = encode(s.program);
  set(last_segment(file), pte::DataSegment::VT_OFFSET, ~load<std::uint64_t>(file, base_at) + more);
  return file;
}

// Likewise a constant that no tensor has.
Bytes last_constant_begin(std::uint64_t more) {
  Sample s;
  constant_offsets(s).push_back(constant_offsets(s).back());
  Bytes file = encode(s.program);
  const auto& program = *pte::GetProgram(file.data());
  const auto& constants = *program.constant_segment();
  const std::uint64_t segment = program.segments()->Get(constants.segment_index())->offset();
  const_cast<flatbuffers::Vector<std::uint64_t>*>(constants.offsets())
      ->Mutate(2, ~(load<std::uint64_t>(file, base_at) + segment) + more);
  return file;
}

Bytes bool_item(std::uint8_t item) {
  const Sample s;
  Bytes file = encode(s.program);
  const auto* value = pte::GetProgram(file.data())
                          ->execution_plan()
                          ->Get(0)
                          ->values()
                          ->Get(static_cast<flatbuffers::uoffset_t>(s.at.bools));
  const_cast<std::uint8_t*>(value->val_as_BoolList()->items()->Data())[1] = item;
  return file;
}

struct ByteCase {
  CaseOf rule;
  Bytes meets, breaks;
};

std::vector<ByteCase> byte_cases() {
  const Bytes p = program_file(), d = data_file(), b = bundle_file(), none = encode(Program());
  const std::size_t least = std::max<std::size_t>(none.size(), 64);
  const auto root = load<std::uint32_t>(p, 0);
  const std::uint64_t base = load<std::uint64_t>(p, base_at);
  return {
      {"H1", small_file(least), small_file(63)},
      {"H2", p, with(p, 4, 'X')},
      {"H5", with(p, length_at, std::uint32_t{24}), with(p, length_at, std::uint32_t{23})},
      {"H5", p, with(p, length_at, std::uint32_t{0xffffffff})},
      {"H6", with(p, length_at, std::uint32_t{24}), with(p, length_at, std::uint32_t{25})},
      {"H6", p, with(p, length_at, std::uint32_t{31})},
      {"H7", with(p, size_at, std::uint64_t{0}), plus(p, size_at, std::uint64_t{1})},
      {"H7", p, with(p, size_at, ~std::uint64_t{0})},
      {"H8", with(p, end_at, base), with(p, end_at, base + 1)},
      {"H8", p, with(p, end_at, std::uint64_t{39})},
      {"H9", longer_header(std::byte{0}), longer_header(std::byte{1})},
      {"H11", p, with(p, 0, std::uint32_t{7})},
      {"H11", p, with(p, 0, static_cast<std::uint32_t>(base) - 3)},
      {"H12", p, with(p, root, 0x7fffffff)},
      {"H15", shared_key(200), shared_key(1200)},
      {"G6", last_constant_begin(0), last_constant_begin(1)},
      {"G7", last_segment_size(0), last_segment_size(1)},
      {"G13", last_segment_begin(0), last_segment_begin(1)},
      {"G17", none.size() < 64 ? small_file(64) : none, with(p, base_at, std::uint64_t{0})},
      {"V5", bool_item(1), bool_item(2)},
      {"F1", d, with(d, 8, 'X')},
      {"F1", d, with(d, length_at, std::uint32_t{39})},
      {"F2", with(d, data_size_at, std::uint64_t{0}), plus(d, data_size_at, std::uint64_t{1})},
      {"F2", d, with(d, data_base_at, ~std::uint64_t{0})},
      {"F3", d, with(d, data_begin_at, std::uint64_t{47})},
      {"F3", d, with(d, data_tables_at, ~std::uint64_t{0})},
      {"F5", d, with(d, load<std::uint32_t>(d, 0), 0x7fffffff)},
      {"B1", b, with(b, load<std::uint32_t>(b, 0), 0x7fffffff)},
  };
}

// -- memory and sizes ------------------------------------------------------------------------------------------------

Faults faults_told(const std::function<void(format::Findings&)>& check) {
  FaultList faults;
  check(faults.findings());
  return faults.take();
}

// The file opened where it begins so many bytes behind a multiple of 16.
Faults opened_at(const Bytes& file, std::size_t offset) {
  AlignedMemory memory(file.size() + offset);
  const auto bytes = memory.bytes().subspan(offset);
  std::ranges::copy(file, bytes.begin());
  return faults_told([&](format::Findings& f) {
    if (file_kind(file) == FileKind::bundle) return void(format::open_bundle(bytes, f));
    const bool is_data = file_kind(file) == FileKind::data;
    const auto extent =
        is_data ? format::locate_data(bytes, file.size(), f) : format::locate_program(bytes, file.size(), f);
    const auto segments = bytes.subspan(extent->segments_begin, extent->segments_size);
    if (is_data)
      format::open_data(bytes.first(extent->tables_size), segments, f);
    else
      format::open_program(bytes.first(extent->tables_size), segments, f);
  });
}

// A bundle whose program begins so many bytes behind a multiple of 16.
Bytes bundle_with_program_at(std::ptrdiff_t offset) {
  for (std::size_t padding = 0;; padding += 4) {
    flatbuffers::FlatBufferBuilder b;
    const auto program = b.CreateVector(std::vector<std::uint8_t>(64));
    b.CreateString(std::string(padding, ' '));  // stands before the program
    const auto suites = b.CreateVector(std::vector<flatbuffers::Offset<bpte::BundledMethodTestSuite>>());
    bpte::FinishBundledProgramBuffer(b, bpte::CreateBundledProgram(b, 0, suites, program));
    const auto* at = bpte::GetBundledProgram(b.GetBufferPointer())->program()->data();
    if ((at - b.GetBufferPointer()) % 16 != offset) continue;
    const auto bytes = std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize()));
    return {bytes.begin(), bytes.end()};
  }
}

// The head of a program without segments in a file of this size.
Faults located(std::uint64_t file_size) {
  const Bytes head = small_file(64);
  return faults_told([&](format::Findings& f) { format::locate_program(head, file_size, f); });
}

// The sample checked in a workspace that lacks so many bytes.
Faults checked_without(std::size_t bytes) {
  const auto program = open_program(in_memory(program_file()));
  const auto data = open_data(in_memory(data_file()));
  return faults_told([&](format::Findings& f) {
    format::Workspace counting;
    format::check(program->view(), {&data->view(), 1}, counting, f);
    AlignedMemory memory(counting.most() - bytes);
    format::Workspace workspace(memory.bytes());
    format::check(program->view(), {&data->view(), 1}, workspace, f);
  });
}

// The sample's method, whose memories have 16 and 8 bytes, given these.
Faults given(std::vector<std::size_t> sizes) {
  const auto program = open_program(in_memory(program_file()));
  std::array<std::byte, 16> bytes;
  std::vector<std::span<std::byte>> memories;
  for (const std::size_t size : sizes) memories.push_back(std::span(bytes).first(size));
  return faults_told(
      [&](format::Findings& f) { format::check_memories(*program->tables().execution_plan()->Get(0), memories, f); });
}

struct MemoryCase {
  CaseOf rule;
  std::function<Faults()> meets, breaks;
};

const MemoryCase memory_cases[] = {
    {"H3", [] { return opened_at(program_file(), 16); }, [] { return opened_at(program_file(), 8); }},
    {"F4", [] { return opened_at(data_file(), 16); }, [] { return opened_at(data_file(), 8); }},
    {"B11", [] { return opened_at(bundle_file(), 16); }, [] { return opened_at(bundle_file(), 8); }},
    {"B11", [] { return opened_at(bundle_with_program_at(0), 0); },
     [] { return opened_at(bundle_with_program_at(8), 0); }},
    {"H13", [] { return located((std::uint64_t{1} << 31) - 1); }, [] { return located(std::uint64_t{1} << 31); }},
    {"V4", [] { return checked_without(0); }, [] { return checked_without(1); }},
    {"M11",
     [] {
       return given({16, 8});
     },
     [] {
       return given({16, 7});
     }},
    {"T17",
     [] {
       return given({16, 8});
     },
     [] { return given({16}); }},
};

// -- what must be present --------------------------------------------------------------------------------------------

// Files without segments, whose tables end with the file, and with every enum other than its default.
std::vector<RequiredFields> swept(const RequiredFields::Use& use) {
  Sample s;
  for (Bytes& segment : s.program.segments) segment.clear();
  for (Bytes& segment : s.data.segments) segment.clear();
  at_device(s, pte::DeviceType::CUDA);
  s.plan().non_const_buffer_device[0]->device_type = pte::DeviceType::CUDA;
  return {{encode(s.program), pte::ProgramBinarySchema::data(), use},
          {encode(s.data), ptd::FlatTensorBinarySchema::data(), use},
          {bundle_file(), bpte::BundledProgramBinarySchema::data(), use}};
}

std::size_t fields_with_rules(const std::uint8_t* schema) {
  std::size_t n = 0;
  for (const auto* object : *reflection::GetSchema(schema)->objects())
    for (const auto* field : *object->fields()) n += !rule_of(*field).empty();
  return n;
}

// -- the rules -------------------------------------------------------------------------------------------------------

std::string told(const Faults& faults) {
  std::string all;
  for (const Fault& f : faults) all += text(f.rule, " [", f.place, "] ", f.message, '\n');
  return all;
}

// What shows that a rule is checked: where the case stands, and what the breaker is told.
using Shown = std::map<std::string_view, std::string>;

void expect_case(const CaseOf& c, const Faults& met, const Faults& broken, Shown& shown) {
  SCOPED_TRACE(text(c.rule, ", line ", c.line));
  EXPECT_EQ(told(met), "");
  const auto fault = std::ranges::find(broken, c.rule, &Fault::rule);
  ASSERT_NE(fault, broken.end()) << told(broken);
  EXPECT_EQ(fault->outcome, find_format_rule(c.rule)->outcome);
  EXPECT_NE(fault->message, "");
  shown[c.rule] += text(shown[c.rule].empty() ? "" : ", ", "line ", c.line, " meets it and breaks it: ", fault->place,
                        fault->place.empty() ? "" : " ", fault->message);
}

Shown shown_by_cases() {
  Shown shown;
  for (const TableCase& c : table_cases) {
    Sample meets, breaks;
    c.meets(meets), c.breaks(breaks);
    expect_case(c.rule, faults_of(meets), faults_of(breaks), shown);
  }
  for (const ByteCase& c : byte_cases()) expect_case(c.rule, faults_in(c.meets), faults_in(c.breaks), shown);
  for (const MemoryCase& c : memory_cases) expect_case(c.rule, c.meets(), c.breaks(), shown);
  return shown;
}

// The fields that are there in some file and missed where they are not, by their rules.
void show_fields(Shown& shown) {
  std::set<std::string> fields;
  for (RequiredFields& file : swept([&](const std::string&id, const std::string&field, const Bytes&edited) {
         const Faults faults = faults_in(edited);
         ASSERT_EQ(faults.size(), 1u) << field << '\n' << told(faults);
         EXPECT_EQ(faults[0].rule, id) << field;
         EXPECT_EQ(faults[0].outcome, Outcome::malformed) << field;
         EXPECT_NE(faults[0].place, "") << field;
         std::string& line = shown[find_format_rule(id)->id];
         if (fields.insert(field).second) line += text(line.empty() ? "without " : ", without ", field);
       }))
    file.run();
  EXPECT_EQ(fields.size(), fields_with_rules(pte::ProgramBinarySchema::data()) +
                               fields_with_rules(ptd::FlatTensorBinarySchema::data()) +
                               fields_with_rules(bpte::BundledProgramBinarySchema::data()));
}

TEST(FormatRules, TheSampleKeepsAll) { EXPECT_EQ(told(faults_of(Sample())), ""); }

TEST(FormatRules, EachHasACaseThatMeetsItAndOneThatBreaksIt) {
  using enum FormatRule::Checked;
  constexpr std::string_view where[] = {"decode", "validate", "runtime", "construction", "later"};
  Shown shown = shown_by_cases();
  show_fields(shown);
  for (const std::string_view rule : flow_rules) shown[rule] += "flow_test ";
  for (const std::string_view rule : runtime_rules) shown[rule] += "runtime_rules_test";
  for (const std::string_view rule : packed_rules) shown[rule] += "packed_test";
  for (std::size_t i = 0; i < std::size(format_rules); ++i) {
    const FormatRule& rule = format_rules[i];
    const std::string_view reason = format_reasons[i];
    const bool checked = rule.checked != construction && rule.checked != later;
    EXPECT_NE(checked, shown[rule.id].empty()) << rule.id << (checked ? " has no case" : " has a case");
    EXPECT_NE(checked, !reason.empty()) << rule.id << (checked ? " has a reason" : " has no reason");
    std::cout << rule.id << " | " << where[static_cast<std::size_t>(rule.checked)] << " | "
              << (checked ? shown[rule.id] : std::string(reason)) << '\n';
  }
}

TEST(FormatRules, EveryFaultIsReported) {
  Sample s;
  s.tensor(s.at.late).storage_offset = 1;
  s.tensor(s.at.late).layout = 1;
  kernel_call(s).op_index = 7;
  std::vector<std::string> rules;
  for (const Fault& f : faults_of(s)) rules.push_back(f.rule);
  EXPECT_THAT(rules, testing::ElementsAre("T1", "T23", "I1"));
}

TEST(FormatRules, AHundredFaultsAreToldAndTheRestCounted) {
  Sample s;
  kernel_call(s).args.assign(1000, -1);
  const auto refused = validate(*open_program(in_memory(encode(s.program))));
  EXPECT_EQ(refused.faults.size(), 100u);
  EXPECT_EQ(refused.more, 900u);
}

}  // namespace
}  // namespace assay

#include <limits>

#include "conformance/corrupt/cases.h"
#include "reference/program/decoded.h"

// Changes of the sample's tables: the rules about their contents.
namespace assay::corrupt {
namespace {

template <class T>
std::unique_ptr<T> copy(const std::unique_ptr<T>& from) {
  return std::make_unique<T>(*from);
}

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

// A copy of a value.
std::int32_t another(Sample& s, std::int32_t value) {
  s.plan().values.push_back(copy(s.plan().values[static_cast<std::size_t>(value)]));
  return static_cast<std::int32_t>(s.plan().values.size()) - 1;
}

std::int32_t values(Sample& s) { return static_cast<std::int32_t>(s.plan().values.size()); }
pte::DelegateCallT& delegate_call(Sample& s) { return *s.instructions()[1]->instr_args.AsDelegateCall(); }
Bytes& constants(Sample& s) { return s.program.segments[s.program.tables.constant_segment->segment_index]; }
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

// Constants in constant_buffer, as in old programs.
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

// A program with one entry of named data only; segments are added later.
void named_data_alone(Sample& s) {
  s.bundle.method_test_suites.clear();
  auto named = std::move(s.program.tables.named_data);
  s.program = Program();
  s.program.tables.named_data = std::move(named);
  s.program.tables.named_data[0]->segment_index = 0;
}

constexpr Int largest = std::numeric_limits<Int>::max();

const TableCase every_table_case[] = {
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
    {"G8", [](Sample& s) { s.constant_offsets().push_back(s.constant_offsets().back()); },
     [](Sample& s) {
       s.constant_offsets() = {8, 0};
     }},
    {"G9", [](Sample& s) { constants(s).push_back({}), s.tensor(s.at.weight).data_buffer_idx = 1; },
     [](Sample& s) { constants(s).pop_back(); }},
    {"G9", [](Sample& s) { s.constant_offsets().push_back(0), s.tensor(s.at.weight).data_buffer_idx = 2; },
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
    {"T9", [](Sample& s) { s.at_device(pte::DeviceType::CPU); }, [](Sample& s) { s.at_device(pte::DeviceType::CUDA); }},
    {"T9", [](Sample& s) { s.plan().non_const_buffer_device.clear(); },
     [](Sample& s) { s.plan().non_const_buffer_device[0]->device_type = pte::DeviceType::CUDA; }},
    {"T10",
     [](Sample& s) { s.plan().non_const_buffer_sizes[2] = 16, s.tensor(s.at.out).allocation_info->memory_id = 2; },
     [](Sample& s) { s.tensor(s.at.out).allocation_info->memory_id = 3; }},
    {"T10", [](Sample& s) { s.tensor(s.at.out).allocation_info->memory_id = 1; },
     [](Sample& s) { s.tensor(s.at.out).allocation_info->memory_id = 0; }},
    {"T10", [](Sample& s) { s.plan().non_const_buffer_sizes[0] = 4096; },
     [](Sample& s) { s.plan().non_const_buffer_sizes[0] = 4096, s.tensor(s.at.state).allocation_info->memory_id = 0; }},
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
    {"T14", [](Sample& s) { constants(s).resize(32), s.constant_offsets()[1] = 4; },
     [](Sample& s) { constants(s).resize(32), s.constant_offsets()[1] = 2; }},
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

    {"I1", [](Sample& s) { s.plan().operators.push_back(copy(s.plan().operators[0])), s.kernel_call().op_index = 2; },
     [](Sample& s) { s.kernel_call().op_index = 2; }},
    {"I1", [](Sample& s) { s.kernel_call().op_index = 0; }, [](Sample& s) { s.kernel_call().op_index = -1; }},
    {"I3", [](Sample& s) { s.plan().operators[0]->name = std::string(95, 'a'); },
     [](Sample& s) { s.plan().operators[0]->name = std::string(96, 'a'); }},
    {"I5", [](Sample& s) { s.plan().chains.push_back(std::make_unique<pte::ChainT>()); },
     [](Sample& s) { s.second().chains.clear(); }},
    {"I6", [](Sample& s) { s.plan().chains[0]->inputs = {values(s) - 1}; },
     [](Sample& s) { s.plan().chains[0]->inputs = {values(s)}; }},
    {"I6", [](Sample& s) { s.plan().chains[0]->outputs = {0}; }, [](Sample& s) { s.plan().chains[0]->outputs = {-1}; }},
    {"I8", [](Sample& s) { s.kernel_call().args[2] = values(s) - 1; },
     [](Sample& s) { s.kernel_call().args[2] = values(s); }},
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
    {"I18", [](Sample& s) { last_instruction(s, move(s.at.integer, s.at.none)); },
     [](Sample& s) { last_instruction(s, move(s.at.x, s.at.none)); }},
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

}  // namespace

std::span<const TableCase> table_cases() { return every_table_case; }

}  // namespace assay::corrupt

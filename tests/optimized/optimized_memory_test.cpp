#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "conformance/adapters/optimized/c_value.h"
#include "conformance/files/file.h"
#include "conformance/hosts/calls.h"
#include "conformance/hosts/host.h"
#include "conformance/sandbox/client_memory.h"
#include "optimized/api/assay.h"
#include "optimized/refusals/refusals.h"
#include "optimized/runtime/kernel.h"
#include "tests/support/golden.h"
#include "tests/support/program_folders.h"
#include "tests/support/rules_shown.h"
#include "tests/support/whole_suite.h"

// The optimized runtime uses exactly the memory that it asks for, whatever the memory held before.
namespace assay {
namespace optimized_memory_test {

namespace fs = std::filesystem;

// Memory of exactly this many bytes between red zones that must not change.
class Fenced {
 public:
  Fenced(std::size_t size, std::byte fill) : memory_(zone + size + zone), size_(size) {
    std::ranges::fill(memory_.bytes(), fence);
    std::ranges::fill(memory_.bytes().subspan(zone, size), fill);
  }
  assay_memory all() const { return {memory_.bytes().data() + zone, size_}; }
  assay_memory one_byte_less() const { return {memory_.bytes().data() + zone, size_ - 1}; }
  bool is_whole() const {
    const auto held = [](std::span<const std::byte> z) {
      return std::ranges::all_of(z, [](std::byte b) { return b == fence; });
    };
    return held(memory_.bytes().first(zone)) && held(memory_.bytes().subspan(zone + size_));
  }

 private:
  static constexpr std::size_t zone = 128;
  static constexpr std::byte fence{0xFD};
  sandbox::ClientMemory memory_;
  std::size_t size_;
};

struct Files {
  explicit Files(const fs::path& folder) : calls(hosts::read_calls(folder / "calls.json")) {
    add(folder / "program.pte");
    for (const fs::path& file : calls.data) add(file);
  }
  void add(const fs::path& file) {
    const File read = files::open_file(file);
    sandbox::ClientMemory& copy = memory.emplace_back(read.bytes.size());
    std::ranges::copy(read.bytes, copy.bytes().begin());
    bytes.push_back({copy.bytes().data(), copy.bytes().size()});
  }
  std::span<const assay_bytes> data() const { return std::span(bytes).subspan(1); }

  hosts::ProgramCalls calls;
  std::vector<sandbox::ClientMemory> memory;
  std::vector<assay_bytes> bytes;
};

assay_options with_refusals() {
  assay_options options{};
  options.refusals = optimized::reference_refusals();
  return options;
}

struct Opened {
  Opened(const Files& files, std::byte fill) {
    assay_program_sizes sizes;
    assay_fault fault;
    const auto data = files.data();
    EXPECT_EQ(assay_program_size(files.bytes[0], data.data(), data.size(), &sizes, &fault), ASSAY_OK) << fault.message;
    memory.emplace(sizes.program, fill);
    const Fenced workspace(sizes.workspace, fill);
    EXPECT_EQ(
        assay_program_open(files.bytes[0], data.data(), data.size(), memory->all(), workspace.all(), &program, &fault),
        ASSAY_OK)
        << fault.message;
    EXPECT_TRUE(workspace.is_whole());
  }
  ~Opened() { EXPECT_TRUE(memory->is_whole()); }

  std::optional<Fenced> memory;
  assay_program* program = nullptr;
};

// A method in fenced memory.
struct Made {
  Made(const Opened& opened, const char* name, std::byte fill) {
    assay_fault fault;
    std::size_t bytes = 0;
    EXPECT_EQ(assay_method_workspace_size(opened.program, name, &bytes, &fault), ASSAY_OK) << fault.message;
    workspace.emplace(bytes, fill);
    EXPECT_EQ(assay_method_size(opened.program, name, &options, workspace->all(), &sizes, &fault), ASSAY_OK)
        << fault.message;
    prepared.emplace(sizes.prepared, fill), arena.emplace(sizes.arena, fill), scratch.emplace(sizes.scratch, fill);
    shared.emplace(sizes.shared, std::byte{0});
    const assay_method_memories all{workspace->all(), prepared->all(), arena->all(), shared->all(), scratch->all()};
    EXPECT_EQ(assay_method_make(opened.program, name, &options, &all, &method, &fault), ASSAY_OK) << fault.message;
  }
  ~Made() {
    assay_method_end(method);
    for (const auto* memory : {&workspace, &prepared, &arena, &scratch, &shared}) EXPECT_TRUE((*memory)->is_whole());
  }

  const assay_options options = with_refusals();
  assay_method_sizes sizes;
  std::optional<Fenced> workspace, prepared, arena, scratch, shared;
  assay_method* method = nullptr;
};

void set_inputs(assay_method* method, const std::vector<Value>& inputs) {
  assay_fault fault;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const adapters::CValue given(inputs[i]);
    EXPECT_EQ(assay_set_input(method, i, &given.value, &fault), ASSAY_OK) << fault.message;
  }
}

std::string bytes_of_outputs(assay_method* method) {
  std::string all;
  for (std::size_t i = 0; i < assay_output_count(method); ++i) {
    assay_value value;
    EXPECT_EQ(assay_output(method, i, &value), ASSAY_OK);
    if (value.kind != ASSAY_TENSOR) continue;
    std::size_t n = static_cast<std::size_t>(info(*dtype_numbered(value.as.tensor.dtype)).bytes);
    for (std::size_t d = 0; d < value.as.tensor.rank; ++d) n *= static_cast<std::size_t>(value.as.tensor.sizes[d]);
    if (n > 0) all.append(static_cast<const char*>(value.as.tensor.data), n);
  }
  return all;
}

std::size_t aliased = 0, copied = 0;  // inputs

class OptimizedMemory : public testing::TestWithParam<fs::path> {
 public:
  static void TearDownTestSuite() {
    if (!whole_suite_ran()) return;
    EXPECT_GT(aliased, 2 * copied) << "hardly any input is used where it lies";
    EXPECT_GT(copied, 0u);
  }
};

// The results of the calls of one method when all memory held `fill` before.
std::string results(const Files& files, const ValidProgram& valid, std::byte fill) {
  const Opened opened(files, fill);
  std::string all;
  const std::string name = files.calls.calls.front().method;
  const Made made(opened, name.c_str(), fill);
  for (const hosts::ProgramCall& call : files.calls.calls) {
    if (call.method != name || !call.fails.empty()) continue;
    set_inputs(made.method, hosts::adapted(*valid.plan(name), call.inputs));
    assay_fault fault;
    EXPECT_EQ(assay_execute(made.method, &fault), ASSAY_OK) << fault.message;
    all += bytes_of_outputs(made.method);
  }
  return all;
}

TEST_P(OptimizedMemory, OnlySuppliedMemoryIsWrittenAndItsInitialBytesHaveNoEffect) {
  const Files files(GetParam());
  if (files.calls.calls.empty()) return;
  const ValidProgram valid =
      hosts::valid_program(files::open_file(GetParam() / "program.pte"), files::open_data_files(files.calls.data));
  const std::string zeros = results(files, valid, std::byte{0});
  EXPECT_EQ(zeros, results(files, valid, std::byte{0xFF}));
  EXPECT_EQ(zeros, results(files, valid, std::byte{0x5A}));
}

// Each tensor is used in place, between red zones, if the program allows that. It does not change.
TEST_P(OptimizedMemory, InputsAreUsedInPlace) {
  const Files files(GetParam());
  if (files.calls.calls.empty() || !files.calls.calls.front().fails.empty()) return;
  const ValidProgram valid =
      hosts::valid_program(files::open_file(GetParam() / "program.pte"), files::open_data_files(files.calls.data));
  const std::byte fill{0x5A};
  const Opened opened(files, fill);
  const hosts::ProgramCall& call = files.calls.calls.front();
  const std::vector<Value> inputs = hosts::adapted(*valid.plan(call.method), call.inputs);
  const auto run = [&](bool alias, bool then_copy) {
    const Made made(opened, call.method.c_str(), fill);
    std::vector<Fenced> lent;
    assay_fault fault;
    set_inputs(made.method, inputs);
    for (std::size_t i = 0; i < inputs.size() && alias; ++i) {
      const auto* t = std::get_if<Tensor>(&inputs[i]);
      if (!t) continue;
      const assay_memory memory = lent.emplace_back(t->bytes.size(), fill).all();
      const adapters::CValue given(inputs[i], static_cast<std::byte*>(memory.data));
      std::ranges::copy(t->bytes, static_cast<std::byte*>(memory.data));
      if (info(t->dtype).bytes > 1) {
        const adapters::CValue askew(inputs[i], static_cast<std::byte*>(memory.data) + 1);
        EXPECT_EQ(assay_alias_input(made.method, i, &askew.value, &fault), ASSAY_INVALID);
        EXPECT_STREQ(fault.rule, "R5");
      }
      const assay_outcome outcome = assay_alias_input(made.method, i, &given.value, &fault);
      EXPECT_TRUE(outcome == ASSAY_OK || fault.rule == std::string("R5")) << fault.rule << fault.message;
      ++(outcome == ASSAY_OK ? aliased : copied);
      if (!then_copy) continue;
      set_inputs(made.method, inputs);
      std::memset(memory.data, 0xFF, memory.size);
    }
    EXPECT_EQ(assay_execute(made.method, &fault), ASSAY_OK) << fault.message;
    std::size_t k = 0;
    for (const Value& input : inputs) {
      const auto* t = std::get_if<Tensor>(&input);
      if (!t || !alias) continue;
      EXPECT_TRUE(lent[k].is_whole());
      EXPECT_TRUE(then_copy || std::ranges::equal(t->bytes, std::span(static_cast<std::byte*>(lent[k].all().data),
                                                                      lent[k].all().size)));
      ++k;
    }
    return bytes_of_outputs(made.method);
  };
  const std::string as_copied = run(false, false);
  EXPECT_EQ(as_copied, run(true, false));
  EXPECT_EQ(as_copied, run(true, true));
}

TEST_P(OptimizedMemory, IsRefusedIfOneByteIsMissing) {
  const Files files(GetParam());
  const std::byte fill{0x5A};
  const Opened opened(files, fill);
  assay_fault fault;
  assay_program* program = nullptr;
  const auto data = files.data();
  const Fenced workspace(1 << 20, fill);
  EXPECT_EQ(assay_program_open(files.bytes[0], data.data(), data.size(), opened.memory->one_byte_less(),
                               workspace.all(), &program, &fault),
            ASSAY_EXHAUSTED);
  std::size_t length = 0;
  const char* first = assay_method_name(opened.program, 0, &length);
  const std::string name(first, length);
  const Made made(opened, name.c_str(), fill);
  const auto refused = [&](const assay_method_memories& memories) {
    assay_method* method = nullptr;
    const assay_outcome outcome =
        assay_method_make(opened.program, name.c_str(), &made.options, &memories, &method, &fault);
    EXPECT_EQ(method, nullptr);
    EXPECT_STREQ(fault.rule, "V4");
    return outcome == ASSAY_EXHAUSTED;
  };
  const assay_method_memories all{made.workspace->all(), made.prepared->all(), made.arena->all(), made.shared->all(),
                                  made.scratch->all()};
  for (const auto part : {&assay_method_memories::prepared, &assay_method_memories::arena,
                          &assay_method_memories::shared, &assay_method_memories::scratch}) {
    assay_method_memories less = all;
    if ((all.*part).size == 0) continue;
    --(less.*part).size;
    EXPECT_TRUE(refused(less));
  }
}

// A kernel that packs fewer constants when a method is made than when its memory is counted.
const void* pack_less(const optimized::Call&, optimized::Stores& stores) {
  stores.packed.take(stores.packed.makes() ? 16 : 32);
  return nullptr;
}

TEST(OptimizedDecisions, AreTheSameWhenMemoryIsCountedAndWhenAMethodIsMade) {
  const std::byte fill{0x5A};
  Files files(golden_folder() / "programs" / "comparisons");
  // A call that no kernel of a table does: bitwise_not of floats.
  const std::string_view kept = "aten::logical_not", other = "aten::bitwise_not";
  const std::span<std::byte> program = files.memory.front().bytes();
  const std::string_view text(reinterpret_cast<const char*>(program.data()), program.size());
  const std::size_t at = text.find(kept);
  ASSERT_NE(at, text.npos);
  std::memcpy(program.data() + at, other.data(), other.size());
  const Opened opened(files, fill);
  const Made made(opened, "forward", fill);
  const optimized::Kernel kernel{"pack_less", nullptr, pack_less, nullptr};
  assay_options options = with_refusals();
  options.refusals = reinterpret_cast<const assay_refusals*>(&kernel);
  assay_method_sizes sizes;
  assay_fault fault;
  ASSERT_EQ(assay_method_size(opened.program, "forward", &options, made.workspace->all(), &sizes, &fault), ASSAY_OK);
  const Fenced prepared(sizes.prepared, fill);
  const assay_method_memories all{made.workspace->all(), prepared.all(), made.arena->all(), made.shared->all(),
                                  made.scratch->all()};
  assay_method* method = nullptr;
  EXPECT_EQ(assay_method_make(opened.program, "forward", &options, &all, &method, &fault), ASSAY_EXHAUSTED);
  EXPECT_STREQ(fault.rule, "V4");
  EXPECT_STREQ(fault.message, "is prepared differently than its memory was counted");
}

// -- bad requests -----------------------------------------------------------------------------------------------------

constexpr std::byte some_fill{0x5A};

// The program `mlp` and its method, with which each request is right but for what a test changes.
struct Client {
  const Files files{golden_folder() / "programs" / "mlp"};
  const Opened opened{files, some_fill};
  const Made made{opened, "forward", some_fill};
  const Value input = files.calls.calls.at(0).inputs.at(0);

  assay_method_memories memories() const {
    return {made.workspace->all(), made.prepared->all(), made.arena->all(), made.shared->all(), made.scratch->all()};
  }
};

// Expects that the request breaks R8. The request gets a fault to fill.
template <class Request>
void expect_r8(std::string_view what, Request request) {
  assay_fault fault{};
  EXPECT_EQ(request(&fault), ASSAY_INVALID) << what;
  EXPECT_STREQ(fault.rule, "R8") << what;
  show_case("R8", what, Fault(Outcome::invalid, "R8", fault.message, fault.place));
}

TEST(ClientMemoryRules, NullMemoryWithASizeIsRefused) {
  const Client c;
  assay_program_sizes sizes;
  assay_program* program = nullptr;
  assay_method* method = nullptr;
  const assay_bytes file = c.files.bytes[0], no_bytes{nullptr, 1};
  const assay_memory memory = c.opened.memory->all(), none{nullptr, 64};
  expect_r8("a program", [&](auto* f) { return assay_program_size(no_bytes, nullptr, 0, &sizes, f); });
  expect_r8("a list of data files", [&](auto* f) { return assay_program_size(file, nullptr, 1, &sizes, f); });
  expect_r8("a data file", [&](auto* f) { return assay_program_size(file, &no_bytes, 1, &sizes, f); });
  expect_r8("program memory", [&](auto* f) { return assay_program_open(file, nullptr, 0, none, memory, &program, f); });
  expect_r8("a workspace", [&](auto* f) { return assay_program_open(file, nullptr, 0, memory, none, &program, f); });
  for (const auto part :
       {&assay_method_memories::workspace, &assay_method_memories::prepared, &assay_method_memories::arena,
        &assay_method_memories::shared, &assay_method_memories::scratch}) {
    assay_method_memories given = c.memories();
    given.*part = none;
    expect_r8("a memory of a method", [&](auto* f) {
      return assay_method_make(c.opened.program, "forward", &c.made.options, &given, &method, f);
    });
  }
}

TEST(ClientMemoryRules, MethodMemoryBeginsAtAMultipleOf64) {
  const Client c;
  for (const auto part : {&assay_method_memories::workspace, &assay_method_memories::prepared,
                          &assay_method_memories::arena, &assay_method_memories::scratch}) {
    assay_method_memories given = c.memories();
    if ((given.*part).size == 0) continue;
    (given.*part).data = static_cast<std::byte*>((given.*part).data) + 32;
    assay_method* method = nullptr;
    expect_r8("a memory of a method", [&](auto* f) {
      return assay_method_make(c.opened.program, "forward", &c.made.options, &given, &method, f);
    });
    EXPECT_EQ(method, nullptr);
  }
}

TEST(ClientMemoryRules, NullElementsSizesAndTextsAreRefused) {
  const Client c;
  const auto set = [&](const assay_value& value) {
    return [&](assay_fault* f) { return assay_set_input(c.made.method, 0, &value, f); };
  };
  adapters::CValue given(c.input);
  assay_fault fault;
  EXPECT_EQ(set(given.value)(&fault), ASSAY_OK);
  for (const auto part : {0, 1, 2}) {
    assay_value value = given.value;
    if (part == 0) value.as.tensor.data = nullptr;
    if (part == 1) value.as.tensor.sizes = nullptr;
    if (part == 2) value.as.tensor.dim_order = nullptr;
    expect_r8("an input", set(value));
  }
  assay_value string{.kind = ASSAY_STRING, .as = {}};
  string.as.string = {nullptr, 3};
  expect_r8("a text", set(string));
  expect_r8("an output", [&](auto* f) { return assay_set_output(c.made.method, 0, {nullptr, 8}, f); });
}

TEST(ClientRequests, AValueOfAnUnknownKindIsRefused) {
  const Client c;
  assay_fault fault;
  assay_value value{};
  const unsigned kind = 77;
  std::memcpy(&value.kind, &kind, sizeof kind);
  EXPECT_EQ(assay_set_input(c.made.method, 0, &value, &fault), ASSAY_INVALID);
  EXPECT_STREQ(fault.rule, "R1");
}

TEST(ClientRequests, NegativeSizesAreRefused) {
  const Client c;
  adapters::CValue given(c.input);
  for (std::int32_t& size : given.sizes) size = -size;
  assay_fault fault;
  EXPECT_EQ(assay_set_input(c.made.method, 0, &given.value, &fault), ASSAY_INVALID);
  EXPECT_STREQ(fault.rule, "R1");
}

TEST(ClientRequests, AnOutputExistsOnlyAfterAnExecutionThatEnded) {
  const Client c;
  assay_value value;
  assay_fault fault;
  EXPECT_EQ(assay_output(c.made.method, 0, &value), ASSAY_INVALID);
  EXPECT_EQ(assay_execute(c.made.method, &fault), ASSAY_INVALID);  // R4: no input is set
  EXPECT_EQ(assay_output(c.made.method, 0, &value), ASSAY_INVALID);
  set_inputs(c.made.method, {c.input});
  EXPECT_EQ(assay_execute(c.made.method, &fault), ASSAY_OK);
  EXPECT_EQ(assay_output(c.made.method, 0, &value), ASSAY_OK);
  set_inputs(c.made.method, {c.input});
  EXPECT_EQ(assay_step(c.made.method, &fault), ASSAY_OK);
  EXPECT_EQ(assay_output(c.made.method, 0, &value), ASSAY_INVALID);
}

TEST(ClientRequests, AStepThatDoesNotExistIsEmpty) {
  const Client c;
  const std::size_t steps = assay_step_count(c.made.method);
  EXPECT_STRNE(assay_step_at(c.made.method, steps - 1).kernel, "");
  EXPECT_STREQ(assay_step_at(c.made.method, steps).kernel, "");
  EXPECT_EQ(assay_step_of(c.made.method, assay_instruction_count(c.made.method)), SIZE_MAX);
  char text[64] = "before";
  assay_step_operands(c.made.method, steps, text, sizeof text);
  EXPECT_STREQ(text, "");
  assay_step_operands(c.made.method, 0, nullptr, 0);
}

INSTANTIATE_TEST_SUITE_P(Golden, OptimizedMemory, testing::ValuesIn(program_folders()), name_of_folder);

}  // namespace optimized_memory_test
}  // namespace assay

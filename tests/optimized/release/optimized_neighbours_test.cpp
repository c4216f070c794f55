#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "conformance/adapters/optimized/client.h"
#include "conformance/files/file.h"
#include "conformance/files/same.h"
#include "conformance/hosts/calls.h"
#include "conformance/hosts/host.h"
#include "reference/program/decoded.h"
#include "tests/support/program_folders.h"
#include "tests/support/whole_suite.h"

// An instruction that is merged into another one, or dropped, still counts: if one of its operands is changed, the
// optimized runtime and the reference agree.
namespace assay {
namespace optimized_neighbours_test {

namespace fs = std::filesystem;

struct Said {
  std::string rule;  // by which the call is refused; empty: it has outputs
  std::vector<Value> outputs;
};

Said refused(const Fault& fault) { return {fault.rule, {}}; }

Said ask_reference(std::span<const std::byte> file, const std::vector<File>& data, const hosts::ProgramCall& call) {
  try {
    hosts::Host host(hosts::valid_program(borrowed(file), data));
    return {"", host.call(call.method, call.inputs)};
  } catch (const Fault& f) {
    return refused(f);
  }
}

Said ask_optimized(std::span<const std::byte> file, const std::vector<File>& data, const hosts::ProgramCall& call) {
  try {
    std::vector<adapters::OptimizedClient::Bytes> files;
    for (const File& f : data) files.push_back(f.bytes);
    adapters::OptimizedClient client(file, files, {});
    client.method(call.method);  // it may be refused before its inputs are set
    return {"", client.call(call.method, hosts::adapted(*hosts::valid_program(borrowed(file), data).plan(call.method),
                                                        call.inputs))};
  } catch (const Fault& f) {
    return refused(f);
  }
}

// The instructions that rewrites merge into others, or others into, counted through all chains.
std::set<std::size_t> rewritten(const fs::path& program, const std::vector<fs::path>& data, const std::string& name) {
  adapters::OptimizedClient client(program, data, {});
  const assay_method* method = client.method(name).method;
  std::set<std::size_t> all;
  for (std::size_t i = 0; i < assay_instruction_count(method); ++i) {
    const std::size_t at = assay_step_of(method, i);
    if (at == SIZE_MAX) {
      all.insert(i);
      continue;
    }
    const assay_step_info step = assay_step_at(method, at);
    if (step.instruction != i || step.unread) all.insert({i, std::size_t{step.instruction}});
  }
  return all;
}

// Other values of the same kind that an instruction could have.
using Change = std::pair<std::string_view, void (*)(pte::EValueT&)>;

pte::TensorT& tensor(pte::EValueT& v) { return *v.val.AsTensor(); }

std::vector<Change> changes_of(const pte::EValueT& v) {
  switch (v.val.type) {
    case pte::KernelTypes::Int:
      return {{"one more", [](auto& x) { ++x.val.AsInt()->int_val; }},
              {"one less", [](auto& x) { --x.val.AsInt()->int_val; }}};
    case pte::KernelTypes::Bool:
      return {{"not", [](auto& x) { x.val.AsBool()->bool_val = !x.val.AsBool()->bool_val; }}};
    case pte::KernelTypes::Double:
      return {{"and a half", [](auto& x) { x.val.AsDouble()->double_val += 0.5; }},
              {"negative", [](auto& x) { x.val.AsDouble()->double_val = -x.val.AsDouble()->double_val; }}};
    case pte::KernelTypes::String:
      return {{"another word", [](auto& x) { x.val.AsString()->string_val += "s"; }}};
    case pte::KernelTypes::Tensor: {
      std::vector<Change> all{
          {"of int32", [](auto& x) { tensor(x).scalar_type = static_cast<std::int8_t>(DType::int32); }},
          {"of uint8", [](auto& x) { tensor(x).scalar_type = static_cast<std::int8_t>(DType::uint8); }}};
      const std::size_t rank = v.val.AsTensor()->sizes.size();
      if (rank > 0) {
        all.push_back({"smaller", [](auto& x) { --tensor(x).sizes.front(); }});
        all.push_back({"in one dimension", [](auto& x) {
                         std::int32_t n = 1;
                         for (const std::int32_t size : tensor(x).sizes) n *= size;
                         tensor(x).sizes = {n}, tensor(x).dim_order = {0};
                       }});
        all.push_back({"with one more dimension", [](auto& x) {
                         tensor(x).dim_order.push_back(static_cast<std::uint8_t>(tensor(x).sizes.size()));
                         tensor(x).sizes.push_back(1);
                       }});
      }
      if (rank > 1) {
        all.push_back({"in another order", [](auto& x) { std::swap(tensor(x).dim_order[0], tensor(x).dim_order[1]); }});
        all.push_back({"transposed", [](auto& x) { std::swap(tensor(x).sizes[0], tensor(x).sizes[1]); }});
      }
      return all;
    }
    default:
      return {};
  }
}

// The call of instruction i, counted through all chains. Null: the instruction calls no operator.
pte::KernelCallT* call_of(pte::ExecutionPlanT& plan, std::size_t i) {
  for (const auto& chain : plan.chains) {
    if (i < chain->instructions.size()) return chain->instructions[i]->instr_args.AsKernelCall();
    i -= chain->instructions.size();
  }
  return nullptr;
}

// The largest scale to which the method quantizes; 0 if it quantizes nothing.
double largest_scale(const pte::ExecutionPlanT& plan) {
  double largest = 0;
  for (const auto& chain : plan.chains)
    for (const auto& instruction : chain->instructions) {
      const pte::KernelCallT* call = instruction->instr_args.AsKernelCall();
      if (!call ||
          plan.operators[static_cast<std::size_t>(call->op_index)]->name != "quantized_decomposed::quantize_per_tensor")
        continue;
      if (const auto* scale = plan.values[static_cast<std::size_t>(call->args[1])]->val.AsDouble())
        largest = std::max(largest, scale->double_val);
    }
  return largest;
}

// Neighbours that were tried; those that the reference refuses; those in which a number that lies between two codes
// got the other code.
std::size_t tried = 0, refusals = 0, ties = 0;

class OptimizedNeighbours : public testing::TestWithParam<fs::path> {
 public:
  static void TearDownTestSuite() {
    fmt::print("{} neighbours, {} of them refused, {} with other codes\n", tried, refusals, ties);
    EXPECT_LE(ties * 100, tried);
    if (!whole_suite_ran()) return;
    EXPECT_GT(tried, 1000u);
    EXPECT_GT(tried - refusals, 100u);
  }
};

TEST_P(OptimizedNeighbours, GetTheOutcomeOfTheReference) {
  const fs::path path = GetParam() / "program.pte";
  const hosts::ProgramCalls calls = hosts::read_calls(GetParam() / "calls.json");
  const std::vector<File> data = files::open_data_files(calls.data);
  const File file = files::open_file(path);
  std::set<std::string> seen;  // methods
  for (const hosts::ProgramCall& call : calls.calls) {
    if (!call.fails.empty() || !seen.insert(call.method).second) continue;
    std::map<std::string, int> of_operator;
    for (const std::size_t i : rewritten(path, calls.data, call.method)) {
      const auto changed = [&](std::size_t argument, void (*change)(pte::EValueT&)) {
        Program program = *decode_program(file.bytes), other = *decode_program(file.bytes);
        for (std::size_t p = 0; p < program.tables.execution_plan.size(); ++p) {
          pte::ExecutionPlanT& plan = *program.tables.execution_plan[p];
          if (plan.name != call.method) continue;
          pte::KernelCallT& kernel_call = *call_of(plan, i);
          const std::int32_t from = kernel_call.args[argument];
          plan.values.push_back(std::move(other.tables.execution_plan[p]->values[static_cast<std::size_t>(from)]));
          change(*plan.values.back());
          const auto to = static_cast<std::int32_t>(plan.values.size() - 1);
          std::ranges::replace(kernel_call.args, from, to);
        }
        return encode(program);
      };
      Program program = *decode_program(file.bytes);
      const auto plan =
          std::ranges::find(program.tables.execution_plan, call.method, [](const auto& p) { return p->name; });
      const pte::KernelCallT* kernel_call = call_of(**plan, i);
      if (!kernel_call) continue;
      const pte::OperatorT& op = *(*plan)->operators[static_cast<std::size_t>(kernel_call->op_index)];
      const std::string name = op.name + "." + op.overload;
      if (++of_operator[name] > 2) continue;
      for (std::size_t a = 0; a + 1 < kernel_call->args.size(); ++a)
        for (const auto& [words, change] :
             changes_of(*(*plan)->values[static_cast<std::size_t>(kernel_call->args[a])])) {
          const Bytes bytes = changed(a, change);
          const Said want = ask_reference(bytes, data, call), got = ask_optimized(bytes, data, call);
          ++tried, refusals += !want.rule.empty();
          const std::string where = fmt::format("instruction {}, {}, argument {} {}", i, name, a, words);
          EXPECT_EQ(got.rule, want.rule) << where;
          if (!want.rule.empty() || !got.rule.empty()) continue;
          ASSERT_EQ(got.outputs.size(), want.outputs.size()) << where;
          for (std::size_t k = 0; k < want.outputs.size(); ++k) {
            const files::Tolerance tolerance{.rtol = 1e-3, .atol = 1e-4};
            files::Comparison c = files::compare(got.outputs[k], want.outputs[k], tolerance);
            if (const double step = c.agrees() ? 0 : largest_scale(**plan); step > 0)
              c = files::compare(got.outputs[k], want.outputs[k], {.rtol = 1e-3, .atol = step}), ++ties;
            EXPECT_TRUE(c.agrees()) << where << ", output " << k << ": " << files::sentence(c, tolerance);
          }
        }
    }
  }
}

// Constants begin one byte later, where no element of their dtype can begin.
TEST_P(OptimizedNeighbours, DoNotDependOnTheAlignmentOfConstants) {
  const File file = files::open_file(GetParam() / "program.pte");
  Bytes moved(file.bytes.begin(), file.bytes.end());
  constexpr std::size_t header = 8, place_of_base = header + 16;   // it tells where segments begin
  if (std::memcmp(moved.data() + header, "eh00", 4) != 0) return;  // the file has no segments
  std::uint64_t base;
  std::memcpy(&base, moved.data() + place_of_base, sizeof base);
  moved.insert(moved.begin() + static_cast<std::ptrdiff_t>(base++), std::byte{0});
  std::memcpy(moved.data() + place_of_base, &base, sizeof base);
  const hosts::ProgramCalls calls = hosts::read_calls(GetParam() / "calls.json");
  const std::vector<File> data = files::open_data_files(calls.data);
  for (const hosts::ProgramCall& call : calls.calls) {
    const Said want = ask_optimized(file.bytes, data, call), got = ask_optimized(moved, data, call);
    EXPECT_EQ(got.rule, want.rule);
    EXPECT_TRUE(std::ranges::equal(got.outputs, want.outputs, files::same));
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, OptimizedNeighbours, testing::ValuesIn(program_folders()), name_of_folder);

}  // namespace optimized_neighbours_test
}  // namespace assay

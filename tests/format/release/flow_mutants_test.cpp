#include <gmock/gmock-matchers.h>

#include <functional>
#include <random>

#include "conformance/files/file.h"
#include "conformance/hosts/calls.h"
#include "conformance/text/literal.h"
#include "reference/program/decoded.h"
#include "tests/support/program_folders.h"
#include "tests/support/rules_shown.h"

// Mutants of recorded programs, with one instruction, value or index changed. A mutant that is accepted gives the same
// results whatever its planned memory held before, and the same results again if it has no state.
namespace assay {
namespace flow_mutants_test {

using Random = std::mt19937;
using Instructions = std::vector<std::unique_ptr<pte::InstructionT>>;

template <class Items>
auto& any_of(Items& items, Random& random) {
  return items[random() % items.size()];
}

Instructions& instructions(pte::ExecutionPlanT& plan) { return plan.chains[0]->instructions; }

std::unique_ptr<pte::InstructionT> copy(const pte::InstructionT& i) { return std::make_unique<pte::InstructionT>(i); }

// Moves the targets of jumps behind an instruction that was added or removed.
void move_targets(pte::ExecutionPlanT& plan, std::size_t behind, std::int32_t by) {
  for (auto& i : instructions(plan))
    if (auto* jump = i->instr_args.AsJumpFalseCall();
        jump && static_cast<std::size_t>(jump->destination_instruction) > behind)
      jump->destination_instruction += by;
}

std::vector<std::int32_t*> indices_of(pte::InstructionT& i) {
  std::vector<std::int32_t*> all;
  const auto add = [&](std::vector<std::int32_t>& args) {
    for (std::int32_t& a : args) all.push_back(&a);
  };
  if (auto* call = i.instr_args.AsKernelCall()) add(call->args);
  if (auto* call = i.instr_args.AsDelegateCall()) add(call->args);
  if (auto* move = i.instr_args.AsMoveCall()) all = {&move->move_from, &move->move_to};
  if (auto* jump = i.instr_args.AsJumpFalseCall()) all = {&jump->cond_value_index};
  if (auto* free = i.instr_args.AsFreeCall()) all = {&free->value_index};
  return all;
}

// Another value of a type that may be there.
std::int32_t another(const pte::ExecutionPlanT& plan, std::int32_t value, Random& random) {
  const auto& val = plan.values[static_cast<std::size_t>(value)]->val;
  std::vector<std::int32_t> all;
  for (std::size_t v = 0; v < plan.values.size(); ++v) {
    const auto& other = plan.values[v]->val;
    const bool same =
        val.type == other.type && (!val.AsTensor() || val.AsTensor()->scalar_type == other.AsTensor()->scalar_type);
    if (same) all.push_back(static_cast<std::int32_t>(v));
  }
  return any_of(all, random);
}

std::vector<pte::TensorT*> planned_tensors(pte::ExecutionPlanT& plan) {
  std::vector<pte::TensorT*> all;
  for (auto& v : plan.values)
    if (auto* t = v->val.AsTensor(); t && t->allocation_info) all.push_back(t);
  return all;
}

template <class Call>
void add_instruction(pte::ExecutionPlanT& plan, Call call, Random& random) {
  auto i = std::make_unique<pte::InstructionT>();
  i->instr_args.Set(std::move(call));
  const std::size_t at = random() % (instructions(plan).size() + 1);
  move_targets(plan, at, 1);
  instructions(plan).insert(instructions(plan).begin() + static_cast<std::ptrdiff_t>(at), std::move(i));
}

struct Mutation {
  std::string_view name;
  std::function<void(pte::ExecutionPlanT&, Random&)> change;
};
const Mutation mutations[] = {
    {"an instruction is left out",
     [](auto& plan, Random& random) {
       const std::size_t at = random() % instructions(plan).size();
       instructions(plan).erase(instructions(plan).begin() + static_cast<std::ptrdiff_t>(at));
       move_targets(plan, at, -1);
     }},
    {"an instruction is there twice",
     [](auto& plan, Random& random) {
       const std::size_t at = random() % instructions(plan).size();
       move_targets(plan, at, 1);
       instructions(plan).insert(instructions(plan).begin() + static_cast<std::ptrdiff_t>(at),
                                 copy(*instructions(plan)[at]));
     }},
    {"two instructions change places",
     [](auto& plan, Random& random) {
       std::swap(any_of(instructions(plan), random), any_of(instructions(plan), random));
     }},
    {"an argument is another value",
     [](auto& plan, Random& random) {
       auto all = indices_of(*any_of(instructions(plan), random));
       if (all.empty()) return;
       std::int32_t& index = *any_of(all, random);
       index = another(plan, index, random);
     }},
    {"the result is another value",
     [](auto& plan, Random& random) {
       auto all = indices_of(*any_of(instructions(plan), random));
       if (!all.empty()) *all.back() = another(plan, *all.back(), random);
     }},
    {"the result is not given",
     [](auto& plan, Random& random) {
       if (auto* call = any_of(instructions(plan), random)->instr_args.AsKernelCall(); call && !call->args.empty())
         call->args.pop_back();
     }},
    {"a tensor is elsewhere",
     [](auto& plan, Random& random) {
       auto all = planned_tensors(plan);
       if (all.empty()) return;
       auto& at = any_of(all, random)->allocation_info->memory_offset_low;
       const std::uint32_t step = 4u << random() % 3;
       at = random() % 2 ? at + step : at - std::min(at, step);
     }},
    {"a tensor is where another is",
     [](auto& plan, Random& random) {
       if (auto all = planned_tensors(plan); !all.empty())
         *any_of(all, random)->allocation_info = *any_of(all, random)->allocation_info;
     }},
    {"a tensor has no memory",
     [](auto& plan, Random& random) {
       if (auto all = planned_tensors(plan); !all.empty()) any_of(all, random)->allocation_info = nullptr;
     }},
    {"a tensor's sizes may change",
     [](auto& plan, Random& random) {
       if (auto all = planned_tensors(plan); !all.empty())
         any_of(all, random)->shape_dynamism = static_cast<pte::TensorShapeDynamism>(random() % 3);
     }},
    {"an input is another value",
     [](auto& plan, Random& random) {
       if (!plan.inputs.empty()) any_of(plan.inputs, random) = another(plan, plan.inputs[0], random);
     }},
    {"an output is another value",
     [](auto& plan, Random& random) {
       if (!plan.outputs.empty()) any_of(plan.outputs, random) = another(plan, plan.outputs[0], random);
     }},
    {"a jump goes elsewhere",
     [](auto& plan, Random& random) {
       for (auto& i : instructions(plan))
         if (auto* jump = i->instr_args.AsJumpFalseCall())
           jump->destination_instruction = static_cast<std::int32_t>(random() % (instructions(plan).size() + 1));
     }},
    {"a tensor is freed",
     [](auto& plan, Random& random) {
       pte::FreeCallT free;
       free.value_index = static_cast<std::int32_t>(random() % plan.values.size());
       add_instruction(plan, free, random);
     }},
    {"a value is moved",
     [](auto& plan, Random& random) {
       pte::MoveCallT move;
       move.move_from = static_cast<std::int32_t>(random() % plan.values.size());
       move.move_to = another(plan, move.move_from, random);
       add_instruction(plan, move, random);
     }},
    {"a jump comes in",
     [](auto& plan, Random& random) {
       pte::JumpFalseCallT jump;
       jump.cond_value_index = static_cast<std::int32_t>(random() % plan.values.size());
       jump.destination_instruction = static_cast<std::int32_t>(random() % (instructions(plan).size() + 1));
       add_instruction(plan, jump, random);
     }},
};

std::string text_of(const CallResult& result) {
  if (result.refusal) return "refused: " + result.refusal->rule;
  std::string text;
  for (const Value& v : result.outputs) text += literal(v, 1000) + " ";
  return text;
}

// The results of the calls with planned memory filled with these bytes. Each call is made twice.
std::vector<std::string> results(const ValidProgram& program, const ProgramCalls& calls, std::byte fill) {
  RuntimeOptions options{.budget = Budget({.work = Int{1} << 28}), .instructions = 10'000};
  options.fill = fill;
  std::vector<std::string> all;
  try {
    Host host(program, options);
    for (const ProgramCall& call : calls.calls)
      for (int i = 0; i < 2; ++i) all.push_back(text_of(run_call(host, call)));
  } catch (const Fault& f) {
    all.push_back("refused: " + f.rule);
  }
  return all;
}

class FlowMutants : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(FlowMutants, DoNotDependOnInitialMemory) {
  const Program recorded = *decode_program(open_file(GetParam() / "program.pte").bytes);
  const ProgramCalls calls = read_calls(GetParam() / "calls.json");
  std::vector<NamedDataFile> data;
  for (const File& file : open_data_files(calls.data)) data.push_back(*open_data(file));
  const auto& first = *recorded.tables.execution_plan[0];
  if (first.chains.empty() || first.chains[0]->instructions.empty()) GTEST_SKIP() << "nothing to change";
  if (first.chains[0]->instructions.size() > 60) GTEST_SKIP() << "too long to run often";
  Random random(static_cast<std::uint32_t>(first.values.size()));
  for (const Mutation& m : mutations)
    for (int i = 0; i < 2; ++i) {
      Program program = recorded;
      m.change(*program.tables.execution_plan[0], random);
      const auto opened = open_program(in_memory(encode(program)));
      const auto valid = opened ? validate(*opened, data) : Result<ValidProgram>();
      if (!valid) continue;
      const auto zeros = results(*valid, calls, std::byte{0});
      EXPECT_EQ(zeros, results(*valid, calls, std::byte{0x5b})) << m.name << ", " << i;
      // The check has found each fault that the runtime finds, with two exceptions: the type of a number may be known
      // only at run time, and a delegate may read unwritten memory.
      const bool delegates = !program.tables.execution_plan[0]->delegates.empty();
      for (const std::string_view rule : flow_rules)
        if (rule != "I10" && !(delegates && rule == "T16")) {
          EXPECT_THAT(zeros, testing::Not(testing::Contains("refused: " + std::string(rule)))) << m.name << ", " << i;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Programs, FlowMutants, testing::ValuesIn(program_folders()), name_of_folder);

}  // namespace flow_mutants_test
}  // namespace assay

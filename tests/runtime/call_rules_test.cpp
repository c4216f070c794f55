#include "reference/runtime/call_rules.h"

#include <gmock/gmock-more-matchers.h>

#include <random>

#include "conformance/files/file.h"
#include "reference/program/build.h"
#include "reference/runtime/runtime.h"
#include "tests/support/golden.h"
#include "tests/support/part.h"
#include "tests/support/program_folders.h"
#include "tests/support/tensors.h"

// Before anything runs, the rules of a program's calls give the same faults as an execution.
namespace assay {
namespace call_rules_test {

using enum DType;
using testing::ElementsAre;
using testing::IsEmpty;
using Dynamism = pte::TensorShapeDynamism;
using Index = PlanBuilder::Index;

ValidProgram valid(const File& file, const std::vector<File>& data = {}) {
  std::vector<NamedDataFile> files;
  for (const File& f : data) files.push_back(*open_data(f));
  auto checked = validate(*open_program(file), std::move(files));
  if (!checked) throw checked.faults.front();
  return *checked;
}

// The call faults of a plan that `make` fills.
template <class F>
CallFaults asked_of(F make) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  make(plan);
  return faults_of_calls(valid(in_memory(program.bytes())));
}

std::vector<std::string> rules_of(const CallFaults& found) {
  std::vector<std::string> all;
  for (const Fault& f : found.faults) all.push_back(f.rule);
  return all;
}

// The numbers of calls that are checked in full, in part, and not at all.
std::vector<Int> counts(const CallFaults& found) { return {found.in_full, found.in_part, found.not_asked}; }

using Sizes = std::initializer_list<std::int32_t>;
Index given(PlanBuilder& plan, DType dtype, Sizes sizes, Dynamism dynamism = Dynamism::STATIC) {
  plan.plan().inputs.push_back(plan.tensor(dtype, sizes, dynamism));
  return plan.plan().inputs.back();
}
Index result(PlanBuilder& plan, DType dtype, Sizes sizes, Dynamism dynamism = Dynamism::STATIC) {
  plan.plan().outputs.push_back(plan.tensor(dtype, sizes, dynamism));
  return plan.plan().outputs.back();
}

TEST(CallRules, ReportTheRulesOfTheOperatorAndNameTheCall) {
  const CallFaults found = asked_of([](PlanBuilder& plan) {
    const auto x = given(plan, float32, {2});
    plan.add_tensors(x, x, result(plan, float32, {2}));
    plan.add_tensors(x, x, result(plan, int32, {2}));
    plan.add_tensors(x, given(plan, float32, {3}), result(plan, float32, {2}));
  });
  EXPECT_THAT(rules_of(found), ElementsAre("add.out", "add.shape"));
  EXPECT_EQ(found.faults[0].outcome, Outcome::invalid);
  EXPECT_EQ(found.faults[0].place, "instruction 1 of forward, aten::add.out");
  EXPECT_THAT(counts(found), ElementsAre(1, 0, 0));
}

TEST(CallRules, CheckThatResultsFit) {
  const auto sum_into = [](Dynamism dynamism, Sizes sizes) {
    return rules_of(asked_of([&](PlanBuilder& plan) {
      const auto x = given(plan, float32, {2, 3});
      plan.add_tensors(x, x, result(plan, float32, sizes, dynamism));
    }));
  };
  EXPECT_THAT(sum_into(Dynamism::STATIC, {2, 3}), IsEmpty());
  EXPECT_THAT(sum_into(Dynamism::STATIC, {3, 2}), ElementsAre("T24"));
  EXPECT_THAT(sum_into(Dynamism::DYNAMIC_BOUND, {2, 4}), IsEmpty());
  EXPECT_THAT(sum_into(Dynamism::DYNAMIC_BOUND, {2, 2}), ElementsAre("T24"));
  EXPECT_THAT(sum_into(Dynamism::DYNAMIC_BOUND, {1, 6}), ElementsAre("T24")) << "as many elements, but too few rows";
  EXPECT_THAT(sum_into(Dynamism::DYNAMIC_UNBOUND, {1, 1}), IsEmpty());
  EXPECT_THAT(sum_into(Dynamism::DYNAMIC_UNBOUND, {6}), ElementsAre("T24")) << "another rank";
}

TEST(CallRules, CheckEachResultInAList) {
  const auto split = [](Sizes last) {
    return rules_of(asked_of([&](PlanBuilder& plan) {
      const auto x = given(plan, float32, {5}), two = plan.integer(2), zero = plan.integer(0);
      std::vector<Index> pieces{result(plan, float32, {2}), result(plan, float32, {2}), result(plan, float32, last)};
      const auto outs = plan.list<pte::TensorListT>(std::move(pieces));
      plan.call("aten::split_copy.Tensor_out", {x, two, zero, outs, outs});
    }));
  };
  EXPECT_THAT(split({1}), IsEmpty());
  EXPECT_THAT(split({2}), ElementsAre("T24"));
}

TEST(CallRules, CheckDtypesAndRanksOfTensorsWithoutSizes) {
  const auto product = [](DType dtype, Sizes sizes) {
    return asked_of([&](PlanBuilder& plan) {
      const auto a = given(plan, float32, {8, 4}, Dynamism::DYNAMIC_BOUND), b = given(plan, dtype, sizes),
                 out = result(plan, float32, {8, 8}, Dynamism::DYNAMIC_BOUND);
      plan.call("aten::mm.out", {a, b, out, out});
    });
  };
  EXPECT_THAT(counts(product(float32, {4, 8})), ElementsAre(0, 1, 0));
  EXPECT_THAT(counts(product(float32, {5, 8})), ElementsAre(0, 1, 0)) << "a may have 5 columns";
  EXPECT_THAT(rules_of(product(int32, {4, 8})), ElementsAre("mm.R2"));
  EXPECT_THAT(rules_of(product(float32, {4})), ElementsAre("mm.R4"));
}

TEST(CallRules, DoNotGuessElements) {
  const CallFaults found = asked_of([](PlanBuilder& plan) {
    const auto weight = given(plan, float32, {4, 2}), indices = given(plan, int64, {3}),
               out = result(plan, float32, {3, 2}), no = plan.boolean(false);
    plan.call("aten::embedding.out", {weight, indices, plan.integer(-1), no, no, out, out});
  });
  EXPECT_THAT(found.faults, IsEmpty());
  EXPECT_THAT(counts(found), ElementsAre(0, 1, 0));
}

// Behind an input, a computed number and a move: the value in the program is not the value at run time.
TEST(CallRules, DoNotGuessNumbers) {
  const auto full = [](auto change) {
    return asked_of([&](PlanBuilder& plan) {
      const auto sizes = plan.integers({3});
      const auto size = sizes - 1, other = plan.integer(2), out = result(plan, float32, {2});
      plan.new_chain();
      change(plan, size, other);
      plan.call("aten::full.out", {sizes, other, out, out});
    });
  };
  const auto nothing = [](PlanBuilder&, Index, Index) {};
  const auto compute = [](PlanBuilder& p, Index size, Index other) {
    p.call("executorch_prim::add.Scalar", {other, other, size});
  };
  const auto move = [](PlanBuilder& p, Index size, Index other) { p.move(other, size); };
  const auto input = [](PlanBuilder& p, Index size, Index) { p.plan().inputs = {size}; };
  EXPECT_THAT(rules_of(full(nothing)), ElementsAre("T24")) << "sizes (3) into an out of sizes (2)";
  EXPECT_THAT(counts(full(compute)), ElementsAre(1, 0, 1));
  EXPECT_THAT(counts(full(move)), ElementsAre(0, 0, 1));
  EXPECT_THAT(counts(full(input)), ElementsAre(0, 0, 1));
}

TEST(CallRules, CheckAMovedTensorIfSourceAndTargetAreDeclaredAlike) {
  const auto after_move = [](Sizes from, Sizes to) {
    return asked_of([&](PlanBuilder& plan) {
      const auto a = given(plan, float32, from), b = plan.tensor(float32, to), out = result(plan, float32, {3});
      plan.move(a, b);
      plan.add_tensors(b, b, out);
    });
  };
  EXPECT_THAT(counts(after_move({3}, {3})), ElementsAre(1, 0, 0));
  EXPECT_THAT(counts(after_move({3}, {2})), ElementsAre(0, 0, 1));
  EXPECT_THAT(rules_of(after_move({2}, {2})), ElementsAre("T24"));
}

TEST(CallRules, CheckNoOperatorThatTheSpecLacks) {
  const CallFaults found = asked_of([](PlanBuilder& plan) { plan.call("custom::op.out", {plan.integer(1)}); });
  EXPECT_THAT(found.faults, IsEmpty());
  EXPECT_THAT(counts(found), ElementsAre(0, 0, 1));
}

TEST(CallRules, ReportAHundredFaults) {
  const CallFaults found = asked_of([](PlanBuilder& plan) {
    const auto x = given(plan, float32, {2}), out = result(plan, int32, {2});
    for (int i = 0; i < 107; ++i) plan.add_tensors(x, x, out);
  });
  EXPECT_EQ(found.faults.size(), 100u);
  EXPECT_EQ(found.more, 7);
}

TEST(CallRules, AreCheckedWithinABudget) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto x = given(plan, float32, {2}), out = result(plan, float32, {2});
  for (int i = 0; i < 10; ++i) plan.add_tensors(x, x, out);
  const CallFaults found = faults_of_calls(valid(in_memory(program.bytes())), Budget({.work = 5'000}));
  EXPECT_THAT(rules_of(found), ElementsAre("limits.work"));
  EXPECT_EQ(found.faults[0].outcome, Outcome::exhausted);
  EXPECT_LT(found.in_full, 10);
}

// -- recorded programs ------------------------------------------------------------------------------------------------

Program program_in(const std::filesystem::path& folder) {
  return *decode_program(files::open_file(folder / "program.pte").bytes);
}

std::vector<File> data_beside(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".ptd") files.push_back(entry.path());
  return files::open_data_files(files);
}

Tensor zeros(const pte::TensorT& t) {
  return make(*dtype_numbered(t.scalar_type), Dims(Ints(t.sizes.begin(), t.sizes.end())),
              Dims(Ints(t.dim_order.begin(), t.dim_order.end())));
}

// The fault of an execution of the first method on zeros; none: it cannot begin.
std::optional<Refusal> executed(const Program& program, const std::vector<File>& data) {
  RuntimeOptions options;
  options.instructions = 10'000;
  auto loaded = LoadedProgram::load(in_memory(encode(program)), data, options);
  if (!loaded) return {};
  auto method = loaded->method(program.tables.execution_plan[0]->name);
  if (!method) return {};
  for (std::uint32_t i = 0; i < method->plan().inputs()->size(); ++i) {
    const std::size_t value = static_cast<std::size_t>(method->plan().inputs()->Get(static_cast<std::uint32_t>(i)));
    const pte::TensorT* t = program.tables.execution_plan[0]->values[value]->val.AsTensor();
    Value input = t ? zeros(*t) : *method->value(value);
    if (std::holds_alternative<std::monostate>(input)) input = Int{1};
    if (method->set_input(i, input)) return {};
  }
  return method->execute();
}

Int instruction_of(const Fault& fault) {
  constexpr std::string_view word = "instruction ";
  const std::size_t at = fault.place.find(word);
  return at == std::string::npos ? -1 : std::stoll(fault.place.substr(at + word.size()));
}

// Whether the fault is one of call rules, and not one that depends on data.
bool is_call_rule(const Fault& fault) {
  const std::string_view rule = fault.rule;
  return rule == "I10" ||
         (rule.find('.') != rule.npos && !rule.starts_with("limits.") && fault.outcome != Outcome::fault);
}

TEST(CallRules, AreMetByRecordedPrograms) {
  Int programs = 0, calls = 0, in_full = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(golden_folder())) {
    if (entry.path().filename() != "program.pte") continue;
    const CallFaults found =
        faults_of_calls(valid(files::open_file(entry.path()), data_beside(entry.path().parent_path())));
    EXPECT_THAT(found.faults, IsEmpty()) << entry.path();
    EXPECT_EQ(found.more, 0) << entry.path();
    ++programs, in_full += found.in_full, calls += found.in_full + found.in_part + found.not_asked;
  }
  EXPECT_GT(programs, 200);
  EXPECT_GT(in_full, calls * 4 / 5);
}

// Changes one operand of an instruction: to another dtype of the same width, other sizes (reordered or smaller),
// another value, or another number.
class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  void change(pte::ExecutionPlanT& plan) {
    std::vector<pte::KernelCallT*> calls;
    for (const auto& chain : plan.chains)
      for (const auto& i : chain->instructions)
        if (auto* call = i->instr_args.AsKernelCall()) calls.push_back(call);
    if (calls.empty()) return;
    pte::KernelCallT& call = *calls[below(calls.size())];
    if (call.args.empty()) return;
    std::int32_t& argument = call.args[below(call.args.size())];
    pte::TensorT* tensor = plan.values[static_cast<std::size_t>(argument)]->val.AsTensor();
    auto* number = plan.values[static_cast<std::size_t>(argument)]->val.AsInt();
    if (number) return void(number->int_val = wrapping_add(number->int_val, static_cast<Int>(below(7)) - 3));
    switch (below(5)) {
      case 0:
      case 1:
        if (tensor) tensor->scalar_type = other_dtype(tensor->scalar_type);
        break;
      case 2:
      case 3:
        if (tensor && !tensor->sizes.empty()) change_sizes(tensor->sizes);
        break;
      default:
        argument = static_cast<std::int32_t>(below(plan.values.size()));
    }
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  std::int8_t other_dtype(std::int8_t dtype) {
    const Int bytes = info(*dtype_numbered(dtype)).bytes;
    constexpr DType all[] = {boolean, uint8, int8, int16, float16, bfloat16, int32, float32, int64, float64};
    for (;;)
      if (const DType d = all[below(std::size(all))]; info(d).bytes == bytes) return static_cast<std::int8_t>(d);
  }
  void change_sizes(std::vector<std::int32_t>& sizes) {
    std::int32_t &a = sizes[below(sizes.size())], &b = sizes[below(sizes.size())];
    if (a != b)
      std::swap(a, b);
    else if (a > 0)
      --a;
  }

  std::mt19937 random_;
};

bool is_straight(const pte::ExecutionPlanT& plan) {
  return plan.chains.size() == 1 && std::ranges::none_of(plan.chains[0]->instructions,
                                                         [](const auto& i) { return i->instr_args.AsJumpFalseCall(); });
}

// The first fault by the rules and in the execution is the same, unless the execution ends earlier for a reason in its
// data, memory or state.
void expect_same(const CallFaults& found, const Refusal& ran, const std::string& program) {
  const Fault* said = found.faults.empty() ? nullptr : &found.faults.front();
  const std::string story =
      concat(program, ": the rules say ", said ? said->rule + ", " + said->place : "nothing", ", the execution ",
             ran ? ran->rule + ", " + ran->place + ": " + ran->message : "nothing");
  if (said) {
    ASSERT_TRUE(ran) << story;
    ASSERT_LE(instruction_of(*ran), instruction_of(*said)) << story;
    if (instruction_of(*ran) == instruction_of(*said)) {
      EXPECT_EQ(ran->rule, said->rule) << story;
      EXPECT_EQ(ran->outcome, said->outcome) << story;
      return;
    }
  }
  const bool all_asked = found.in_part + found.not_asked == 0;
  EXPECT_FALSE(all_asked && ran && is_call_rule(*ran)) << story;
}

TEST(CallRules, AgreeWithTheExecutionOfChangedPrograms) {
  const Part part;
  std::size_t position = 0;  // of the program
  Int refused = 0, all_asked = 0;
  for (const auto& folder : program_folders()) {
    ++position;
    const auto data = data_beside(folder);
    for (std::uint32_t seed = 0; seed < 24; ++seed) {
      if (!part.has(position + seed)) continue;
      Program changed = program_in(folder);
      changed.tables.execution_plan.resize(1);
      pte::ExecutionPlanT& plan = *changed.tables.execution_plan[0];
      if (!is_straight(plan)) break;
      Mutator(seed).change(plan);
      const auto run = executed(changed, data);
      if (!run) continue;
      const CallFaults found = faults_of_calls(valid(in_memory(encode(changed)), data));
      expect_same(found, *run, concat(folder.filename().string(), ", seed ", seed));
      refused += !found.faults.empty();
      all_asked += found.in_part + found.not_asked == 0;
    }
  }
  EXPECT_GT(refused, 800 / static_cast<Int>(part.parts()));
  EXPECT_GT(all_asked, 2000 / static_cast<Int>(part.parts()));
}

}  // namespace call_rules_test
}  // namespace assay

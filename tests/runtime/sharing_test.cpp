#include <gtest/gtest.h>

#include "conformance/adapters/optimized/client.h"
#include "tests/support/methods.h"

// Methods of a program read memory that other methods wrote, on both runtimes.
namespace assay {
namespace sharing_test {

struct Sharing {
  const char* what;
  std::string first, second;  // the names of the state of two methods
  std::uint32_t memory;       // of the second state
  std::uint32_t offset;       // the offset where it is planned; the first state is at the beginning of memory 2
  bool initial;               // the state has an initial value
  bool arenas;                // the client requests shared arenas
  bool shared;                // the second method reads what the first one left
  bool temporary = false;     // the second method also plans temporary tensors into the same memory
};

const Sharing all[] = {
    {"one_name", "s", "s", 2, 0, true, false, true},
    {"one_name_of_zeros", "s", "s", 2, 0, false, false, true},
    {"one_name_at_two_places", "s", "s", 2, 8, true, false, false},
    {"one_name_in_two_memories", "s", "s", 3, 0, true, false, false},
    {"two_names", "s", "t", 2, 0, true, false, true},
    {"one_name_beside_others", "s", "s", 2, 0, true, false, false, true},
    {"a_name_and_none", "s", "", 2, 0, true, false, false},
    {"no_name", "", "", 2, 0, true, false, false},
    {"no_name_in_shared_arenas", "", "", 2, 0, true, true, true},
    {"no_name_at_two_places_of_shared_arenas", "", "", 2, 8, true, true, false},
    {"no_name_beside_others_in_shared_arenas", "", "", 2, 0, true, true, true, true},
    {"one_name_beside_others_in_shared_arenas", "s", "s", 2, 0, true, true, true, true},
};

// Each method adds to its state.
Bytes program_of(const Sharing& sharing) {
  ProgramBuilder program;
  const std::uint32_t initial = program.initial(bytes_of({5, 6})), step = program.constant(bytes_of({1, 10}));
  for (const bool second : {false, true}) {
    PlanBuilder plan = program.method(second ? "second" : "first");
    const auto state =
        second ? plan.planned(float32, {2}, sharing.memory, sharing.offset) : plan.planned(float32, {2}, 2);
    const auto added = plan.constant(float32, {2}, step);
    if (sharing.initial) plan.at(state).data_buffer_idx = initial;
    if (const auto& name = second ? sharing.second : sharing.first; !name.empty())
      plan.extra(state).fully_qualified_name = name;
    plan.plan().outputs = {state};
    plan.add_tensors(state, added, state);
    if (second && sharing.temporary) plan.add_tensors(added, added, plan.planned(float32, {2}, 2, 16));
  }
  return program.bytes();
}

class MethodsShare : public testing::TestWithParam<Sharing> {
 protected:
  // The state of the second method after one call of each, and that of the first after its second call.
  auto second() const { return GetParam().shared ? std::vector{begin(0) + 2, begin(1) + 20} : after_one_call(); }
  auto first() const {
    const Real calls = GetParam().shared ? 3 : 2;
    return std::vector{begin(0) + calls, begin(1) + 10 * calls};
  }
  std::vector<Real> after_one_call() const { return {begin(0) + 1, begin(1) + 10}; }

 private:
  static Real begin(Real i) { return GetParam().initial ? 5 + i : 0; }
};

TEST_P(MethodsShare, InTheReference) {
  RuntimeOptions options;
  options.share_arenas = GetParam().arenas;
  const auto program = LoadedProgram::load(in_memory(program_of(GetParam())), {}, options);
  ASSERT_TRUE(program) << program.faults.front().message;
  Method first = std::move(*program->method("first"));
  EXPECT_EQ(rule(first.execute()), "");
  EXPECT_EQ(values(first), after_one_call());
  Method second = std::move(*program->method("second"));
  EXPECT_EQ(rule(second.execute()), "");
  EXPECT_EQ(values(second), this->second());
  EXPECT_EQ(rule(first.execute()), "");
  EXPECT_EQ(values(first), this->first());
}

TEST_P(MethodsShare, InTheOptimizedRuntime) {
  for (const bool as_written : {false, true}) {
    const Bytes file = program_of(GetParam());
    adapters::OptimizedClient client(file, {}, {.as_written = as_written, .share_arenas = GetParam().arenas});
    const auto call = [&](const char* name) { return values_of(std::get<Tensor>(client.call(name, {}).front())); };
    EXPECT_EQ(call("first"), after_one_call());
    EXPECT_EQ(call("second"), second());
    EXPECT_EQ(call("first"), first());
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, MethodsShare, testing::ValuesIn(all),
                         [](const auto& tested) { return std::string(tested.param.what); });

}  // namespace sharing_test
}  // namespace assay

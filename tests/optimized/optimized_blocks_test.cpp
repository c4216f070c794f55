#include <gtest/gtest.h>

#include "conformance/adapters/optimized/client.h"
#include "conformance/files/same.h"
#include "conformance/hosts/host.h"
#include "tests/support/methods.h"

// Rewrites and the arena keep the results of programs with jumps, handles and loops. In each program, a rewrite or a
// place would be wrong if one condition of the data flow were missing.
namespace assay {
namespace optimized_blocks_test {

using Index = PlanBuilder::Index;

// A program whose values of 2 x 2 floats each have memory of their own.
struct Blocks {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  std::uint64_t end = 0;

  Index values(DType dtype = float32, const PlanBuilder::Sizes& sizes = {2, 2}) {
    return plan.planned(dtype, sizes, 1, std::exchange(end, end + 64));
  }
  Index input = values();

  Index add(Index a, Index b, Index out) { return plan.add_tensors(a, b, out), out; }
  Index add(Index a, Index b) { return add(a, b, values()); }
  Index relu(Index x) { return call("aten::relu.out", x, values()); }
  Index clone(Index x) { return call("aten::clone.out", x, values()); }
  Index call(std::string_view op, Index self, Index out) {
    return plan.call_named(op, {{"self", self}, {"out", out}}), out;
  }
  Index product(Index x) { return product(x, values()); }
  Index product(Index x, Index out) {
    const Index weight = plan.constant(float32, {2, 2}, program.constant(bytes_of({1, -2, 3, 1})));
    plan.call_named("aten::mm.out", {{"self", x}, {"mat2", weight}, {"out", out}});
    return out;
  }
  Index view(Index base) {
    const Index out = plan.tensor(float32, {2, 2});
    plan.call("executorch_prim::et_view.default", {base, plan.integers({2, 2}), out});
    return out;
  }
  // A value that is `a` if the input is not negative, else `b`.
  Index either(Index a, Index b) {
    const Index handle = plan.tensor(float32, {2, 2}), positive = values(boolean);
    plan.call_named("aten::ge.Scalar_out", {{"self", input}, {"other", plan.real(0)}, {"out", positive}});
    const Index jump = next();
    plan.jump_if_false(positive, jump + 3);
    plan.move(a, handle);
    plan.jump_if_false(plan.boolean(false), jump + 4);
    plan.move(b, handle);
    return handle;
  }
  void store(Index to, Index from) { plan.call_named("aten::copy_", {{"self", to}, {"src", from}}); }

  Index next() const { return static_cast<Index>(plan_size()); }
  std::size_t plan_size() const {
    const auto& chains = program_.execution_plan[0]->chains;
    return chains.empty() ? 0 : chains.back()->instructions.size();
  }
  // Runs the instructions that `body` makes three times; `body` gets the number of the iteration.
  template <class F>
  void three_times(F body) {
    const Index i = plan.integer(0), done = plan.boolean(false), one = plan.integer(1), three = plan.integer(3);
    const Index first = next();
    body(i);
    plan.call("executorch_prim::add.Scalar", {i, one, i});
    plan.call("executorch_prim::eq.Scalar", {i, three, done});
    plan.jump_if_false(done, first);
    plan.call("executorch_prim::sub.Scalar", {i, three, i});
  }

  // The reference and the optimized runtime agree in several executions. Returns the number of steps.
  std::size_t expect_agreement(std::vector<Index> outputs) {
    plan.plan().inputs = {input}, plan.plan().outputs = std::move(outputs);
    const Bytes file = program.bytes();
    hosts::Host host(hosts::valid_program(borrowed(file), {}));
    adapters::OptimizedClient client(file, {}, {});
    for (const auto& x :
         {std::vector<Real>{1, 2, 3, 4}, {-1, 2, -3, 4}, {0, 0, 0, 0}, {-5, -6, -7, -8}, {1, 2, 3, 4}}) {
      const std::vector<Value> inputs{tensor(float32, {2, 2}, x)};
      const std::vector<Value> want = host.call("forward", inputs), got = client.call("forward", inputs);
      EXPECT_TRUE(std::ranges::equal(got, want, files::same)) << "for inputs that begin with " << x[0];
    }
    return assay_step_count(client.method("forward").method);
  }

 private:
  pte::ProgramT& program_ = program.program().tables;
};

// The loop changes what a product before the loop has read, so that the product must not move into the loop.
TEST(OptimizedBlocks, DoNotMoveCallsIntoOtherBlocks) {
  Blocks b;
  const Index read = b.add(b.input, b.input), sum = b.add(read, b.input), y = b.product(read);
  b.three_times([&](Index) {
    b.add(sum, b.relu(y), sum);
    b.add(sum, b.input, read);
  });
  b.expect_agreement({sum});
}

TEST(OptimizedBlocks, FuseCallsOfOneBlock) {
  Blocks b;
  const Index sum = b.add(b.input, b.input);
  b.three_times([&](Index) { b.add(sum, b.relu(b.product(sum)), sum); });
  EXPECT_EQ(b.expect_agreement({sum}), b.plan_size() - 1);
}

// Each branch moves its result to a handle that the plan also places. The handle makes no difference to the values that
// are in the memory of the result before.
TEST(OptimizedBlocks, FuseCallsOfBranches) {
  Blocks b;
  const Index positive = b.values(boolean), handle = b.values();
  const Index place = b.values(), other = b.values();
  const auto at = [&](Index like) {
    const Index t = b.values();
    b.plan.at(t).allocation_info = std::make_unique<pte::AllocationDetailsT>(*b.plan.at(like).allocation_info);
    return t;
  };
  const auto branch = [&](Index x) {
    const Index sum = b.add(x, b.input, at(place)), product = b.product(sum, at(other));
    return b.add(b.call("aten::relu.out", product, at(place)), b.input, at(other));
  };
  b.plan.call_named("aten::ge.Scalar_out", {{"self", b.input}, {"other", b.plan.real(0)}, {"out", positive}});
  const Index jump = b.next();
  b.plan.jump_if_false(positive, jump + 7);
  b.plan.move(branch(b.input), handle);
  b.plan.jump_if_false(b.plan.boolean(false), jump + 13);
  b.plan.move(branch(b.relu(b.input)), handle);
  EXPECT_EQ(b.expect_agreement({handle}), b.plan_size() - 2);
}

// A copy must stay if its source is written through a handle.
TEST(OptimizedBlocks, KeepCopiesOfWhatHandlesWrite) {
  Blocks b;
  const Index written = b.add(b.input, b.input), copy = b.clone(written);
  b.store(b.view(written), b.input);
  b.expect_agreement({b.add(copy, written)});
}

TEST(OptimizedBlocks, KeepCopiesOfWhatHandlesMayWrite) {
  Blocks b;
  const Index one = b.add(b.input, b.input), other = b.add(one, b.input), handle = b.either(one, other);
  const Index first = b.clone(one), second = b.clone(other);
  b.store(handle, b.input);
  b.expect_agreement({b.add(first, one), b.add(second, other)});
}

// The client supplies the memory of an output that has no planned memory. A copy of the output has memory of the
// method.
TEST(OptimizedBlocks, KeepCopiesOfOutputsThatTheClientSupplies) {
  Blocks b;
  const Index output = b.add(b.input, b.input, b.plan.tensor(float32, {2, 2})), copy = b.clone(output);
  b.plan.plan().inputs = {b.input}, b.plan.plan().outputs = {output, b.add(copy, b.input)};
  const Bytes file = b.program.bytes();
  adapters::OptimizedClient client(file, {}, {});
  const auto& method = client.method("forward");
  float memory[4] = {};
  assay_fault fault;
  ASSERT_EQ(assay_set_output(method.method, 0, {memory, sizeof memory}, &fault), ASSAY_OK) << fault.message;
  const std::vector<Value> got = client.call("forward", std::vector<Value>{tensor(float32, {2, 2}, {1, 2, 3, 4})});
  EXPECT_EQ(values_of(std::get<Tensor>(got[1])), (std::vector<Real>{3, 6, 9, 12}));
  EXPECT_EQ(memory[3], 8);
}

// A call that changes an argument may return another value than this argument. The value becomes a handle of it.
TEST(OptimizedBlocks, ReadWhatReturnedHandlesRead) {
  Blocks b;
  const Index sum = b.add(b.input, b.input), handle = b.plan.tensor(float32, {2, 2});
  b.plan.call("aten::copy_", {sum, b.input, b.plan.boolean(false), handle});
  const Index read = b.relu(handle);
  b.store(sum, b.clone(handle));
  b.expect_agreement({read, b.add(handle, b.input)});
}

// What a handle may read is not dropped, and lives until the handle is read.
TEST(OptimizedBlocks, KeepWhatHandlesRead) {
  Blocks b;
  const Index one = b.relu(b.product(b.input)), other = b.clone(one), handle = b.either(one, other);
  const Index later = b.relu(b.add(b.add(b.input, b.input), b.input));
  b.expect_agreement({handle, later});
}

// A value of before a loop lives until the loop ends.
TEST(OptimizedBlocks, KeepWhatEachIterationReads) {
  Blocks b;
  const Index before = b.add(b.input, b.input), sum = b.add(b.input, before);
  b.three_times([&](Index) {
    b.add(sum, b.relu(before), sum);
    b.add(sum, b.relu(b.add(sum, sum)), sum);
  });
  b.expect_agreement({sum});
}

// The exporter removes static views: two values have the same bytes, and only one of them is written.
TEST(OptimizedBlocks, KeepBytesThatAnotherValueReads) {
  Blocks b;
  const Index written = b.add(b.input, b.input), view = b.plan.planned(float32, {2, 2}, 1, b.end - 64);
  const Index sum = b.relu(b.add(b.add(b.input, written), b.input));
  b.three_times([&](Index) { b.add(sum, b.relu(view), sum); });
  b.expect_agreement({sum});
}

// A tensor to which each iteration adds a row keeps the rows from one iteration to the next.
TEST(OptimizedBlocks, KeepRowsOfEarlierIterations) {
  Blocks b;
  const auto bounded = [&] {
    const Index t = b.values(float32, {3, 2, 2});
    b.plan.at(t).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND;
    return t;
  };
  const Index rows = bounded(), out = bounded(), sum = b.add(b.input, b.input);
  b.three_times([&](Index i) {
    b.add(sum, b.relu(b.add(sum, b.input)), sum);
    b.plan.call("executorch_prim::et_copy_index.tensor", {rows, sum, i});
    b.call("aten::relu.out", rows, out);
    b.add(sum, b.relu(b.add(sum, b.add(b.input, b.input))), sum);
  });
  b.expect_agreement({out});
}

// A jump reads its condition as it is in memory, so that a copy that it reads must stay.
TEST(OptimizedBlocks, KeepCopiesThatJumpsRead) {
  Blocks b;
  const auto transposed = [&](Index x) {
    const Index out = b.values(boolean);
    b.plan.call_named("aten::permute_copy.out", {{"self", x}, {"dims", b.plan.integers({1, 0})}, {"out", out}});
    return out;
  };
  const Index positive = b.values(boolean);
  b.plan.call_named("aten::gt.Scalar_out", {{"self", b.input}, {"other", b.plan.real(0)}, {"out", positive}});
  const Index copy = transposed(positive), again = transposed(copy), sum = b.relu(b.add(b.input, b.input));
  b.plan.jump_if_false(copy, b.next() + 2);
  b.add(sum, b.input, sum);
  b.expect_agreement({sum, again});
}

}  // namespace optimized_blocks_test
}  // namespace assay

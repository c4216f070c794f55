#include "reference/budget.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <thread>

#include "reference/fault.h"
#include "reference/refused_memory.h"

namespace assay {
namespace budget_test {

// "" if f succeeds, otherwise the rule and the message of its refusal.
std::string refusal(const std::function<void()>& f) {
  try {
    f();
    return {};
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.outcome, Outcome::exhausted);
    return fault.rule + ": " + fault.message;
  }
}

Int taken(const Budget& budget) { return Budget::Limits().bytes - budget.left().bytes; }

TEST(Budget, AllowsTheWholeLimit) {
  const Budget budget({.bytes = 10, .work = 20, .output = 30});
  EXPECT_EQ(refusal([&] { budget.take(10, "a tensor"); }), "");
  EXPECT_EQ(refusal([&] { budget.work(20, "a loop"); }), "");
  EXPECT_EQ(refusal([&] { budget.print(30, "a trace"); }), "");
  EXPECT_EQ(budget.left().bytes, 0);
  EXPECT_EQ(budget.left().work, 0);
  EXPECT_EQ(budget.left().output, 0);
}

TEST(Budget, AChargeBeyondTheLimitIsRefusedAndNotCounted) {
  const Budget budget({.bytes = 10, .work = 20, .output = 30});
  budget.take(4, "a tensor"), budget.work(4, "a loop"), budget.print(4, "a trace");
  EXPECT_EQ(refusal([&] { budget.take(7, "aten::abs.out"); }),
            "limits.memory: aten::abs.out needs 7 bytes of memory, but 6 are left of the limit of 10, which "
            "--max-bytes raises");
  EXPECT_EQ(refusal([&] { budget.work(17, "aten::abs.out"); }),
            "limits.work: aten::abs.out needs 17 units of work, but 16 are left of the limit of 20, which "
            "--max-work raises");
  EXPECT_EQ(refusal([&] { budget.print(27, "the trace"); }),
            "limits.output: the trace needs 27 bytes of output, but 26 are left of the limit of 30, which "
            "--max-output raises");
  EXPECT_EQ(budget.left().bytes, 6);
  EXPECT_EQ(budget.left().work, 16);
  EXPECT_EQ(budget.left().output, 26);
}

TEST(Budget, RefusedMemoryRefusesOneCharge) {
  const Budget budget;
  std::optional<RefusedMemory> scarcity(2);
  EXPECT_EQ(refusal([&] { budget.take(1, "a tensor"); }), "");
  EXPECT_EQ(refusal([&] { budget.take(1, "a tensor"); }),
            "limits.memory: a tensor is refused memory, as a test requested");
  EXPECT_EQ(refusal([&] { budget.take(1, "a tensor"); }), "");
  EXPECT_EQ(taken(budget), 2);
  scarcity.emplace(1), scarcity.reset();
  EXPECT_EQ(refusal([&] { budget.take(1, "a tensor"); }), "");
}

TEST(Budget, FreedMemoryIsReturnedAndThePeakIsKept) {
  const Budget budget;
  budget.take(100, "a tensor");
  budget.give_back(60);
  budget.take(30, "a tensor");
  EXPECT_EQ(taken(budget), 70);
  EXPECT_EQ(budget.used().bytes, 100);
}

TEST(Budget, CopiesShareTheirAmounts) {
  const Budget budget({.bytes = 10});
  const Budget copy = budget;
  copy.take(10, "a tensor");
  EXPECT_NE(refusal([&] { budget.take(1, "a tensor"); }), "");
}

TEST(Budget, ThreadsShareTheirAmountsExactly) {
  constexpr Int each = 20'000;
  const Budget budget({.bytes = each, .work = 3 * each});
  Int refused[2] = {};
  const auto spend = [&](Int& count) {
    for (Int k = 0; k < each; ++k) {
      budget.work(1, "a loop");
      count += !refusal([&] { budget.take(1, "a tensor"); }).empty();
    }
  };
  std::thread other(spend, std::ref(refused[1]));
  spend(refused[0]);
  other.join();
  EXPECT_EQ(refused[0] + refused[1], each);
  EXPECT_EQ(budget.left().bytes, 0);
  EXPECT_EQ(budget.used().bytes, each);
  EXPECT_EQ(budget.left().work, each);
}

TEST(Scope, ChargesTheAllocationsOfItsThread) {
  const Budget budget;
  const Budget::Scope scope(budget, "a test");
  const Buffer<Int> numbers(5);
  EXPECT_EQ(taken(budget), 40);
  std::thread([&] { EXPECT_EQ(Buffer<Int>(5).size(), 5u); }).join();
  EXPECT_EQ(budget.used().bytes, 40);
}

TEST(Scope, ScopesNestAndOutsideOfThemNothingIsCharged) {
  const Budget outer, inner;
  Budget::Scope::work(1);
  {
    const Budget::Scope around(outer, "outside");
    {
      const Budget::Scope within(inner, "inside");
      Budget::Scope::work(2);
    }
    Budget::Scope::work(4);
  }
  Budget::Scope::work(8);
  EXPECT_EQ(inner.used().work, 2);
  EXPECT_EQ(outer.used().work, 4);
}

TEST(Scope, IsNamedInTheFaultOfItsBudget) {
  const Budget budget({.bytes = 79, .work = 3});
  const Budget::Scope scope(budget, "aten::abs.out");
  EXPECT_EQ(refusal([] { Buffer<Int>(10); }),
            "limits.memory: aten::abs.out needs 80 bytes of memory, but 79 are left of the limit of 79, which "
            "--max-bytes raises");
  EXPECT_EQ(refusal([] { Budget::Scope::work(4); }),
            "limits.work: aten::abs.out needs 4 units of work, but 3 are left of the limit of 3, which --max-work "
            "raises");
}

// A buffer allocated within a scope of the budget. The scope is gone when the function returns.
Buffer<Int> charged_to(const Budget& budget, std::size_t n) {
  const Budget::Scope scope(budget, "a test");
  return Buffer<Int>(n);
}

TEST(Buffer, OutlivesScopeAndBudget) {
  std::optional<Budget> budget(std::in_place);
  const Budget copy = *budget;
  Buffer<Int> numbers = charged_to(*budget, 5);
  budget.reset();
  EXPECT_EQ(taken(copy), 40);
  numbers = Buffer<Int>();
  EXPECT_EQ(taken(copy), 0);
  charged_to(Budget(), 5).resize(1000);
}

TEST(Buffer, ChargesTheBudgetInWhichItWasMadeWhenItGrows) {
  const Budget budget, other;
  Buffer<Int> numbers = charged_to(budget, 5);
  const Budget::Scope scope(other, "a test");
  numbers.resize(100), numbers.shrink_to_fit();
  EXPECT_EQ(taken(budget), 800);
  EXPECT_EQ(taken(other), 0);
}

TEST(Buffer, ACopyIsChargedWhereItIsMade) {
  const Budget budget, other;
  const Buffer<Int> numbers = charged_to(budget, 5);
  const Budget::Scope scope(other, "a test");
  const Buffer<Int> copy = numbers;
  EXPECT_EQ(copy, Buffer<Int>(5));
  Buffer<Int> assigned;
  assigned = numbers;
  EXPECT_EQ(taken(budget), 40);
  EXPECT_EQ(taken(other), 80);
}

TEST(Buffer, MemoryThatMovesStaysWithItsBudget) {
  const Budget a, b;
  Buffer<Int> first = charged_to(a, 5), second = charged_to(b, 7);
  std::swap(first, second);
  EXPECT_EQ(taken(a), 40);
  EXPECT_EQ(taken(b), 56);
  second = Buffer<Int>();  // the memory of the first buffer
  EXPECT_EQ(taken(a), 0);
  second = std::move(first);
  EXPECT_EQ(taken(b), 56);
  const Buffer<Int> third = std::move(second);
  second.assign(3, 1);
  EXPECT_EQ(taken(b), 56 + 24);
}

TEST(Buffer, OutsideOfEveryScopeIsNotCharged) {
  const Budget budget({.bytes = 0});
  Buffer<Int> free(5);
  const Budget::Scope scope(budget, "a test");
  free.resize(100);
  EXPECT_EQ(free.size(), 100u);
  EXPECT_NE(refusal([&] { const Buffer<Int> copy = free; }), "");
}

TEST(Buffer, IsUnchangedAfterARefusedChange) {
  const Budget budget({.bytes = 100});
  const Budget::Scope scope(budget, "a test");
  Buffer<Int> numbers{1, 2, 3};
  EXPECT_NE(refusal([&] { numbers.resize(11); }), "");
  EXPECT_EQ(numbers, (Buffer<Int>{1, 2, 3}));
  EXPECT_EQ(budget.left().bytes, 76);
}

}  // namespace budget_test
}  // namespace assay

#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "reference/number.h"

namespace assay {

// Limits of memory, work and output, and the amount that is left of each. All copies of a budget share the same
// amounts. All functions are thread-safe.
class Budget {
 public:
  // The limits. Requires that no limit is negative.
  struct Limits {
    Int bytes = Int{1} << 30;  // bytes of memory in use at one time
    // Units of work. The reference's loops take about a nanosecond for one unit.
    Int work = Int{1} << 32;
    Int output = Int{16} << 20;  // bytes of printed text
  };
  Budget();  // the default limits, sized for a laptop
  explicit Budget(const Limits& limits);
  Budget(const Budget&) = default;  // a move is a copy
  Budget& operator=(const Budget&) = default;

  // take, work and print charge an amount. They must be called before the memory, work or output is used. If less than
  // the amount is left, they charge nothing and throw a Fault with the outcome `exhausted`. Its rule is limits.memory
  // for take, limits.work for work, and limits.output for print. `what` names the consumer in the message of the fault.
  // give_back ends a charge of `take`: the bytes are left again.
  void take(Int bytes, std::string_view what) const;
  void give_back(Int bytes) const noexcept;
  void work(Int units, std::string_view what) const;
  void print(Int bytes, std::string_view what) const;

  Limits left() const;
  Limits used() const;  // the amounts used so far; `bytes` is the peak

  class Scope;

 private:
  friend class Charge;
  struct State;
  std::shared_ptr<State> state_;
};

// Bytes that are charged to a budget until the object is destroyed, for memory that no Buffer holds.
class Reserved {
 public:
  explicit Reserved(const Budget& budget) : budget_(budget) {}
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  ~Reserved() { budget_.give_back(bytes_); }

  void add(std::size_t bytes, std::string_view what) {
    budget_.take(static_cast<Int>(bytes), what);
    bytes_ += static_cast<Int>(bytes);
  }

 private:
  Budget budget_;
  Int bytes_ = 0;
};

// During the lifetime of a scope, its budget is charged for the memory of each Buffer that this thread allocates, and
// for the work of each loop that this thread runs. If scopes nest, the budget of the innermost scope is charged.
// Outside of every scope nothing is charged. Requires that `budget` and `what` outlive the scope.
class Budget::Scope {
 public:
  Scope(const Budget& budget, std::string_view what);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Charges the budget of this thread's innermost scope.
  static void work(Int units);

 private:
  friend class Charge;
  const Budget& budget_;
  std::string_view what_;
  const Scope* outer_;
};

// A handle to the budget of the scope in which the handle was constructed. The handle keeps that budget alive.
// Allocators charge memory through such a handle.
class Charge {
 public:
  Charge();
  // A move is a copy, so that a moved-from container keeps its budget.
  Charge(const Charge&) = default;
  Charge& operator=(const Charge&) = default;
  // Charges the bytes and allocates them. Throws a Fault with the rule limits.memory if the budget has too few bytes
  // left, and std::bad_alloc if the allocation fails.
  void* allocate(std::size_t bytes) const;
  void deallocate(void* memory, std::size_t bytes) const noexcept;
  friend bool operator==(const Charge&, const Charge&) = default;

 private:
  std::shared_ptr<Budget::State> state_;  // null if constructed outside of every scope
};

// An allocator that charges a budget. A copy of a container is charged to the budget of the scope in which the copy is
// made. Memory that is moved stays charged to the budget that it was taken from, and is given back to that budget.
template <class T>
class Charged {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  Charged() = default;
  template <class U>
  Charged(const Charged<U>& other) : charge_(other.charge_) {}
  Charged select_on_container_copy_construction() const { return {}; }

  T* allocate(std::size_t n) { return static_cast<T*>(charge_.allocate(n * sizeof(T))); }
  void deallocate(T* memory, std::size_t n) noexcept { charge_.deallocate(memory, n * sizeof(T)); }
  template <class U>
  bool operator==(const Charged<U>& other) const {
    return charge_ == other.charge_;
  }

 private:
  template <class U>
  friend class Charged;
  Charge charge_;
};

template <class T>
using Buffer = std::vector<T, Charged<T>>;

}  // namespace assay

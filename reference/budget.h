#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "reference/number.h"

namespace assay {

// What may be used of memory, work and output, and what is left of it. Copies share it, threads may.
class Budget {
 public:
  struct Limits {  // none is negative
    Int bytes = Int{1} << 30;
    Int work = Int{1} << 32;     // about a nanosecond of the reference's loops each
    Int output = Int{16} << 20;  // bytes
  };
  Budget();  // the usual limits, which a laptop survives
  explicit Budget(const Limits& limits);
  Budget(const Budget&) = default;  // also where one is moved
  Budget& operator=(const Budget&) = default;

  // Each is asked before it is done; `what` needs it, for the sentence of a refusal. What is refused is not charged.
  // Faults: exhausted, limits.memory; limits.work; limits.output.
  void take(Int bytes, std::string_view what) const;
  void give_back(Int bytes) const noexcept;
  void work(Int units, std::string_view what) const;
  void print(Int bytes, std::string_view what) const;

  Limits left() const;
  Limits used() const;  // as yet; of memory, the most at one time

  class Scope;

 private:
  friend class Charge;
  struct State;
  std::shared_ptr<State> state_;
};

// While it lives, each Buffer that this thread makes, and each loop that it runs, is charged to the budget. Scopes
// nest; without one nothing is charged. `what` outlives the scope.
class Budget::Scope {
 public:
  Scope(const Budget& budget, std::string_view what);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  static void work(Int units);  // charged to the innermost scope of this thread

 private:
  friend class Charge;
  const Budget& budget_;
  std::string_view what_;
  const Scope* outer_;
};

// The budget of the scope in which it was made, kept alive; what an allocator charges.
class Charge {
 public:
  Charge();
  Charge(const Charge&) = default;  // also where one is moved: what is left of a container keeps its budget
  Charge& operator=(const Charge&) = default;
  void* allocate(std::size_t bytes) const;  // faults: limits.memory
  void deallocate(void* memory, std::size_t bytes) const noexcept;
  friend bool operator==(const Charge&, const Charge&) = default;

 private:
  std::shared_ptr<Budget::State> state_;  // null: made outside of any scope
};

// An allocator. A copy of a container is charged to the scope in which it is made; memory that moves stays charged to
// the budget from which it was taken, and is given back to that.
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

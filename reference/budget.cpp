#include "reference/budget.h"

#include <atomic>
#include <new>
#include <utility>

#include "reference/fault.h"
#include "reference/refused_memory.h"

namespace assay {
namespace {

thread_local constinit const Budget::Scope* innermost = nullptr;
thread_local constinit Int refused = 0;  // the number of the charge to refuse, counted from now; 0 refuses none

}  // namespace

struct Budget::State {
  // One limit: the amount left, and the least amount that was ever left.
  class Account {
   public:
    Account(Int limit, std::string_view unit, std::string_view rule, std::string_view option)
        : limit_(limit), left_(limit), least_(limit), unit_(unit), rule_(rule), option_(option) {}

    void take(Int n, std::string_view what) {
      Int now = left_.load(std::memory_order_relaxed);
      do
        if (n > now)
          throw Fault(Outcome::exhausted, std::string(rule_),
                      text(what, " needs ", n, ' ', unit_, ", but ", now, " are left of the limit of ", limit_,
                           ", which ", option_, " raises"));
      while (!left_.compare_exchange_weak(now, now - n, std::memory_order_relaxed));
      Int least = least_.load(std::memory_order_relaxed);
      while (now - n < least && !least_.compare_exchange_weak(least, now - n, std::memory_order_relaxed)) {
      }
    }
    void give_back(Int n) { left_.fetch_add(n, std::memory_order_relaxed); }
    Int left() const { return left_.load(std::memory_order_relaxed); }
    Int used() const { return limit_ - least_.load(std::memory_order_relaxed); }

   private:
    const Int limit_;
    std::atomic<Int> left_, least_;
    const std::string_view unit_, rule_, option_;
  };

  explicit State(const Limits& limits)
      : memory(limits.bytes, "bytes of memory", "limits.memory", "--max-bytes"),
        work(limits.work, "units of work", "limits.work", "--max-work"),
        output(limits.output, "bytes of output", "limits.output", "--max-output") {}

  void take_memory(Int bytes, std::string_view what) {
    if (refused > 0 && --refused == 0)
      throw Fault(Outcome::exhausted, "limits.memory", text(what, " is refused memory, as a test requested"));
    memory.take(bytes, what);
  }

  Account memory, work, output;
};

Budget::Budget() : Budget(Limits{}) {}
Budget::Budget(const Limits& limits) : state_(std::make_shared<State>(limits)) {}

void Budget::take(Int bytes, std::string_view what) const { state_->take_memory(bytes, what); }
void Budget::give_back(Int bytes) const noexcept { state_->memory.give_back(bytes); }
void Budget::work(Int units, std::string_view what) const { state_->work.take(units, what); }
void Budget::print(Int bytes, std::string_view what) const { state_->output.take(bytes, what); }

Budget::Limits Budget::left() const { return {state_->memory.left(), state_->work.left(), state_->output.left()}; }
Budget::Limits Budget::used() const { return {state_->memory.used(), state_->work.used(), state_->output.used()}; }

Budget::Scope::Scope(const Budget& budget, std::string_view what)
    : budget_(budget), what_(what), outer_(std::exchange(innermost, this)) {}
Budget::Scope::~Scope() { innermost = outer_; }

void Budget::Scope::work(Int units) {
  if (innermost) innermost->budget_.work(units, innermost->what_);
}

RefusedMemory::RefusedMemory(Int k) { refused = k; }
RefusedMemory::~RefusedMemory() { refused = 0; }

Charge::Charge() : state_(innermost ? innermost->budget_.state_ : nullptr) {}

void* Charge::allocate(std::size_t bytes) const {
  if (!state_) return ::operator new(bytes);
  state_->take_memory(static_cast<Int>(bytes), innermost ? innermost->what_ : "a tensor");
  void* const memory = ::operator new(bytes, std::nothrow);
  if (memory) return memory;
  state_->memory.give_back(static_cast<Int>(bytes));
  throw std::bad_alloc();
}

void Charge::deallocate(void* memory, std::size_t bytes) const noexcept {
  ::operator delete(memory);
  if (state_) state_->memory.give_back(static_cast<Int>(bytes));
}

}  // namespace assay

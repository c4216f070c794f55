#pragma once

#include <optional>

#include "optimized/draft/draft.h"
#include "optimized/draft/source.h"
#include "optimized/runtime/method.h"

namespace assay::optimized {

// Makes a method from a source: its memory, steps and delegates. A function that returns false has refused the method
// and set the fault.
class Builder {
 public:
  // `tables` is the first part of the prepared memory: what is taken from it is kept. Without memories the builder only
  // counts how large the memories must be, and `tables` is part of the workspace. Requires memories of these sizes.
  Builder(const Source& source, const Options& options, format::Workspace& workspace, format::Workspace& tables,
          const Memories* memories, const Sizes& sizes, Fault& fault);

  // Four steps make a method. The delegates are sized and begun in their order. `finish` tells the sizes; with
  // memories, it refuses if `sizes` are not those of a builder that counted: both builders must decide the same.
  bool make();
  bool size_delegate(std::uint32_t i, DelegateSource&& source);  // false without a fault: there is no backend
  Method* finish(Sizes& sizes);
  bool begin_delegate(std::uint32_t i, DelegateSource&& source);

 private:
  bool has_known_constants() const;
  bool has_room();
  const Backend* find_backend(std::string_view id) const;
  bool refuse_delegate(std::uint32_t i);
  bool refuse_room(const char* sentence) { return refuse(fault_, "V4", where_, sentence); }

  // build.cpp
  bool make_method();
  bool analyze();
  void rewrite();
  void mark_changes();
  void mark_types();

  // places.cpp
  void place_constant(Tensor& tensor, const Storage& storage);
  bool place_constants();
  bool refuse_missing(std::uint32_t v);
  bool place_tensors();
  void place_shared_memories(std::span<std::uint64_t> begins);
  void place_memories(std::span<std::uint64_t> begins);
  void place_tensor(std::uint32_t v, std::span<const std::uint64_t> begins);
  bool begin_state();
  bool begin_state(std::uint32_t v);

  // arena.cpp
  struct Groups;
  bool place_by_lifetime();
  bool is_placed_by_lifetime(std::uint32_t v) const;
  void use(const Groups& groups, std::uint32_t v, std::uint32_t first, std::uint32_t last) const;
  void use_all(const Groups& groups) const;

  // inputs.cpp
  void mark_inputs();
  void mark_outputs();
  bool is_overwritten(std::uint32_t v, std::uint64_t& lookups_left) const;
  bool overlap(std::uint32_t a, std::uint32_t b) const;
  bool is_alone(std::uint32_t v, bool overwritten) const;

  // steps.cpp
  bool make_steps();
  bool make_step(std::uint32_t i);
  bool make_call(std::uint32_t i);
  bool make_jump(std::uint32_t i);
  bool add_step(std::uint32_t i, bool (*run)(const Step&, Execution&), const void* state, const char* by,
                bool asks = false);
  bool add_step(std::uint32_t i, const Call& call, bool (*run)(const Step&, Execution&), const void* state,
                const char* by, bool asks);
  bool prepare(const Kernel& kernel, const Call& call, std::uint32_t i, const void*& state);
  const Kernel* find_kernel_of(const Instruction& i, const Call& call);
  Call with_out(const Call& call);
  bool make_folded();
  bool make_constants(const Kernel& kernel, const Call& call);
  bool make_constant(Tensor& tensor, bool is_packed);
  bool run_folded(std::uint32_t i, std::byte* to);
  void find_steps(std::span<const std::uint32_t> step_of);
  format::Place place_of(const Instruction& i) const { return where_.in("instruction", i.index); }

  const Options& options_;
  format::Workspace &workspace_, &tables_;
  const Memories* memories_;
  Fault& fault_;
  Source source_;
  const format::Place where_ = source_.place();  // must outlive all places whose `outer` it is
  format::Workspace copies_;
  Packed packed_;
  Digest decisions_;
  Method* made_ = nullptr;
  std::optional<Flow> flow_;  // empty if the data flow cannot be known
  std::uint32_t steps_ = 0;
  struct Planned {                  // a delegate
    const PlannedBackend* backend;  // null if the client runs it
    DelegateMemory memory;
  };
  std::span<Planned> planned_;
  // What the delegates need of prepared memory, and what all of the method needs of the arena and of scratch memory.
  Sizes delegated_{};
  std::uint64_t delegates_begin_ = 0;  // the offset of their prepared memory
  Tensor* lent_ = nullptr;             // a constant in scratch memory, which a kernel packs now
  std::uint64_t arena_ = 0, shared_ = 0, scratch_ = 0;
};

}  // namespace assay::optimized

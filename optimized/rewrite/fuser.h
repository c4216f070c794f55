#pragma once

#include "optimized/draft/draft.h"

namespace assay::optimized {

// Merges the calls that follow a call into it. The intermediate results are no longer stored; therefore no other call
// may read them. The merged call gets the position of the last call.
class Fuser {
 public:
  Fuser(Draft& draft, std::uint32_t at) : draft_(draft), at_(at), out_(draft.calls[at].call.arguments.back()) {
    if (call().fusion) fusion_ = *call().fusion;
  }

  const Call& call() const { return draft_.calls[at_].call; }
  Value& result() const { return *out_; }          // the result of the merged call
  const Fusion& fused() const { return fusion_; }  // what has been merged so far

  // Stores the calls that read a value in `found`, in order, and returns their number. Returns 0 if there are more than
  // `most`, if a call reads the value twice, or if not only calls read it. An instruction that makes a view of the
  // value reads it.
  std::size_t readers(const Value& value, std::uint32_t* found, std::size_t most) const;
  // The only call that reads the result, or null if it is not the only one.
  const Instruction* reader(std::uint32_t& at) const {
    return readers(*out_, &at, 1) == 1 ? &draft_.calls[at] : nullptr;
  }
  // The call of operator `op` that computes a value, if only one call reads the value; else null.
  const Instruction* maker(const Value& value, std::string_view op, std::uint32_t& at) const;

  // Merges the calls `done` into the call if a kernel accepts the merged call. The result becomes `out`. The last
  // element of `done` must be the last call.
  bool take(const Fusion& fusion, Value* out, std::span<const std::uint32_t> done) {
    return take(fusion, call().arguments, out, done);
  }

 protected:
  // The same, and replaces the arguments before the out by `arguments`.
  bool take(const Fusion& fusion, std::span<Value* const> arguments, Value* out, std::span<const std::uint32_t> done);
  std::uint32_t at() const { return at_; }
  bool leave(Reason reason) const { return draft_.leave_as_written(at_, reason); }
  bool is_op(const Instruction& p, std::string_view op) const { return draft_.is_op(p, op); }

  Draft& draft_;

 private:
  bool may_move_to(const Call& call, std::uint32_t to) const;

  std::uint32_t at_;
  Value* out_;
  Fusion fusion_;
};

}  // namespace assay::optimized

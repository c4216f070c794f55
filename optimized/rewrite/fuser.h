#pragma once

#include "optimized/draft/draft.h"

namespace assay::optimized {

// Merges calls that follow a call into it. The results in between are no longer stored, so that no other call may read
// them. The merged call takes the place of the last call.
class Fuser {
 public:
  Fuser(Draft& draft, std::uint32_t at) : draft_(draft), at_(at), out_(draft.calls[at].call.arguments.back()) {}

  const Call& call() const { return draft_.calls[at_].call; }
  Value& result() const { return *out_; }          // of the merged call
  const Fusion& fused() const { return fusion_; }  // what was merged so far

  // The calls that read a value, in order. 0: there are more than `most`, one reads it twice, or it is read elsewhere,
  // too.
  std::size_t readers(const Value& value, std::uint32_t* found, std::size_t most) const;
  // The only call that reads the result. Null: there are more.
  const Instruction* reader(std::uint32_t& at) const {
    return readers(*out_, &at, 1) == 1 ? &draft_.calls[at] : nullptr;
  }
  // The call of this operator that makes a value, if only one call reads the value. Null: there is none.
  const Instruction* maker(const Value& value, std::string_view op, std::uint32_t& at) const;

  // Merges the calls `done` into the call, if there is a kernel for the whole. Its result becomes `out`. The last
  // element of `done` is the last call.
  bool take(const Fusion& fusion, Value* out, std::span<const std::uint32_t> done) {
    return take(fusion, call().arguments, out, done);
  }

 protected:
  // The same, with other arguments before the out.
  bool take(const Fusion& fusion, std::span<Value* const> arguments, Value* out, std::span<const std::uint32_t> done);
  std::uint32_t at() const { return at_; }
  bool is_op(const Instruction& p, std::string_view op) const { return draft_.is_op(p, op); }

  Draft& draft_;

 private:
  bool may_move_to(const Call& call, std::uint32_t to) const;

  std::uint32_t at_;
  Value* out_;
  Fusion fusion_;
};

}  // namespace assay::optimized

#pragma once

#include "optimized/rewrite/draft.h"

namespace assay::optimized {

// Does what follows a call where its result is stored. What was between is not stored any more, so that nobody else may
// read it; the call moves to where the last of them was.
class Fuser {
 public:
  Fuser(Draft& draft, std::uint32_t at) : draft_(draft), at_(at), out_(draft.calls[at].call.arguments.back()) {}

  const Call& call() const { return draft_.calls[at_].call; }
  Value& result() const { return *out_; }          // of all that it does by now
  const Fusion& fused() const { return fusion_; }  // what it does by now besides

  // The calls that read a value, in order, if they are no more than `most`, read it once each, and nothing else does.
  std::size_t readers(const Value& value, std::uint32_t* found, std::size_t most) const;
  // The one call that reads what is computed; null: there are more.
  const Planned* reader(std::uint32_t& at) const { return readers(*out_, &at, 1) == 1 ? &draft_.calls[at] : nullptr; }
  // The call of this operator that makes a value which only one call reads; null: there is none.
  const Planned* maker(const Value& value, std::string_view op, std::uint32_t& at) const;

  // The call does this, too, if there is a kernel for all of it; its result is `out`, and those calls are done,
  // of which the last comes last.
  bool take(const Fusion& fusion, Value* out, std::span<const std::uint32_t> done) {
    return take(fusion, call().arguments, out, done);
  }

 protected:
  // Likewise, with other arguments before the out.
  bool take(const Fusion& fusion, std::span<Value* const> arguments, Value* out, std::span<const std::uint32_t> done);
  std::uint32_t at() const { return at_; }
  bool is_op(const Planned& p, std::string_view op) const { return draft_.is_op(p, op); }

  Draft& draft_;

 private:
  bool may_move_to(const Call& call, std::uint32_t to) const;

  std::uint32_t at_;
  Value* out_;
  Fusion fusion_;
};

}  // namespace assay::optimized

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/sandbox/guarded_memory.h"
#include "conformance/testee/library.h"
#include "conformance/verdict/record.h"

namespace assay {

// What a tensor of an out argument is before the call; its memory is exactly what these sizes take.
struct TensorPlan {
  DType dtype = DType::float32;
  Dims sizes;
  Dims dim_order;
};

// For each out argument its tensors: one of a Tensor, any number of a Tensor[], none of a number, which needs no plan.
using OutPlan = std::vector<std::vector<TensorPlan>>;

// The plan that gives every out the dtype, sizes and dim order of the tensor that stands in its place: of a call that
// the reference has answered, the expected results'.
OutPlan plan_outs(const Operator& op, std::span<const Value> arguments);

// Of each out argument, whether its values need not repeat; none: those of all must.
using FreeOuts = std::vector<bool>;
// Outs are counted through: an argument that is a list has several, and there is no other besides.
bool is_free(const FreeOuts& free, std::size_t out);

// What was seen of one call. Outs are counted through: a Tensor[] is as many outs as it has tensors.
struct Observation {
  Reply reply;
  std::vector<Tensor> outs;     // as the first run left them; empty unless the reply is ok
  Class conduct = Class::none;  // what the call did besides replying, the worst of it,
  std::string violation;        // in one sentence
  std::string circumstance;     // in which alone it went so, "with outs planned larger"; empty: in the plain one
  bool spoilt = false;          // memory is damaged: the process is good for nothing more
  double seconds = 0;           // of the first run
};

// Calls a library, in memory that it must not leave, for as long as it has not damaged any.
class Probe {
 public:
  explicit Probe(KernelLibrary& library) : library_(library) {}  // which outlives this

  // Calls the library twice. What it is given to write to, what it allocates and the stack that it uses hold one poison
  // in the first run and another in the second, drawn from `seed`; where the answers differ, a third run with the first
  // poison tells what depends on it from what does not repeat. Of a free out only dtype and sizes must agree, and of it
  // alone elements may be left unwritten. Arguments follow the schema; what stands in the places of out arguments is
  // not looked at. Throws what the library throws.
  Observation observe(const Operator& op, std::span<const Value> arguments, const OutPlan& outs, std::uint64_t seed = 1,
                      const FreeOuts& free = {});

  KernelLibrary& library() const { return library_; }
  bool is_spent() const;  // calls have taken so much memory that another process should go on
  void explain_faults();  // from now on: before a segmentation fault ends the process, stderr may tell why

  // From now on: whether observe() throws Lost where a call aborts, rather than to let it end the process. Where memory
  // is damaged, it ends.
  void recover_from_aborts(bool does) { recovers_from_aborts_ = does; }

  // From now on: whether a call that is answered is made again under harder circumstances, in which the answer must be
  // the same, or where memory is missing a refusal. The first in which it is not stands for the call.
  void be_thorough(bool is) { is_thorough_ = is; }

 private:
  Observation press(Observation plain, const Operator& op, std::span<const Value> arguments, const OutPlan& outs,
                    std::uint64_t seed, const FreeOuts& free);

  KernelLibrary& library_;
  GuardedRegions regions_;
  bool recovers_from_aborts_ = false, is_thorough_ = false;
};

// What explain_faults() says when memory of an earlier call was used, or what the library had freed.
inline constexpr std::string_view uses_memory_of_earlier_call = "memory that was given for an earlier call is used\n",
                                  uses_freed_memory = "memory that was freed is used\n";

}  // namespace assay

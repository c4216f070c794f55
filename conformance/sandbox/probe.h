#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/sandbox/fault_handler.h"
#include "conformance/sandbox/guarded_memory.h"
#include "conformance/sandbox/process_size.h"
#include "conformance/testee/library.h"
#include "conformance/verdict/record.h"

namespace assay::sandbox {

// The out tensor that a call is given. Its memory has exactly the bytes of these sizes, or `room` bytes if that is
// more.
struct TensorPlan {
  DType dtype = DType::float32;
  Dims sizes;
  Dims dim_order;
  std::size_t room = 0;
};

// The tensors of each out argument: one for a Tensor, any number for a Tensor[], none for a number.
using OutPlan = std::vector<std::vector<TensorPlan>>;

// The plan with the dtypes, sizes and dim orders of the out arguments in `arguments`. For a call that the reference has
// answered, these are the expected results.
OutPlan plan_outs(const Operator& op, std::span<const Value> arguments);

// For each out argument: whether its values may differ between runs. An empty list: no values may differ.
using FreeOuts = std::vector<bool>;
// `out` counts tensors: a Tensor[] argument counts once for each of its tensors, and is then the only out argument.
bool is_free(const FreeOuts& free, std::size_t out);

// Circumstances of a call's second run.
inline constexpr std::string_view larger_outs = "with outs that come larger",
                                  smaller_outs = "with outs that come smaller";

// The circumstance of the outs in the second run of a call with this seed; empty if they come with the sizes of the
// result.
std::string_view sizes_of_outs(std::uint64_t seed);

// What the probe saw of one call. A Tensor[] counts as one out for each of its tensors.
struct Observation {
  testee::Reply reply;
  std::vector<Tensor> outs;                       // after the first run; empty unless the reply is ok
  verdict::Class conduct = verdict::Class::none;  // the most serious side effect of the call,
  std::string violation;                          // one sentence about the violation
  // The only condition under which this was seen, as "with outs planned larger"; empty if there is none.
  std::string circumstance;
  bool spoilt = false;  // memory is damaged: the process must not run another call
  double seconds = 0;   // duration of the first run
};

// Calls a library in guarded memory, until a call has damaged memory.
class Probe {
 public:
  explicit Probe(testee::KernelLibrary& library) : library_(library) {}  // `library` must outlive the probe

  // Calls the library twice. The memory of outs, the memory that the library allocates and the stack hold one fill
  // pattern in the first run and another in the second, drawn from `seed`. In the first run, each tensor ends at a
  // guard page. In the second run, inputs are read-only, each tensor begins at a guard page or has the promised
  // alignment and no more, and outs come larger or smaller than the result if the library takes that; `seed` decides.
  // If the answers differ, further runs tell which of these conditions the answer depends on, if it repeats at all. If
  // both runs keep memory, more runs tell whether each of them does. Of a free out only dtype and sizes must agree, and
  // only its elements may be left unwritten. `arguments` follow the schema; the values of out arguments are ignored.
  // Throws what the library throws.
  Observation observe(const Operator& op, std::span<const Value> arguments, const OutPlan& outs, std::uint64_t seed = 1,
                      const FreeOuts& free = {});

  testee::KernelLibrary& library() const { return library_; }
  bool is_spent() const;  // calls have used so many addresses or blocks that a new process should continue

  // From now on, faults in the memory of calls are handled by a FaultHandler. One probe of a process does so at a time.
  void handle_faults();

  // Sets whether observe() throws Lost when a call aborts, instead of letting the process end. If memory is damaged,
  // the process ends in any case.
  void recover_from_aborts(bool does) { recovers_from_aborts_ = does; }

  // Sets whether an answered call is repeated under harder conditions. The answer must then be the same; if an
  // allocation fails, a refusal is right, too. The first condition with another answer becomes the observation.
  void be_thorough(bool is) { is_thorough_ = is; }

 private:
  testee::KernelLibrary& library_;
  GuardedRegions regions_;
  std::optional<FaultHandler> handler_;
  ProcessSize process_;
  bool recovers_from_aborts_ = false, is_thorough_ = false;
};

}  // namespace assay::sandbox

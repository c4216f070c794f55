#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "format/names.h"
#include "format/operator_roles.h"
#include "format/workspace.h"
#include "optimized/kernels/epilogue.h"
#include "optimized/kernels/instruction_set.h"
#include "optimized/kernels/threads.h"
#include "optimized/runtime/fault.h"
#include "optimized/runtime/packed.h"
#include "optimized/runtime/value.h"

// What executes an instruction. Everything that the file has decided, which is all but sizes that move and numbers that
// change, is looked at once, before the first execution.
namespace assay::optimized {

struct View;

// What makes attention of a product of queries and keys: its results are multiplied by the scale, the mask is added,
// rows go through a softmax and are multiplied by the values. Views say as what operands are read; null: as they are.
struct Attention {
  Value *values = nullptr, *mask = nullptr;  // the mask or null
  const View *values_view = nullptr, *mask_view = nullptr;
  float scale = 1;
  bool safe = false;  // rows of nothing but -infinity become zeros
};

// What a call does of other instructions. The result of a convolution or matrix product is, before it is stored,
// normalised by the constants of a batch norm, something added, an activation.
struct Fusion {
  std::span<Value* const> norm;  // the operands of _native_batch_norm_legit_no_training; or none
  Value* residual = nullptr;     // of as many elements in the same order
  kernels::Activation activation = kernels::Activation::none;
  float low = 0, high = 0;
  bool safe = false;    // of a softmax: rows of nothing but -infinity become zeros
  bool unread = false;  // of a pool: nobody reads its indices, which are not written
  const Attention* attention = nullptr;
  std::span<const View* const> views;  // by argument, as what it is read, an out as what it is written; null: as it is
};

// A call of an operator, its operands in the order of its schema, the outs last.
struct Call {
  const format::OperatorRoles* roles;
  std::span<Value* const> arguments;
  Value* returned = nullptr;                        // behind the arguments stands what is returned
  std::optional<kernels::InstructionSet> set = {};  // for which its kernel is; none: there is none
  bool relaxed = false;                             // arithmetic is enough
  const Fusion* fusion = nullptr;

  const Value& operator[](std::size_t i) const { return *arguments[i]; }
  Tensor& tensor(std::size_t i) const { return *arguments[i]->tensor; }
};

// What one execution has.
struct Run {
  std::uint32_t next = 0;  // step
  std::int64_t left = 0;   // steps until the limit
  std::span<std::byte> scratch;
  kernels::Threads threads;
  Fault* fault = nullptr;
};

struct Step {
  // False: not done, and nothing has changed. Unless the fault says why, the kernel cannot do a call of these sizes.
  bool (*run)(const Step& step, Run& run);
  const void* state;  // the kernel's own
  Call call;
  std::uint32_t instruction;  // through all chains
  const char* by;             // the kernel's name, for people
  bool asks = false;          // before it runs, whether its numbers are of the types that the operator's schema says
};

// Where a kernel keeps what it makes of a call before the first execution.
struct Stores {
  format::Workspace& tables;  // always has its memory
  Packed& packed;
  std::uint64_t scratch = 0;              // bytes that the step needs while it runs
  format::Workspace* prepared = nullptr;  // further memory that stays, at multiples of 64; first it is only counted
  const char* refused = nullptr;          // why the kernel cannot be made after all
  std::size_t threads = 1;                // by which it may run
};

struct Kernel {
  const char* name;
  // Whether it can do the call, as far as the file has decided it.
  bool (*accepts)(const Call& call);
  // The state of the step; null where it has none, or there is no room.
  const void* (*prepare)(const Call& call, Stores& stores);
  bool (*run)(const Step& step, Run& run);
  bool takes_views = false;  // is asked for calls with views, too
};

// What a program delegates, from when the method is made.
struct DelegateSource {
  const format::ProgramView& program;
  const pte::BackendDelegate& tables;
  std::span<const std::byte> payload;
  const format::NamedData& named;
  std::int64_t instructions;  // of one execution, with all that it delegates
};

// A backend by its id, with functions that its client gives. What `begin` returns is handed to `execute`, null is a
// failure, and to `end` when the client is done with the method. What a delegate does in instructions it takes off
// those that are left of the execution.
struct Backend {
  std::string_view id;
  void* context;
  void* (*begin)(void* context, const DelegateSource& source, Fault& fault);
  bool (*execute)(void* delegate, std::span<Value* const> arguments, std::int64_t& left, Fault& fault);
  void (*end)(void* delegate);
};

// Kernels of operators that the specification knows, sorted by operator; those of one in the order in which they are
// asked.
struct KernelRow {
  std::string_view op;
  const Kernel* kernel;
  std::string_view operands = {};  // of a selective build: what write_operands says of the calls it does; else none
};

}  // namespace assay::optimized

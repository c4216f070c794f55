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

// Kernels, and the steps that call them. A kernel looks at everything that the file decides once, before the first
// execution. Only sizes that move and numbers that change are looked at in each execution.
namespace assay::optimized {

struct View;

// Makes attention of a product of queries and keys: the scores are multiplied by the scale, the mask is added, each row
// goes through a softmax and is multiplied by the values. A view tells how an operand is read; null: as it is.
struct Attention {
  Value *values = nullptr, *mask = nullptr;  // the mask may be null
  const View *values_view = nullptr, *mask_view = nullptr;
  float scale = 1;
  bool safe = false;  // a row that is -infinity throughout becomes zeros
};

// Work of other instructions that a call does, too. Before the result of a convolution or matrix product is stored, it
// is normalised by the constants of a batch norm, a residual is added, and an activation is applied.
struct Fusion {
  std::span<Value* const> norm;  // the operands of _native_batch_norm_legit_no_training; empty: none
  Value* residual = nullptr;     // is added; it has as many elements as the result, in the same order
  kernels::Activation activation = kernels::Activation::none;
  float low = 0, high = 0;
  bool safe = false;    // softmax: a row that is -infinity throughout becomes zeros
  bool unread = false;  // pool: no call reads the indices, so that they are not written
  const Attention* attention = nullptr;
  std::span<const View* const> views;  // by argument: how it is read, or an out is written; null: as it is
};

// A call of an operator. The operands are in the order of the schema, with the outs last.
struct Call {
  const format::OperatorRoles* roles;
  std::span<Value* const> arguments;
  Value* returned = nullptr;  // what the operator returns, where the source lists it behind the arguments
  std::optional<kernels::InstructionSet> set = {};  // that its kernel is for; none: kernels cannot run
  bool relaxed = false;                             // relaxed arithmetic is enough
  const Fusion* fusion = nullptr;

  const Value& operator[](std::size_t i) const { return *arguments[i]; }
  Tensor& tensor(std::size_t i) const { return *arguments[i]->tensor; }
};

// The state of one execution.
struct Execution {
  std::uint32_t next = 0;       // the next step
  std::int64_t steps_left = 0;  // how many steps are left until the limit
  std::span<std::byte> scratch;
  kernels::Threads threads;
  Fault* fault = nullptr;
};

struct Step {
  // False: the step was not executed, and nothing has changed. Without a fault, the kernel cannot do a call of these
  // sizes.
  bool (*run)(const Step& step, Execution& execution);
  const void* state;  // of the kernel
  Call call;
  std::uint32_t instruction;  // through all chains
  std::uint32_t index;        // in its chain
  const char* by;             // the kernel's name, for messages
  bool asks = false;          // the types of its numbers have to be checked before each run
};

// Memory for what a kernel prepares of a call before the first execution.
struct Stores {
  format::Workspace& tables;  // always has memory, even while the rest is only counted
  Packed& packed;
  std::uint64_t scratch = 0;              // bytes that the step needs while it runs
  format::Workspace* prepared = nullptr;  // more prepared memory, at multiples of 64; it is counted first
  const char* refused = nullptr;          // why the kernel cannot be made; null: it can
  std::size_t threads = 1;                // how many threads may run it
};

struct Kernel {
  const char* name;
  // Whether the kernel can do the call, as far as the file decides it.
  bool (*accepts)(const Call& call);
  // The state of the step. Null: the step has none, or there is no room.
  const void* (*prepare)(const Call& call, Stores& stores);
  bool (*run)(const Step& step, Execution& execution);
  bool takes_views = false;  // whether the kernel accepts calls with views
};

// A kernel of an operator of the specification. Rows are sorted by operator; the first kernel that accepts a call does
// it.
struct KernelRow {
  std::string_view op;
  const Kernel* kernel;
  std::string_view operands =
      {};  // of a selective build: the operands, as write_operands writes them, that the row is for; else empty
};

}  // namespace assay::optimized

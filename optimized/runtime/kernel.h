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
#include "optimized/runtime/reason.h"
#include "optimized/runtime/value.h"

// Kernels, and the steps that call them. A kernel examines all facts that the file decides once, before the first
// execution. In an execution it examines only sizes and numbers that may change.
namespace assay::kernels {
struct HalfWeights;
}
namespace assay::optimized {

struct View;
struct MovingViews;

// The operands that turn a product of queries and keys into attention. The scores are multiplied by the scale, the mask
// is added, and the softmax of each row is multiplied by the values. A view states how an operand is read; if it is
// null, the operand is read as it is.
struct Attention {
  Value *values = nullptr, *mask = nullptr;  // the mask may be null
  const View *values_view = nullptr, *mask_view = nullptr;
  float scale = 1;
  bool safe = false;                    // a row that is -infinity throughout becomes zeros
  const MovingViews* moving = nullptr;  // how operands are read if their sizes move, else null
};

struct Call;

// Constants of a product of rows, which are quantized when the call runs, with a weight of codes: the scale of all
// outputs or of each output, or of each group of an output's codes, which then have 4 bits; and the bias of each
// output, or null. Of a convolution, whether a row is a pixel or an image.
struct RowsOfCall {
  const Value *scales = nullptr, *bias = nullptr;
  bool has_groups = false, are_pixels = false;
};

// The numbers for which the codes stand, of a call that reads and stores codes.
struct CodesOfCall {
  kernels::FakeQuantizer input, result;
  kernels::FakeQuantizer other = {};  // of a sum or a product of two tensors, the second operand
  // A product of two tensors is multiplied by the factor. A sum over height and width is multiplied by the factor, and
  // the offset is added.
  float factor = 1, offset = 0;
  // Of a convolution or a matrix product, the call that converts the codes of the weight to numbers, and whether these
  // codes are the transposed second factor of the call.
  const Call* weight = nullptr;
  bool has_transposed_weight = false;
  // A constant that has the factor of a sum, or one for each output channel, in place of the scales; the bias is then
  // an integer. Else null.
  const Value* factors = nullptr;
  // Of a sum in fixed point, its numbers, which take the place of `input`, `other` and `result`. Else null.
  const kernels::FixedPointSum* fixed_point = nullptr;
  // Of a call that replaces each code by another one, the results for the 256 codes as unsigned bytes. Else null.
  const std::uint8_t* table = nullptr;
  // Of a product or a convolution of rows that are quantized in each execution, its constants. `input` and `result`
  // have no meaning then. Else null.
  const RowsOfCall* rows = nullptr;
};

// Work of other instructions that a call also does. Before the result of a convolution or matrix product is stored, it
// is normalised by the constants of a batch norm, a residual is added, and an activation is applied.
struct Fusion {
  std::span<Value* const> norm;  // the operands of _native_batch_norm_legit_no_training, or empty
  // A tensor to add, or null. It must have as many elements as the result, in the same order.
  Value* residual = nullptr;
  // The sizes of the result of a matrix product without a residual, if it has other sizes than the product: numbers and
  // one -1, which is the size that is left. Else empty. With a residual, the result has the sizes of the residual.
  std::span<const std::int32_t> sizes = {};
  kernels::Activation activation = kernels::Activation::none;
  float low = 0, high = 0;
  kernels::FakeQuantizer fake_quantizer = {};
  bool safe = false;    // for softmax: a row whose elements are all -infinity becomes zeros
  bool unread = false;  // for a pool: the indices are not written, because no call reads them
  const Attention* attention = nullptr;
  const CodesOfCall* codes = nullptr;
  // For each argument, the view through which it is read or written, or null.
  std::span<const View* const> views;
};

// A call of an operator. The operands are in the order of the schema, with the outs last.
struct Call {
  const format::OperatorRoles* roles;
  std::span<Value* const> arguments;
  // The returned value, if the source lists it after the arguments; else null.
  Value* returned = nullptr;
  std::optional<kernels::InstructionSet> set = {};  // the instruction set of its kernel; empty if no kernel can run
  bool relaxed = false;                             // whether relaxed arithmetic is allowed
  const Fusion* fusion = nullptr;
  // The in-place form that the program calls, if a kernel of the operator whose out is self does the call. Its
  // arguments come before this out.
  const format::OperatorRoles* form = nullptr;

  // The operator that the program names.
  const format::OperatorRoles& named() const { return form ? *form : *roles; }
  const Value& operator[](std::size_t i) const { return *arguments[i]; }
  Tensor& tensor(std::size_t i) const { return *arguments[i]->tensor; }
  Tensor& out() const { return *arguments.back()->tensor; }  // requires an operator whose last argument is its out
};

// The state of one execution.
struct Execution {
  std::uint32_t next = 0;       // the next step
  std::int64_t steps_left = 0;  // the number of steps that the limit still allows
  std::span<std::byte> scratch;
  kernels::Threads threads;
  Fault* fault = nullptr;
};

struct Step {
  // Executes the step. Returns false if it did not; nothing has changed then. If it returns false without a fault, the
  // kernel does not support these sizes.
  bool (*run)(const Step& step, Execution& execution);
  const void* state;  // what the kernel prepared for this call
  Call call;
  std::uint32_t instruction;  // the index of the instruction, counted through all chains
  std::uint32_t index;        // the index of the instruction in its chain
  const char* by;             // the kernel's name, for messages
  bool asks = false;          // whether the types of its numbers must be checked before each run
  // Does the call if `run` does not support its sizes; null if no plain loop can. It needs no state.
  bool (*otherwise)(const Step& step, Execution& execution) = nullptr;
  Value* changed = nullptr;  // the argument that the call changes, if the returned value becomes its handle; else null
  Reason left = Reason::none;  // why rewrites did not merge or drop it, if they did not

  // Executes the step. Returns false if neither function did.
  bool execute(Execution& execution) const {
    return run(*this, execution) || (otherwise && !*execution.fault && otherwise(*this, execution));
  }
};

// Memory in which a kernel prepares a call before the first execution.
struct Stores {
  format::Workspace& tables;  // has memory even if the other members only count bytes
  Packed& packed;
  std::uint64_t scratch = 0;              // the bytes of scratch memory that the step needs while it runs
  format::Workspace* prepared = nullptr;  // more prepared memory, aligned to 64 bytes; may only count
  const char* refused = nullptr;          // the reason why the kernel cannot be prepared, or null
  std::size_t threads = 1;                // the number of threads that may run the kernel
  // How a kernel may pack its constants without loss: not null if their floats are copies of a half type.
  const kernels::HalfWeights* halves = nullptr;
  // At least `scratch` bytes for constants that the kernel packs, until it is prepared. Empty while bytes are counted.
  std::span<std::byte> lent = {};
};

struct Kernel {
  const char* name;
  // Whether the kernel supports the call, judged by the facts that the file decides.
  bool (*accepts)(const Call& call);
  // Prepares the call and returns the state of the step. Returns null if the step needs no state or there is too little
  // memory.
  const void* (*prepare)(const Call& call, Stores& stores);
  bool (*run)(const Step& step, Execution& execution);
  bool takes_views = false;  // whether the kernel accepts calls with views
  // The constant that `prepare` packs, so that `run` does not read it; null if the call has none.
  const Tensor* (*packs)(const Call& call) = nullptr;
  bool takes_codes = false;  // whether the kernel computes Fusion::codes; it then accepts no call without them
};

// A kernel and the operator that it computes. Rows are sorted by operator. The first kernel that accepts a call
// computes it.
struct KernelRow {
  std::string_view op;
  const Kernel* kernel;
  // In a selective build, the operands for which the row is built, as write_operands writes them. Else empty.
  std::string_view operands = {};
  bool is_loop = false;  // whether the kernel is a plain loop, which takes no fusion
};

}  // namespace assay::optimized

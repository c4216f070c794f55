#pragma once

#include "format/take.h"
#include "optimized/draft/source.h"

// What instructions do to values. format/operator_roles.h defines the uses.
namespace assay::optimized {

struct ValueEffect {
  format::Use use;
  Value& value;
};
using TakeValueEffect = format::Take<ValueEffect>;

// The last argument that a call changes in place, or null if it changes none.
Value* changed_argument(const Call& call);

// The value that becomes a handle of the argument that a call changes, or null if there is none.
Value* returned_handle(const Call& call);

// Passes the effect on each argument to `take`, in the order of the arguments. A list has one effect for each element.
// The last effect is `returned`, for the value that becomes the handle of an argument that the call changes.
void each_effect(const Source& source, const Instruction& instruction, TakeValueEffect take);

}  // namespace assay::optimized

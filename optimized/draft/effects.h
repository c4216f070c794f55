#pragma once

#include "format/take.h"
#include "optimized/draft/source.h"

// What instructions do to values. format/roles.h defines the uses.
namespace assay::optimized {

struct ValueEffect {
  format::Use use;
  Value& value;
};
using TakeValueEffect = format::Take<ValueEffect>;

// The last argument that a call changes in place. Null: it changes none.
Value* changed_argument(const Call& call);

// Takes the effect on each argument, in the order of the arguments; the elements of a list are taken one by one. Use
// `returned` follows, with the value that becomes the handle of an argument that the call changes.
void each_effect(const Source& source, const Instruction& instruction, TakeValueEffect take);

}  // namespace assay::optimized

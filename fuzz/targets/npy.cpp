#include "conformance/programs/npy.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/same.h"
#include "fuzz/target.h"

// A .npy file: what is read and written reads back as the same.
namespace assay::fuzz {

void attack_npy(Input input) {
  const Measured measured(heap_for(input.size()), most_seconds);
  try {
    const Tensor tensor = decode_npy(input);
    must(same(decode_npy(encode_npy(tensor)), tensor), "identity", describe(tensor),
         " does not read back as it was written");
  } catch (const Fault& refused) {
    check_text(refused.message, most_output);
  }
}

}  // namespace assay::fuzz

#include "conformance/files/npy.h"

#include "conformance/files/same.h"
#include "fuzz/printed.h"
#include "fuzz/target.h"

// The input is a .npy file. A tensor that is read and written reads back as the same tensor.
namespace assay::fuzz {

void attack_npy(Input input) {
  printed(input.size(), [&](Output& out) {
    const Tensor tensor = decode_npy(input);
    must(same(decode_npy(encode_npy(tensor)), tensor), "identity", describe(tensor),
         " changes when it is written and read");
    out.write(describe(tensor));
  });
}

}  // namespace assay::fuzz

#include "optimized/packed/packed.h"

#include "optimized/api/types.h"

// The C interface to packed constants. It is a file of its own, so that only clients that use it link it.

using namespace assay::optimized;

size_t assay_packed_size(const assay_method* method) { return interface_size(packed_file_size(method_of(method))); }

assay_outcome assay_packed_save(const assay_program* program, const assay_method* method, assay_memory file,
                                assay_fault* fault) {
  Fault found;
  save_packed(*program->program, method_of(method), bytes_of(file), found);
  return outcome_of(found, fault);
}

assay_outcome assay_packed_open(const assay_program* program, assay_bytes file, assay_packed* opened,
                                assay_fault* fault) {
  Fault found;
  const auto kept = open_packed(*program->program, bytes_of(file), found);
  if (!kept) return outcome_of(found, fault);
  *opened = {{kept->bytes.data(), kept->bytes.size()}, kept->layout};
  return ASSAY_OK;
}

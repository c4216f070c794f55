#include <stdio.h>
#include <string.h>

#include "optimized/api/assay.h"

/* A client of a selective build: client PROGRAM METHOD INPUT... runs a method once, in memory that it owns. Inputs are
 * the bytes of tensors, of the sizes that the program declares; the bytes of the outputs go to the standard output. What
 * is refused is said on the standard error, with the outcome as the exit code. */

enum { ALIGNMENT = 64 };

static _Alignas(64) char pool[64 << 20];
static size_t used;

static assay_memory take(size_t size) {
  const assay_memory memory = {pool + used, size};
  used += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return memory;
}

static assay_bytes contents(const char* name) {
  FILE* file = fopen(name, "rb");
  const assay_memory rest = {pool + used, sizeof pool - used};
  const size_t size = file ? fread(rest.data, 1, rest.size, file) : 0;
  if (file) fclose(file);
  take(size);
  const assay_bytes bytes = {rest.data, size};
  return bytes;
}

static size_t bytes_of(const assay_tensor* tensor) {
  static const size_t of_dtype[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1};
  size_t n = of_dtype[tensor->dtype];
  for (size_t d = 0; d < tensor->rank; ++d) n *= (size_t)tensor->sizes[d];
  return n;
}

static int refused(const assay_fault* fault, assay_outcome outcome) {
  fprintf(stderr, "%s: %s: %s\n", fault->rule, fault->place, fault->message);
  return (int)outcome;
}

static assay_outcome make(const assay_program* program, const char* name, const assay_options* options,
                          assay_method** method, assay_fault* fault) {
  size_t workspace;
  assay_method_sizes needed;
  assay_outcome outcome = assay_method_workspace_size(program, name, &workspace, fault);
  if (outcome) return outcome;
  const assay_memory work = take(workspace);
  if ((outcome = assay_method_size(program, name, options, work, &needed, fault))) return outcome;
  const assay_method_memories memories = {work, take(needed.prepared), take(needed.arena), take(needed.shared),
                                          take(needed.scratch)};
  return assay_method_make(program, name, options, &memories, method, fault);
}

#ifdef KEEPS_PACKED
/* The method again, of the constants that the first packed. */
static assay_outcome make_again(const assay_program* program, const char* name, assay_method** method,
                                assay_fault* fault) {
  const assay_memory file = take(assay_packed_size(*method));
  const assay_bytes kept = {file.data, file.size};
  assay_packed packed;
  assay_outcome outcome = assay_packed_save(program, *method, file, fault);
  if (outcome || (outcome = assay_packed_open(program, kept, &packed, fault))) return outcome;
  assay_options options = {0};
  options.packed = &packed;
  return make(program, name, &options, method, fault);
}
#endif

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  assay_fault fault;
  assay_outcome outcome;
  const assay_bytes file = contents(argv[1]);
  assay_program_sizes sizes;
  assay_program* program;
  if ((outcome = assay_program_size(file, NULL, 0, &sizes, &fault))) return refused(&fault, outcome);
  const assay_memory of_program = take(sizes.program), of_checks = take(sizes.workspace);
  if ((outcome = assay_program_open(file, NULL, 0, of_program, of_checks, &program, &fault)))
    return refused(&fault, outcome);

  assay_method* method;
  if ((outcome = make(program, argv[2], NULL, &method, &fault))) return refused(&fault, outcome);
#ifdef KEEPS_PACKED
  if ((outcome = make_again(program, argv[2], &method, &fault))) return refused(&fault, outcome);
#endif

  for (int i = 3; i < argc; ++i) {
    assay_value value;
    const size_t at = (size_t)(i - 3);
    if ((outcome = assay_input(method, at, &value))) return (int)outcome;
    const assay_bytes bytes = contents(argv[i]);
    if (value.kind != ASSAY_TENSOR || bytes.size != bytes_of(&value.as.tensor)) return 65;
    value.as.tensor.data = (void*)bytes.data;
    if ((outcome = assay_set_input(method, at, &value, &fault))) return refused(&fault, outcome);
  }
  if ((outcome = assay_execute(method, &fault))) return refused(&fault, outcome);
  for (size_t i = 0; i < assay_output_count(method); ++i) {
    assay_value value;
    if ((outcome = assay_output(method, i, &value))) return (int)outcome;
    if (value.kind == ASSAY_TENSOR) fwrite(value.as.tensor.data, 1, bytes_of(&value.as.tensor), stdout);
  }
  return 0;
}

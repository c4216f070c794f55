#include <optimized/api/assay.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs a method once, with zeros, in memory that this client owns. Usage: header program.pte */

static assay_memory give(size_t size) {
  const assay_memory memory = {aligned_alloc(64, (size + 64) / 64 * 64), size};
  return memory;
}

static assay_bytes read(const char* path) {
  FILE* file = fopen(path, "rb");
  assay_memory bytes = give(1 << 20);
  bytes.size = fread(bytes.data, 1, bytes.size, file);
  fclose(file);
  return (assay_bytes){bytes.data, bytes.size};
}

static void require(assay_outcome outcome, const assay_fault* fault) {
  if (outcome == ASSAY_OK) return;
  fprintf(stderr, "%s, %s: %s\n", fault->rule, fault->place, fault->message);
  exit(1);
}

int main(int count, char** arguments) {
  assay_fault fault;
  const assay_bytes file = read(arguments[count - 1]);

  assay_program_sizes sizes;
  require(assay_program_size(file, NULL, 0, &sizes, &fault), &fault);
  assay_program* program;
  require(assay_program_open(file, NULL, 0, give(sizes.program), give(sizes.workspace), &program, &fault), &fault);

  const assay_options options = {0};
  assay_method_memories memories;
  assay_method_sizes needed;
  require(assay_method_workspace_size(program, "forward", &needed.workspace, &fault), &fault);
  memories.workspace = give(needed.workspace);
  require(assay_method_size(program, "forward", &options, memories.workspace, &needed, &fault), &fault);
  memories.prepared = give(needed.prepared), memories.arena = give(needed.arena);
  memories.shared = give(needed.shared), memories.scratch = give(needed.scratch);
  assay_method* method;
  require(assay_method_make(program, "forward", &options, &memories, &method, &fault), &fault);

  assay_value input, output;
  require(assay_input(method, 0, &input), &fault);
  size_t elements = 1;
  for (size_t d = 0; d < input.as.tensor.rank; ++d) elements *= (size_t)input.as.tensor.sizes[d];
  input.as.tensor.data = calloc(elements, sizeof(float));
  require(assay_set_input(method, 0, &input, &fault), &fault);
  require(assay_execute(method, &fault), &fault);
  require(assay_output(method, 0, &output), &fault);
  printf("%g\n", ((const float*)output.as.tensor.data)[0]);
  assay_method_end(method);
  return output.kind == ASSAY_TENSOR ? 0 : 1;
}

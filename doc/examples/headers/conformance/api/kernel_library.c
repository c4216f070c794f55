#include <kernel_library.h>
#include <string.h>

/* A library without kernels. doc/examples/kernel_library has a library with kernels. */

static int has(void* context, const char* op) { return (void)context, (void)op, 0; }

static assay_kernel_reply call(void* context, const char* op, const assay_kernel_host* host, assay_kernel_value* values,
                               size_t count) {
  const assay_kernel_reply reply = {ASSAY_KERNEL_UNSUPPORTED, "there are no kernels yet"};
  return (void)context, (void)op, (void)host, (void)values, (void)count, reply;
}

const assay_kernel_library* assay_kernel_library_v1(void) {
  static const assay_kernel_library library = {
      .version = ASSAY_KERNEL_LIBRARY_VERSION, .name = "none", .has = has, .call = call};
  return &library;
}

int main(void) {
  const assay_kernel_library* library = assay_kernel_library_v1();
  return library->call(library->context, "aten::relu.out", NULL, NULL, 0).outcome == ASSAY_KERNEL_UNSUPPORTED ? 0 : 1;
}

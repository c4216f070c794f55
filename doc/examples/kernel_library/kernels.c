/* Three kernels in C for contiguous float32 tensors:
 *
 *   cc -std=c11 -O2 -shared -fPIC -I conformance/api kernels.c -o libkernels.so
 */
#include "kernel_library.h"

#include <string.h>

enum { float32 = 6 }; /* its number in spec/dtypes.yaml */

static const assay_kernel_reply ok = {ASSAY_KERNEL_OK, NULL};

static assay_kernel_reply refuse(int32_t outcome, const char* why) {
  const assay_kernel_reply reply = {outcome, why};
  return reply;
}

static int is_plain(const assay_kernel_tensor* t) {
  for (uint32_t d = 0; d < t->rank; ++d)
    if (t->dim_order[d] != d) return 0;
  return t->dtype == float32;
}

static int same_sizes(const assay_kernel_tensor* a, const assay_kernel_tensor* b) {
  return a->rank == b->rank && memcmp(a->sizes, b->sizes, a->rank * sizeof *a->sizes) == 0;
}

static int64_t count(const assay_kernel_tensor* t) {
  int64_t elements = 1;
  for (uint32_t d = 0; d < t->rank; ++d) elements *= t->sizes[d];
  return elements;
}

/* add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out): self + alpha * other, for alpha 1 */
static assay_kernel_reply add(const assay_kernel_host* host, assay_kernel_value* values) {
  const assay_kernel_tensor *self = &values[0].as.tensor, *other = &values[1].as.tensor;
  const assay_kernel_value* alpha = &values[2];
  assay_kernel_tensor* out = &values[3].as.tensor;
  if (!is_plain(self) || !is_plain(other) || !is_plain(out))
    return refuse(ASSAY_KERNEL_UNSUPPORTED, "tensors must be contiguous and float32");
  if (alpha->kind != ASSAY_KERNEL_INT || alpha->as.integer != 1)
    return refuse(ASSAY_KERNEL_UNSUPPORTED, "alpha must be 1");
  if (!same_sizes(self, other)) return refuse(ASSAY_KERNEL_UNSUPPORTED, "self and other must have the same sizes");
  if (!host->resize(host->context, out, self->rank, self->sizes))
    return refuse(ASSAY_KERNEL_INVALID, "the sum does not fit in out");
  const float *a = self->data, *b = other->data;
  float* sum = out->data;
  for (int64_t i = 0, n = count(self); i < n; ++i) sum[i] = a[i] + b[i];
  return ok;
}

/* relu.out(Tensor self, *, Tensor(a!) out): the larger of self and 0; NaN stays NaN */
static assay_kernel_reply relu(const assay_kernel_host* host, assay_kernel_value* values) {
  const assay_kernel_tensor* self = &values[0].as.tensor;
  assay_kernel_tensor* out = &values[1].as.tensor;
  if (!is_plain(self) || !is_plain(out))
    return refuse(ASSAY_KERNEL_UNSUPPORTED, "tensors must be contiguous and float32");
  if (!host->resize(host->context, out, self->rank, self->sizes))
    return refuse(ASSAY_KERNEL_INVALID, "the result does not fit in out");
  const float* x = self->data;
  float* y = out->data;
  for (int64_t i = 0, n = count(self); i < n; ++i)
#ifdef BUG
    y[i] = x[i] < 0 ? x[i] / 128 : x[i];
#else
    y[i] = x[i] < 0 ? 0 : x[i];
#endif
  return ok;
}

/* mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out): (n, k) times (k, m) */
static assay_kernel_reply mm(const assay_kernel_host* host, assay_kernel_value* values) {
  const assay_kernel_tensor *self = &values[0].as.tensor, *mat2 = &values[1].as.tensor;
  assay_kernel_tensor* out = &values[2].as.tensor;
  if (!is_plain(self) || !is_plain(mat2) || !is_plain(out))
    return refuse(ASSAY_KERNEL_UNSUPPORTED, "tensors must be contiguous and float32");
  if (self->rank != 2 || mat2->rank != 2 || self->sizes[1] != mat2->sizes[0])
    return refuse(ASSAY_KERNEL_INVALID, "self and mat2 must be matrices of sizes (n, k) and (k, m)");
  const int64_t n = self->sizes[0], k = self->sizes[1], m = mat2->sizes[1], sizes[] = {n, m};
  if (!host->resize(host->context, out, 2, sizes))
    return refuse(ASSAY_KERNEL_INVALID, "the product does not fit in out");
  const float *a = self->data, *b = mat2->data;
  float* product = out->data;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += (double)a[i * k + l] * b[l * m + j];
      product[i * m + j] = (float)sum;
    }
  return ok;
}

static const struct {
  const char* name;
  assay_kernel_reply (*run)(const assay_kernel_host* host, assay_kernel_value* values);
} kernels[] = {{"aten::add.out", add}, {"aten::mm.out", mm}, {"aten::relu.out", relu}};

enum { kernel_count = sizeof kernels / sizeof *kernels };

static const char* kernel(void* context, size_t i) {
  (void)context;
  return i < kernel_count ? kernels[i].name : NULL;
}

static size_t find(const char* op) {
  size_t i = 0;
  while (i < kernel_count && strcmp(kernels[i].name, op) != 0) ++i;
  return i;
}

static int has(void* context, const char* op) {
  (void)context;
  return find(op) < kernel_count;
}

static assay_kernel_reply call(void* context, const char* op, const assay_kernel_host* host, assay_kernel_value* values,
                               size_t count) {
  (void)context, (void)count;
  return kernels[find(op)].run(host, values);
}

const assay_kernel_library* assay_kernel_library_v1(void) {
  static const assay_kernel_fact facts[] = {{"kernels.c", "1.0"}};
  static const assay_kernel_library library = {.version = ASSAY_KERNEL_LIBRARY_VERSION,
                                               .name = "example in C",
                                               .facts = facts,
                                               .fact_count = sizeof facts / sizeof *facts,
                                               .kernel = kernel,
                                               .has = has,
                                               .call = call};
  return &library;
}
